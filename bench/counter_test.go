package bench

import (
	"testing"

	"github.com/DataDog/datadog-go/v5/statsd"
)

// BenchmarkCounterHandle adds one to a counter with one tag, which goes to the daemon as a sum each interval. Ours is a handle, made once; that of
// datadog-go is looked up by name and tags each time, and without aggregation on the client's side each addition is a line of its own.
func BenchmarkCounterHandle(b *testing.B) {
	b.Run("ours", func(b *testing.B) {
		counter := newClient(b).Counter("requests", map[string]string{"route": "/v1/charges"})
		b.ReportAllocs()
		for b.Loop() {
			counter.Inc()
		}
	})
	b.Run("datadog", func(b *testing.B) { countDatadog(b, statsd.WithClientSideAggregation()) })
	b.Run("datadog-unaggregated", func(b *testing.B) { countDatadog(b, statsd.WithoutClientSideAggregation()) })
}

// nowhere is a socket that takes everything.
type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) Close() error                { return nil }

func countDatadog(b *testing.B, opts ...statsd.Option) {
	client, err := statsd.NewWithWriter(nowhere{}, append(opts, statsd.WithoutTelemetry(), statsd.WithoutOriginDetection())...)
	if err != nil {
		b.Fatal(err)
	}
	tags := []string{"route:/v1/charges"}
	b.ReportAllocs()
	for b.Loop() {
		if err := client.Count("requests", 1, tags, 1); err != nil {
			b.Fatal(err)
		}
	}
	_ = client.Close()
}
