package traceotel_test

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
	"github.com/veneurd/veneur/trace/traceotel"
)

// printer is a backend that prints spans.
type printer struct{}

func (printer) SendSync(_ context.Context, s *ssf.SSFSpan) error {
	method, _ := s.Tag("method")
	fmt.Println(s.Name, method, "child:", s.ParentId != 0)
	return nil
}

func (printer) Close() error { return nil }

func Example() {
	client, err := trace.NewBackendClient(printer{}) // a service calls trace.NewClient
	if err != nil {
		panic(err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(traceotel.New(client)))
	tracer := provider.Tracer("example")
	ctx, request := tracer.Start(context.Background(), "request")
	request.SetAttributes(attribute.String("method", "GET"))
	_, query := tracer.Start(ctx, "query")
	query.End()
	request.End()
	// First the provider, which exports what it still has.
	if err := provider.Shutdown(context.Background()); err != nil {
		fmt.Println(err)
	}
	if err := client.Close(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Unordered output:
	// request GET child: false
	// query  child: true
}
