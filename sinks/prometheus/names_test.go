package prometheus

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMetricName(t *testing.T) {
	for _, tt := range []struct{ prefix, in, want string }{
		{"", "requests", "requests"},
		{"", "a.b-c/d e", "a_b_c_d_e"},
		{"", "A_9", "A_9"},
		{"", "9lives", "_9lives"},
		{"p_", "9lives", "p_9lives"},
		{"", "größe", "gr__e"},
		{"", "日本", "__"},
		{"", "a:b", "a_b"},
		{"", "\xff\xfe", "__"},
		{"", "", "_"},
		{"app_", "x", "app_x"},
	} {
		assert.Equal(t, tt.want, metricName(tt.prefix, tt.in), "%q %q", tt.prefix, tt.in)
	}
}

func TestLabelName(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"env", "env"},
		{"k8s.pod-name", "k8s_pod_name"},
		{"", "_"},
		{"_x", "_x"},
		{"le", "exported_le"},
		{"quantile", "exported_quantile"},
		{"__name__", "exported___name__"},
		{"..x", "exported___x"},
		{"job", "job"},
		{"LE", "LE"},
	} {
		assert.Equal(t, tt.want, labelName(tt.in), "%q", tt.in)
	}
}

func TestLabels(t *testing.T) {
	for _, tt := range []struct {
		name string
		tags []string
		want string
	}{
		{"none", nil, ""},
		{"B098 an empty list", []string{}, ""},
		{"by name", []string{"b:1", "a:2"}, `a="2" b="1"`},
		{"colons in a value", []string{"url:http://x:80/"}, `url="http://x:80/"`},
		{"bare", []string{"canary"}, `canary="true"`},
		{"B016 an empty value is no label", []string{"key:"}, ""},
		{"no key", []string{":v"}, `_="v"`},
		{"no key, no value", []string{":"}, ""},
		{"one key twice", []string{"k:1", "k:2"}, `k="1,2"`},
		{"bare and with a value", []string{"k", "k:2"}, `k="true,2"`},
		{"keys that become equal", []string{"a.b:1", "a_b:2"}, `a_b="1,2"`},
		{"one of them empty", []string{"a.b:", "a_b:2"}, `a_b=",2"`},
		{
			"B100 reserved names",
			[]string{"__name__:y", "job:z", "le:1", "quantile:x"},
			`exported___name__="y" exported_le="1" exported_quantile="x" job="z"`,
		},
		{"B100 a name that is reserved only here", []string{"exported_le:2", "le:1"}, `exported_le="2,1"`},
		{"B030 bytes that are no UTF-8", []string{"t:\xc3\x28"}, "t=\"\uFFFD(\""},
		{"NUL", []string{"t:a\x00b"}, "t=\"a\uFFFDb\""},
		{"what may stand in text stays", []string{"n:MacBook 14\" \\ x\n日本"}, "n=\"MacBook 14\" \\ x\n日本\""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			made := string(appendLabels(nil, tt.tags))
			for name, value := range eachLabel(made) {
				got = append(got, name+`="`+value+`"`)
			}
			assert.Len(t, got, countLabels(made))
			if areLabels(tt.tags) {
				assert.Equal(t, made, strings.Join(append(tt.tags, ""), "\xff"))
			}
			assert.Equal(t, tt.want, strings.Join(got, " "))
		})
	}
}
