//go:build integration

package integration

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hit is a document that was found.
type hit struct {
	Index  string          `json:"_index"`
	ID     string          `json:"_id"`
	Source json.RawMessage `json:"_source"`
}

type found struct {
	Scroll string `json:"_scroll_id"`
	Hits   struct {
		Total struct{ Value int }
		Hits  []hit
	}
}

// all returns every document of an index, whatever their number.
func (b backend) all(index string) []hit {
	b.t.Helper()
	b.must("POST", "/"+index+"/_refresh", "", nil)
	var hits []hit
	var page found
	b.must("POST", "/"+index+"/_search?scroll=1m", `{"size":2000,"sort":["_doc"]}`, &page)
	for len(page.Hits.Hits) > 0 {
		hits = append(hits, page.Hits.Hits...)
		scroll := page.Scroll
		page = found{}
		b.must("POST", "/_search/scroll", fmt.Sprintf(`{"scroll":"1m","scroll_id":%q}`, scroll), &page)
	}
	return hits
}

// count returns how many documents an index has, 0 for none.
func (b backend) count(index string) int {
	b.t.Helper()
	if status, _ := b.ask("POST", "/"+index+"/_refresh", ""); status == 404 {
		return 0
	}
	var counted struct{ Count int }
	b.must("GET", "/"+index+"/_count", "", &counted)
	return counted.Count
}

// matching returns how many documents a query finds.
func (b backend) matching(index, query string) int {
	b.t.Helper()
	var counted struct{ Count int }
	b.must("GET", "/"+index+"/_count?q="+url.QueryEscape(query), "", &counted)
	return counted.Count
}

// object is a decoded document; numbers are json.Number.
type object map[string]any

func decode(t testing.TB, text []byte) object {
	t.Helper()
	var o object
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	require.NoError(t, d.Decode(&o), "%s", text)
	return o
}

// at returns what stands at a path of keys.
func (o object) at(path ...string) any {
	var v any = map[string]any(o)
	for _, key := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}

func (o object) text(path ...string) string {
	s, _ := o.at(path...).(string)
	return s
}

func (o object) id(t testing.TB, path ...string) int64 {
	t.Helper()
	s := o.text(path...)
	if s == "" {
		return 0
	}
	v, err := strconv.ParseUint(s, 16, 64)
	require.NoError(t, err)
	return int64(v)
}

func (o object) integer(t testing.TB, path ...string) int64 {
	t.Helper()
	v, err := o.at(path...).(json.Number).Int64()
	require.NoError(t, err)
	return v
}

func (o object) float(t testing.TB, path ...string) float64 {
	t.Helper()
	v, err := o.at(path...).(json.Number).Float64()
	require.NoError(t, err)
	return v
}

// nanos reads milliseconds with a part, exactly.
func nanos(t testing.TB, text string) int64 {
	t.Helper()
	r, ok := new(big.Rat).SetString(text)
	require.True(t, ok, text)
	r.Mul(r, big.NewRat(int64(time.Millisecond), 1))
	require.True(t, r.IsInt(), text)
	return r.Num().Int64()
}
