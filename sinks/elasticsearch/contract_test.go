package elasticsearch

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/veneurd/veneur/sinks/sinktest"
)

// well takes everything.
func well(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		if zr, err := gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, _ = io.ReadAll(zr)
		}
	}
	n := bytes.Count(body, []byte{'\n'}) / 2
	items := strings.TrimSuffix(strings.Repeat(`{"create":{"status":201}},`, n), ",")
	_, _ = io.WriteString(w, `{"errors":false,"items":[`+items+`]}`)
}

func TestContract(t *testing.T) {
	const known = "urls: ['{{url}}']\nauth: {api_key: hunter2hunter2}\nflavour: elasticsearch\ncheck_templates: false\n"
	for name, more := range map[string]string{
		"otel":        "metrics: value",
		"fields":      "histograms: true\ntimestamps: rfc3339",
		"ecs":         "layout: ecs\nhistograms: true\nsamples: array",
		"jaeger":      "layout: jaeger",
		"jaeger_tags": "layout: jaeger\njaeger_tags_as_fields: true\nsamples: array\ncompression: none",
	} {
		sinktest.Run(t, sinktest.Case{
			Name:    name,
			Kind:    Kind(),
			YAML:    known + more,
			Secrets: []string{"hunter2hunter2"},
			Fake:    http.HandlerFunc(well),
		})
	}
}
