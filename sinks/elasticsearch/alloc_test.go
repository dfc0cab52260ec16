package elasticsearch

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/sinktest"
	"github.com/veneurd/veneur/ssf"
)

// encoded makes all documents of a chunk, as Send does before it sends.
func (k *sink) encoded(t testing.TB, list []*ssf.SSFSpan, b *sinks.Batch) {
	k.bulk.reset()
	for i, s := range list {
		if err := k.addSpan(t.Context(), i, s); err != nil {
			t.Fatal(err)
		}
		for j := range s.Metrics {
			if err := k.addSample(t.Context(), i, s, j); err != nil {
				t.Fatal(err)
			}
		}
	}
	k.period = period{b.End, b.Interval}
	for i := range b.Points {
		if err := k.addPoint(t.Context(), i, &b.Points[i]); err != nil {
			t.Fatal(err)
		}
	}
}

func benched(t testing.TB, settings string) *sink {
	r := newRig(t, newFake(t), "check_templates: false\nflavour: opensearch\n"+settings)
	return r.spanSink().(*sink)
}

// full is a span of 8 tags and 3 samples.
func full() *ssf.SSFSpan {
	s := span(1, "env", "prod", "region", "eu-1", "version", "3", "host", "web-1", "route", "/a/{id}", "status", "200", "team", "shop", "zone", "b")
	for _, name := range []string{"bytes", "rows", "retries"} {
		s.Metrics = append(s.Metrics, ssf.SSFSample{Name: name, Value: 1.5, SampleRate: 1, Tags: []ssf.Tag{{Key: "route", Value: "/a"}}})
	}
	return s
}

func TestAllocations(t *testing.T) {
	if raced {
		return // the race detector allocates
	}
	for _, settings := range []string{"", "layout: ecs", "ids: auto", "dataset_tag: team", "target: index", "metrics: fields"} {
		k := benched(t, settings)
		k.writer.fields = settings == "metrics: fields"
		list := []*ssf.SSFSpan{full()}
		b := sinktest.Batch()
		b.Points = b.Points[:5]
		k.encoded(t, list, b)
		limit := 0.0
		switch settings {
		case "dataset_tag: team":
			limit = 20 // the name is put together for each
		case "metrics: fields":
			limit = 5
		}
		assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { k.encoded(t, list, b) }), limit, settings)
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, layout := range []string{layoutOTel, layoutECS, layoutJaeger} {
		b.Run("span/"+layout, func(b *testing.B) {
			k := benched(b, "samples: none\nlayout: "+layout)
			s := full()
			s.Metrics = nil
			list := []*ssf.SSFSpan{s}
			k.encoded(b, list, &sinks.Batch{})
			b.SetBytes(int64(len(k.bulk.body)))
			b.ReportAllocs()
			for b.Loop() {
				k.encoded(b, list, &sinks.Batch{})
			}
		})
	}
	b.Run("point", func(b *testing.B) {
		k := benched(b, "")
		chunk := batch(gauge("latency.max", 1.5, "env:prod", "route:/a", "status:200"))
		k.encoded(b, nil, chunk)
		b.SetBytes(int64(len(k.bulk.body)))
		b.ReportAllocs()
		for b.Loop() {
			k.encoded(b, nil, chunk)
		}
	})
}
