package traceot_test

import (
	"context"
	"fmt"

	"github.com/opentracing/opentracing-go"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
	"github.com/veneurd/veneur/trace/traceot"
)

// printer is a backend that prints spans.
type printer struct{}

func (printer) SendSync(_ context.Context, s *ssf.SSFSpan) error {
	fmt.Println(s.Name, "child:", s.ParentId != 0)
	return nil
}

func (printer) Close() error { return nil }

// Code that is written for OpenTracing and code that uses package trace make one trace.
func Example() {
	client, err := trace.NewBackendClient(printer{}) // a service calls trace.NewClient
	if err != nil {
		panic(err)
	}
	tracer := traceot.New(client)
	span, ctx := opentracing.StartSpanFromContextWithTracer(context.Background(), tracer, "request")
	query, _ := trace.StartSpanFromContext(ctx, "query")
	query.Finish()
	span.Finish()
	if err := client.Close(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Unordered output:
	// request child: false
	// query child: true
}
