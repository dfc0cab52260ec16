package jsondoc_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/veneurd/veneur/internal/jsonappend"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks/jsondoc"
	"github.com/veneurd/veneur/ssf"
)

// The benchmarks write the same bytes: ours from the span, the tree and the packet, encoding/json from maps that were made before, into a
// buffer that is used again, as ours is.

// stdlib writes v as encoding/json does when it is not asked to do more than ours.
type stdlib struct {
	buf     bytes.Buffer
	encoder *json.Encoder
	v       any
}

func newStdlib(v any) *stdlib {
	s := &stdlib{v: v}
	s.encoder = json.NewEncoder(&s.buf)
	s.encoder.SetEscapeHTML(false)
	return s
}

func (s *stdlib) write(tb testing.TB) []byte {
	s.buf.Reset()
	if err := s.encoder.Encode(s.v); err != nil {
		tb.Fatal(err)
	}
	return s.buf.Bytes()[:s.buf.Len()-1] // without the newline
}

// contest is one shape in both ways.
type contest struct {
	ours   func(dst []byte) ([]byte, error)
	stdlib *stdlib
}

func spanContest() contest {
	s := typical()
	e := jsondoc.New(jsondoc.Options{Samples: true})
	return contest{func(dst []byte) ([]byte, error) { return e.AppendSpan(dst, s) }, newStdlib(spanMap(s, true))}
}

func wireContest() contest {
	packet := ssf.AppendSpan(nil, typical())
	e := jsondoc.New(jsondoc.Options{Samples: true})
	return contest{func(dst []byte) ([]byte, error) { return e.AppendWireSpan(dst, packet) }, newStdlib(spanMap(typical(), true))}
}

func valueContest() contest {
	t, w := valueTree(), &jsonappend.Writer{}
	return contest{func(dst []byte) ([]byte, error) { return w.Tree(dst, t) }, newStdlib(valueMap())}
}

// valueMap is of the shape in which a google.protobuf.Struct comes.
func valueMap() map[string]any {
	return map[string]any{
		"user":    map[string]any{"id": "acct_1032D82eZvKYlo2C", "admin": false, "score": 0.75, "team": nil},
		"request": map[string]any{"method": "POST", "path": "/v1/charges", "bytes": 1532.0, "took": 12.5, "agent": "curl/8.9"},
		"items":   []any{"card", "voucher", 3.0, true},
		"message": "charge accepted",
		"retries": 0.0,
		"level":   "info",
	}
}

func valueTree() *jsonappend.Tree {
	t := &jsonappend.Tree{}
	t.BeginMap("")
	t.BeginMap("user")
	t.Text("id", "acct_1032D82eZvKYlo2C")
	t.Bool("admin", false)
	t.Float64("score", 0.75)
	t.Null("team")
	t.End()
	t.BeginMap("request")
	t.Text("method", "POST")
	t.Text("path", "/v1/charges")
	t.Float64("bytes", 1532)
	t.Float64("took", 12.5)
	t.Text("agent", "curl/8.9")
	t.End()
	t.BeginList("items")
	t.Text("", "card")
	t.Text("", "voucher")
	t.Float64("", 3)
	t.Bool("", true)
	t.End()
	t.Text("message", "charge accepted")
	t.Float64("retries", 0)
	t.Text("level", "info")
	t.End()
	return t
}

func contests() map[string]contest {
	return map[string]contest{"span": spanContest(), "value": valueContest(), "wire": wireContest()}
}

func TestContestantsWriteTheSame(t *testing.T) {
	for name, c := range contests() {
		got, err := c.ours(nil)
		require.NoError(t, err)
		require.Equal(t, string(c.stdlib.write(t)), string(got), name)
	}
}

func BenchmarkJSONSpan(b *testing.B) { spanContest().bench(b) }

func BenchmarkJSONValue(b *testing.B) { valueContest().bench(b) }

// BenchmarkJSONWire compares with encoding/json from the map, which has not read any packet.
func BenchmarkJSONWire(b *testing.B) { wireContest().bench(b) }

func (c contest) bench(b *testing.B) {
	buf, err := c.ours(nil)
	require.NoError(b, err)
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(buf)))
		b.ReportAllocs()
		for b.Loop() {
			buf, _ = c.ours(buf[:0])
		}
	})
	b.Run("stdlib", func(b *testing.B) {
		b.SetBytes(int64(len(buf)))
		b.ReportAllocs()
		for b.Loop() {
			c.stdlib.write(b)
		}
	})
}

// BenchmarkDocuments has what stands in no contest: the options of a sink, and the other documents.
func BenchmarkDocuments(b *testing.B) {
	o := jsondoc.DefaultOptions()
	o.Keys.Reserved = []string{"ssf.indicator", "ssf.root_start_timestamp"}
	o.MaxText = 1024
	e := jsondoc.New(o)
	s, end := typical(), time.Unix(1_700_000_000, 0)
	series := &metric.Series{Tags: []string{"env:prod", "route:/api/v1/x", "status:200"}}
	point := &metric.Point{Series: series, Name: "http.requests", Value: 12345}
	event := &metric.Event{Title: "deployed", Text: "version 3\nby me", Time: 1_700_000_000, AlertType: "info", Priority: "normal", Tags: series.Tags}
	list := &structpb.Struct{}
	require.NoError(b, list.UnmarshalJSON([]byte(ofStdlib(b, valueMap()))))
	message, err := proto.Marshal(list)
	require.NoError(b, err)
	var tree jsonappend.Tree
	for _, tt := range []struct {
		name  string
		write func(dst []byte) ([]byte, error)
	}{
		{"span with keys for Elasticsearch", func(dst []byte) ([]byte, error) { return e.AppendSpan(dst, s) }},
		{"sample", func(dst []byte) ([]byte, error) { return e.AppendSample(dst, &s.Metrics[0], 5) }},
		{"point with 3 tags", func(dst []byte) ([]byte, error) { return e.AppendPoint(dst, point, end, 10*time.Second) }},
		{"event with 3 tags", func(dst []byte) ([]byte, error) { return e.AppendEvent(dst, event) }},
		{"google.protobuf.Struct from the wire", func(dst []byte) ([]byte, error) {
			tree.Reset()
			if err := tree.Struct("", message); err != nil {
				return dst, err
			}
			return e.Tree(dst, &tree)
		}},
	} {
		b.Run(tt.name, func(b *testing.B) {
			buf, err := tt.write(nil)
			require.NoError(b, err)
			b.SetBytes(int64(len(buf)))
			b.ReportAllocs()
			for b.Loop() {
				buf, _ = tt.write(buf[:0])
			}
		})
	}
}
