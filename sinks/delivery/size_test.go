package delivery_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/delivery"
	"github.com/veneurd/veneur/sinks/sinktest"
	"github.com/veneurd/veneur/ssf"
)

// shortTags returns n tags as a parser makes them: a small string each.
func shortTags(n int) []string {
	tags := make([]string, n)
	for i := range tags {
		tags[i] = "t:" + strconv.Itoa(i)
	}
	return tags
}

// What the ledger says to wait is about what waiting costs, so that queue_bytes bounds memory, whatever the senders thought up.
func TestWaitingBytesAreMemory(t *testing.T) {
	batches := func(n int, fill func(*sinks.Batch)) func(*rig, *spanRig) {
		return func(r *rig, _ *spanRig) {
			for range n {
				b := &sinks.Batch{}
				fill(b)
				r.Offer(b)
			}
		}
	}
	clones := func(n int, packet string) func(*rig, *spanRig) {
		return func(_ *rig, r *spanRig) {
			var d ssf.Decoder
			span, err := d.Decode([]byte(packet))
			require.NoError(t, err)
			for range n {
				r.OfferSpan(span.Clone())
			}
		}
	}
	const identified = "\x10\x01\x18\x01\x28\x01\x30\x02\x6a\x01x" // ids, start, end and a name
	tests := []struct {
		name  string
		offer func(*rig, *spanRig)
	}{
		{"spans", clones(10_000, identified)},
		{"spans of empty samples", clones(10, identified+strings.Repeat("\x52\x00", 32_000))},
		{"spans of empty tags", clones(50, identified+strings.Repeat("\x5a\x00", 32_000))},
		{"spans of samples of empty tags", clones(50, identified+strings.Repeat("\x52\x04\x42\x00\x42\x00", 5_000))},
		{"spans of text", clones(200, identified+"\x5a\xa4\x9c\x01\x0a\x9c\x9c\x01"+strings.Repeat("k", 19_996)+"\x12\x02vv")},
		{"points", batches(10, func(b *sinks.Batch) {
			for i := range 1_000 {
				b.Points = append(b.Points, sinktest.Point(metric.CounterPoint, "name."+strconv.Itoa(i), 1, shortTags(5)...))
			}
		})},
		{"points of many tags", batches(10, func(b *sinks.Batch) {
			b.Points = append(b.Points, sinktest.Point(metric.CounterPoint, "x", 1, shortTags(10_000)...))
		})},
		{"small digests", batches(10, func(b *sinks.Batch) {
			for range 1_000 {
				b.Distributions = append(b.Distributions, digestOf(1))
			}
		})},
		{"large digests", batches(10, func(b *sinks.Batch) {
			for range 100 {
				b.Distributions = append(b.Distributions, digestOf(1_000))
			}
		})},
		{"events", batches(10, func(b *sinks.Batch) {
			for i := range 1_000 {
				b.Events = append(b.Events, metric.Event{Title: "title " + strconv.Itoa(i), Text: strings.Repeat("x", 20)})
			}
		})},
		{"events of many tags", batches(10, func(b *sinks.Batch) {
			b.Events = append(b.Events, metric.Event{Title: "t", Tags: shortTags(10_000)})
		})},
		{"checks of many tags", batches(10, func(b *sinks.Batch) {
			b.Checks = append(b.Checks, metric.Check{Name: "c", Tags: shortTags(10_000)})
		})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			points := newRig(t, &sinktest.DistributionRecorder{}, func(c *delivery.Config) { c.QueueBytes = 1 << 30 })
			spans := newSpanRig(t, func(c *delivery.SpanConfig) { c.QueueBytes = 1 << 30 })
			before := heap()
			tt.offer(points, spans)
			held := float64(heap() - before)
			said := float64(points.Ledger().WaitingBytes + spans.Spans.Ledger().WaitingBytes)
			t.Logf("%.0f bytes held, %.0f said", held, said)
			assert.Less(t, held, 1.5*said)
			assert.Less(t, said, 2*held)
			runtime.KeepAlive(points)
			runtime.KeepAlive(spans)
		})
	}
}

func digestOf(n int) metric.DigestPoint {
	return metric.DigestPoint{Series: &metric.Series{Name: "h"}, Digest: sinktest.NewDigest(make([]float64, n)...)}
}

// heap returns what is in use of it.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
