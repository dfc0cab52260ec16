package trace_test

import (
	"context"
	"io"
	"net"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
	"github.com/veneurd/veneur/trace/tracetest"
)

// discard takes packets and forgets them, so that a benchmark measures the client alone.
type discard struct{}

func (discard) SendSync(context.Context, *ssf.SSFSpan) error   { return nil }
func (discard) Close() error                                   { return nil }
func (discard) SendPackets(context.Context, [][]byte, []error) {}

func newDiscard(tb testing.TB) *trace.Client {
	c, err := trace.NewBackendClient(discard{}, trace.WithService("bench"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// reportLoss says which share was dropped: a benchmark of dropping would be no benchmark.
func reportLoss(b *testing.B, c *trace.Client) {
	stats := c.Stats()
	if stats.Recorded > 0 {
		b.ReportMetric(100*float64(stats.Lost())/float64(stats.Recorded), "%lost")
	}
}

func threeTags(c *trace.Client) {
	span := c.StartTrace("request")
	span.SetTag("method", "GET")
	span.SetTag("route", "/v1/charges")
	span.SetTag("status", "200")
	span.Finish()
}

func BenchmarkSpan(b *testing.B) {
	b.Run("3tags", func(b *testing.B) {
		c := newDiscard(b)
		b.ReportAllocs()
		for b.Loop() {
			threeTags(c)
		}
		reportLoss(b, c)
	})
}

func BenchmarkSpanContext(b *testing.B) {
	c := newDiscard(b)
	parent, ctx := c.StartSpanFromContext(context.Background(), "parent")
	defer parent.Finish()
	b.ReportAllocs()
	for b.Loop() {
		span, _ := trace.StartSpanFromContext(ctx, "child")
		span.Finish()
	}
	reportLoss(b, c)
}

func BenchmarkCounterHandle(b *testing.B) {
	counter := newDiscard(b).Counter("requests", map[string]string{"route": "/v1/charges"})
	b.ReportAllocs()
	for b.Loop() {
		counter.Inc()
	}
}

func BenchmarkGaugeHandle(b *testing.B) {
	gauge := newDiscard(b).Gauge("depth", nil)
	b.ReportAllocs()
	for b.Loop() {
		gauge.Set(17)
	}
}

func BenchmarkHistogramHandle(b *testing.B) {
	histogram := newDiscard(b).Histogram("size", nil)
	b.ReportAllocs()
	for b.Loop() {
		histogram.Observe(17)
	}
}

func BenchmarkSetHandle(b *testing.B) {
	set := newDiscard(b).Set("users", nil)
	b.ReportAllocs()
	for b.Loop() {
		set.Add("somebody")
	}
}

// BenchmarkSpanSent sends every span, to a collector in this process, in portions that are flushed.
func BenchmarkSpanSent(b *testing.B) {
	for _, network := range []string{"udp", "unixgram", "unix"} {
		b.Run(network, func(b *testing.B) {
			c := newClient(b, drain(b, network))
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				threeTags(c)
				if n++; n%4096 == 0 {
					flush(b, c)
				}
			}
			flush(b, c)
			reportLoss(b, c)
		})
	}
}

// BenchmarkFinishWhileTheDaemonHangs reports how long the slowest Finish of a thousand takes when nothing leaves the client.
func BenchmarkFinishWhileTheDaemonHangs(b *testing.B) {
	for _, network := range []string{"unixgram", "unix", "tcp"} {
		b.Run(network, func(b *testing.B) {
			collector := tracetest.Listen(b, network)
			collector.Pause()
			c := newClient(b, collector.Address())
			times := make([]time.Duration, 0, 1<<20)
			for b.Loop() {
				span := c.StartTrace("request")
				span.SetTag("method", "GET")
				start := time.Now()
				span.Finish()
				if len(times) < cap(times) {
					times = append(times, time.Since(start))
				}
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2]), "p50-ns")
			b.ReportMetric(float64(times[len(times)*999/1000]), "p99.9-ns")
			collector.Stop()
		})
	}
}

// drain reads and forgets what is sent to it, and returns its address.
func drain(b *testing.B, network string) string {
	address := "127.0.0.1:0"
	if network != "udp" {
		address = filepath.Join(b.TempDir(), "s")
	}
	buf := make([]byte, 1<<16)
	read := func(conn io.Reader) {
		for {
			if _, err := conn.Read(buf); err != nil {
				return
			}
		}
	}
	if network == "unix" {
		l, err := net.Listen(network, address)
		require.NoError(b, err)
		b.Cleanup(func() { _ = l.Close() })
		go func() {
			conn, err := l.Accept()
			if err == nil {
				read(conn)
				_ = conn.Close()
			}
		}()
		return network + "://" + address
	}
	conn, err := net.ListenPacket(network, address)
	require.NoError(b, err)
	b.Cleanup(func() { _ = conn.Close() })
	go read(conn.(io.Reader))
	return network + "://" + conn.LocalAddr().String()
}
