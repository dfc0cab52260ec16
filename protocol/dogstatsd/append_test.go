package dogstatsd

import (
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
)

func TestAppendMetric(t *testing.T) {
	tests := []struct {
		name, want string
		in         metric.Sample
	}{
		{"counter", "a.b:3|c|#x:y", metric.Sample{Kind: metric.Counter, Name: []byte("a.b"), Values: []float64{3}, Rate: 1, Tags: []byte("x:y")}},
		{"no rate is rate 1", "a:1|g", metric.Sample{Kind: metric.Gauge, Name: []byte("a"), Values: []float64{1}}},
		{"pack with a rate", "a:1:2.5:-3|ms|@0.25", metric.Sample{Kind: metric.Timer, Name: []byte("a"), Values: []float64{1, 2.5, -3}, Rate: 0.25}},
		{"set", "s:http://x:80/|s", metric.Sample{Kind: metric.Set, Name: []byte("s"), Text: []byte("http://x:80/"), Rate: 1}},
		{"time", "a:1|c|T1656581400", metric.Sample{Kind: metric.Counter, Name: []byte("a"), Values: []float64{1}, Time: 1656581400}},
		{"deltas", "a:+1:-2:+0|g", metric.Sample{Kind: metric.Gauge, Name: []byte("a"), Values: []float64{1, -2, 0}, Delta: true}},
		{"histogram", "a:1|h", metric.Sample{Kind: metric.Histogram, Name: []byte("a"), Values: []float64{1}}},
		{"distribution", "a:1|d", metric.Sample{Kind: metric.Distribution, Name: []byte("a"), Values: []float64{1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, "before "+tt.want, string(AppendMetric([]byte("before "), &tt.in)))
		})
	}
}

func TestAppendEventAndCheck(t *testing.T) {
	require.Equal(t, `_e{4,5}:a\nb|x|\ny|p:low|t:error`, string(AppendEvent(nil, &Event{
		Title: []byte("a\nb"), Text: []byte("x|\ny"), Priority: "low",
		AlertType: "error",
	})))
	require.Equal(t, "_e{1,0}:t|", string(AppendEvent(nil, &Event{Title: []byte("t")})))
	require.Equal(t, "_e{1,2}:t|x\r\r", string(AppendEvent(nil, &Event{Title: []byte("t"), Text: []byte("x\r")})), "a reader takes one off")
	require.Equal(t, `_sc|n|1|d:5|h:w|#a,b|m:x\ny`, string(AppendCheck(nil, &Check{
		Name: []byte("n"), Status: metric.Warning, Time: 5,
		Host: []byte("w"), Tags: []byte("a,b"), Message: []byte("x\ny"),
	})))
}

func TestClean(t *testing.T) {
	tests := []struct{ name, got, want string }{
		{"B131 name", string(AppendCleanName(nil, "a b|c:d")), "a b_c_d"},
		{"B012 newline in a name", string(AppendCleanName(nil, "a\nx:9|c")), "a_x_9_c"},
		{"name that would begin an event", string(AppendCleanName(nil, "_e{5,4}")), "_e_5,4}"},
		{"name that would begin a check", string(AppendCleanName(nil, "_sc|x")), "_sc_x"},
		{"name stays as it is", string(AppendCleanName([]byte("p."), "été.x-y_z/0")), "p.été.x-y_z/0"},
		{"name that is not UTF-8", string(AppendCleanName(nil, "a\xc3\x28\u2028\ufffd")), "a_\x28\u2028\ufffd"},
		{"B130 empty name", string(AppendCleanName(nil, "")), ""},
		{"B012 comma in a tag", string(AppendCleanTags(nil, "k:a,b", "c")), "k:a_b,c"},
		{"B012 newline in a tag", string(AppendCleanTags(nil, "k:v\nx:9|c\r\x00\x7f")), "k:v_x:9_c___"},
		{"B131 pipe in a tag", string(AppendCleanTags(nil, "bad|tag")), "bad_tag"},
		{"B133 a bare tag stays bare", string(AppendCleanTags(nil, "foo")), "foo"},
		{"empty tags", string(AppendCleanTags([]byte("#"), "", "a", "", "", "b", "")), "#a,b"},
		{"member of a set", string(AppendCleanText(nil, "http://x:80/|a,b\nc")), "http://x:80/_a,b_c"},
		{"message of a check", string(AppendCleanMessage(nil, "a|b\nc\td\xff")), "a_b\nc_d_"},
		{"text of an event", string(AppendCleanEventText(nil, "a|b\nc\td\r\xff")), "a|b\nc\td\r_"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, tt.got)
			require.True(t, utf8.ValidString(tt.got))
		})
	}
}
