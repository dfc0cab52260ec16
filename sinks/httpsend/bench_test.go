package httpsend_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/sinks/httpsend"
)

// One request over a kept connection of this machine, the server's work included.
func BenchmarkDo(b *testing.B) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"errors":false}`)
	}))
	defer s.Close()
	body := []byte(strings.Repeat(`{"create":{}}`+"\n"+`{"@timestamp":"2026-11-30T18:00:00Z","name":"x","value":1}`+"\n", 1000))
	for _, compression := range []string{"none", "gzip"} {
		b.Run(compression, func(b *testing.B) {
			c := httpsend.DefaultConfig()
			c.URLs, c.Compression = []string{s.URL}, compression
			client, err := httpsend.New(c, httpsend.Settings{Name: "out", Telemetry: telemetry.New()})
			if err != nil {
				b.Fatal(err)
			}
			defer client.Close()
			var reply []byte
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				response, err := client.Do(b.Context(), httpsend.Request{Method: "POST", Path: "/_bulk", Body: body, Reply: reply})
				if err != nil {
					b.Fatal(err)
				}
				reply = response.Body
			}
		})
	}
}
