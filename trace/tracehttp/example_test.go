package tracehttp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
	"github.com/veneurd/veneur/trace/propagation"
	"github.com/veneurd/veneur/trace/tracehttp"
)

// printer is a backend that prints spans.
type printer struct{}

func (printer) SendSync(_ context.Context, s *ssf.SSFSpan) error {
	kind, _ := s.Tag("span.kind")
	status, _ := s.Tag("http.status_code")
	fmt.Println(kind, s.Name, status, "child:", s.ParentId != 0)
	return nil
}

func (printer) Close() error { return nil }

func Example() {
	client, err := trace.NewBackendClient(printer{}) // a service calls trace.NewClient
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /charges/{id}", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	server := httptest.NewServer(tracehttp.Handler(client, mux))

	web := &http.Client{Transport: tracehttp.Transport(nil, tracehttp.Client(client))}
	answer, err := web.Get(server.URL + "/charges/5")
	if err != nil {
		panic(err)
	}
	_ = answer.Body.Close() // which ends the span of the request
	server.Close()
	if err := client.Close(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Unordered output:
	// server GET /charges/{id} 204 child: true
	// client http.request 204 child: false
}

// B3 in place of the headers that are usual.
func ExampleWrite() {
	h := http.Header{}
	h.Set("B3", "80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-1")
	sc, ok := tracehttp.Extract(h, propagation.B3Single)
	fmt.Println(ok, uint64(sc.SpanID) == 0xe457b5a2e4d86bd1, sc.Sampling == trace.Sampled)

	transport := tracehttp.Transport(nil, tracehttp.Write(propagation.B3Single))
	fmt.Println(transport != nil)
	// Output:
	// true true true
	// true
}
