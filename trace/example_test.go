package trace_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
)

// printer is a backend that prints spans.
type printer struct{}

func (printer) SendSync(_ context.Context, s *ssf.SSFSpan) error {
	fmt.Printf("%s of %s, error %v, tags %d, samples %d\n", s.Name, s.Service, s.Error, len(s.Tags), len(s.Metrics))
	return nil
}

func (printer) Close() error { return nil }

// charge knows no client: its span is of that of its parent.
func charge(ctx context.Context) (err error) {
	span, _ := trace.StartSpanFromContext(ctx, "charge")
	defer func() {
		span.Error(err)
		span.Finish()
	}()
	span.Add(ssf.Histogram("charge.amount", 12.5, nil))
	return errors.New("no funds")
}

func Example() {
	// A service sends to its daemon: trace.NewClient("unix:///run/veneur/ssf.sock", …)
	client, err := trace.NewBackendClient(printer{}, trace.WithService("checkout"))
	if err != nil {
		panic(err)
	}
	span, ctx := client.StartSpanFromContext(context.Background(), "request")
	span.SetTag("route", "/v1/charges")
	span.SetIndicator(true)
	err = charge(ctx)
	span.Error(err)
	span.Finish()
	if err := client.Close(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Unordered output:
	// charge of checkout, error true, tags 2, samples 1
	// request of checkout, error true, tags 3, samples 0
}

func ExampleCounter() {
	client, err := trace.NewClient(trace.DefaultAddress)
	if err != nil {
		panic(err)
	}
	defer client.Close(context.Background())
	// Made once, beside what counts.
	requests := client.Counter("requests", map[string]string{"route": "/v1/charges"})
	for range 1000 {
		requests.Inc()
	}
}

// Samples without a span.
func ExampleClient_Report() {
	client, err := trace.NewClient(trace.DefaultAddress)
	if err != nil {
		panic(err)
	}
	defer client.Close(context.Background())
	_ = client.Report(
		ssf.Gauge("queue.depth", 17, map[string]string{"queue": "mail"}),
		ssf.Status("database", ssf.SSFSample_OK, nil, ssf.Message("answers")))
}

// What became of everything.
func ExampleClient_Stats() {
	client, err := trace.NewBackendClient(quiet{}, trace.WithMaxSpan(64))
	if err != nil {
		panic(err)
	}
	client.StartTrace("small").Finish()
	large := client.StartTrace("large")
	large.SetTag("text", "so long that the span does not fit into what it is allowed")
	large.Finish()
	if err := client.Flush(context.Background()); err != nil {
		fmt.Println(err)
	}
	stats := client.Stats()
	fmt.Println(stats.Recorded, "=", stats.Sent, "+", stats.Dropped[trace.ReasonTooLarge], "+", stats.Waiting)
	_ = client.Close(context.Background())
	// Output: 2 = 1 + 1 + 0
}

// quiet is a backend that does nothing.
type quiet struct{}

func (quiet) SendSync(context.Context, *ssf.SSFSpan) error { return nil }
func (quiet) Close() error                                 { return nil }

// A span is started before there is a client, and sent by the one that is there in the end.
func ExampleSpan_ClientFinish() {
	span := trace.StartTrace("start of the service")
	client, err := trace.NewBackendClient(printer{}, trace.WithService("checkout"))
	if err != nil {
		panic(err)
	}
	span.ClientFinish(client)
	_ = client.Close(context.Background())
	// Output: start of the service of checkout, error false, tags 0, samples 0
}
