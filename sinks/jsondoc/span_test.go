package jsondoc_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/sinks/jsondoc"
	"github.com/veneurd/veneur/ssf"
)

func inf() float64 { return math.Inf(1) }
func nan() float64 { return math.NaN() }

func TestSpanIsWhatStdlibWrites(t *testing.T) {
	for _, samples := range []bool{false, true} {
		e := jsondoc.New(jsondoc.Options{Samples: samples})
		for i, s := range spans() {
			got, err := e.AppendSpan([]byte("x"), s)
			require.NoError(t, err)
			assert.Equal(t, "x"+ofStdlib(t, spanMap(s, samples)), string(got), "span %d", i)
			assert.True(t, utf8.Valid(got))
			assert.NotContains(t, string(got), "\n")

			got, err = e.AppendWireSpan([]byte("x"), ssf.AppendSpan(nil, s))
			require.NoError(t, err)
			want, _ := e.AppendSpan([]byte("x"), s)
			assert.Equal(t, string(want), string(got), "span %d from the wire", i)
		}
	}
}

// TestHostileSpanIsWrittenInTime would take minutes if each tag was compared with each.
func TestHostileSpanIsWrittenInTime(t *testing.T) {
	for _, prefix := range []string{"", strings.Repeat("a", 100)} {
		s := &ssf.SSFSpan{}
		for i := range 200_000 {
			s.Tags = append(s.Tags, ssf.Tag{Key: fmt.Sprint(prefix, 200_000-i), Value: "1"}, ssf.Tag{Key: "same", Value: "2"})
		}
		e := jsondoc.New(jsondoc.DefaultOptions())
		got, err := e.AppendSpan(nil, s)
		require.NoError(t, err)
		var doc struct{ Tags map[string]string }
		require.NoError(t, json.Unmarshal(got, &doc))
		assert.Len(t, doc.Tags, 200_001)
		assert.EqualValues(t, 199_999, e.Counts.DuplicateKeys)
	}
}
