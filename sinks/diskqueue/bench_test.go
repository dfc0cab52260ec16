package diskqueue_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/diskqueue"
	"github.com/veneurd/veneur/sinks/sinktest"
	"github.com/veneurd/veneur/ssf"
)

// chunkOfPoints is 5,000 points with five tags, the default chunk.
func chunkOfPoints() *sinks.Batch {
	b := &sinks.Batch{End: time.Unix(1_700_000_000, 0), Interval: 10 * time.Second}
	for i := range 5000 {
		b.Points = append(b.Points, sinktest.Point(metric.CounterPoint, "service.requests."+strconv.Itoa(i), float64(i),
			"env:prod", "host:web-17", "region:eu-west-1", "route:/a/{id}", "status:200"))
	}
	return b
}

// chunkOfSpans is 1,000 spans with eight tags.
func chunkOfSpans() (spans []*ssf.SSFSpan) {
	for i := range 1000 {
		s := &ssf.SSFSpan{
			TraceId: int64(i) << 20, Id: int64(i) << 30, ParentId: 7, StartTimestamp: 1_700_000_000_000_000_000,
			EndTimestamp: 1_700_000_000_250_000_000, Service: "checkout", Name: "GET /a/{id}",
		}
		for _, key := range []string{"env", "host", "region", "route", "status", "user", "version", "zone"} {
			s.Tags = append(s.Tags, ssf.Tag{Key: key, Value: "value-" + strconv.Itoa(i)})
		}
		spans = append(spans, s)
	}
	return spans
}

func BenchmarkCodec(b *testing.B) {
	var e diskqueue.Encoder
	points, spans := chunkOfPoints(), chunkOfSpans()
	b.Run("encode 5000 points", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.SetBytes(int64(len(e.Batch(points))))
		}
	})
	payload := append([]byte(nil), e.Batch(points)...)
	b.Run("decode 5000 points", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(payload)))
		for b.Loop() {
			if _, err := diskqueue.DecodeBatch(payload); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encode 1000 spans", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.SetBytes(int64(len(e.Spans(spans))))
		}
	})
	payload = append([]byte(nil), e.Spans(spans)...)
	b.Run("decode 1000 spans", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(payload)))
		for b.Loop() {
			if _, err := diskqueue.DecodeSpans(payload); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// A chunk's whole way through the files, without what happens in the codec.
func BenchmarkAppendNextDone(b *testing.B) {
	payload := new(diskqueue.Encoder).Batch(chunkOfPoints())
	for _, tt := range []struct {
		name string
		sync time.Duration
	}{{"synced each second", time.Second}, {"synced each record", 0}} {
		b.Run(tt.name, func(b *testing.B) {
			c := diskqueue.DefaultConfig()
			c.Path, c.FsyncInterval = b.TempDir(), tt.sync
			q, err := diskqueue.Open(c, "points")
			if err != nil {
				b.Fatal(err)
			}
			defer q.Close()
			b.SetBytes(int64(len(payload)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := q.Append(diskqueue.Record{Items: 5000, Born: time.Unix(1, 0), Payload: payload}); err != nil {
					b.Fatal(err)
				}
				q.Sync()
				if _, _, ok := q.Next(); !ok {
					b.Fatal("it is not there")
				}
				q.Done()
			}
		})
	}
}

// What a start costs when a hundred megabytes wait.
func BenchmarkOpen(b *testing.B) {
	payload := new(diskqueue.Encoder).Batch(chunkOfPoints())
	c := diskqueue.DefaultConfig()
	c.Path = b.TempDir()
	q, err := diskqueue.Open(c, "points")
	if err != nil {
		b.Fatal(err)
	}
	for q.State().Bytes < 100<<20 {
		if _, err := q.Append(diskqueue.Record{Items: 5000, Born: time.Unix(1, 0), Payload: payload}); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(q.State().Bytes)
	for b.Loop() {
		if err := q.Close(); err != nil {
			b.Fatal(err)
		}
		if q, err = diskqueue.Open(c, "points"); err != nil {
			b.Fatal(err)
		}
	}
	if err := q.Close(); err != nil {
		b.Fatal(err)
	}
}
