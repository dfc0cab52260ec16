package main

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/veneurd/veneur/protocol"
	"github.com/veneurd/veneur/ssf"
)

// The shapes of spans.
const (
	typical = "typical"
	heavy   = "heavy"
	tree    = "tree"
)

const leastSpans = 1 << 13 // in a corpus; they are some ten times as large as lines

// shape is how much a span has of what.
type shape struct{ tags, samples, sampleTags int }

func shapeOf(name string) shape {
	if name == heavy {
		return shape{tags: 15, samples: 5, sampleTags: 8}
	}
	return shape{tags: 5, samples: 1, sampleTags: 3}
}

// spanLoad says which spans a corpus has. The samples in them are of as many series as there are to be, rounded up to whole spans.
type spanLoad struct {
	shape  shape
	series int
	mix    mix
}

// corpus makes spans until each series had a sample, as often as it takes to get enough spans, each time in another order.
func (l spanLoad) corpus(limits limits) *corpus {
	b := builder{limits: limits}
	rng := rand.New(rand.NewPCG(3, 4))
	spans := (l.series + l.shape.samples - 1) / l.shape.samples
	digits := len(strconv.Itoa(spans*l.shape.samples - 1))
	span := l.span()
	var packet []byte
	for range (leastSpans + spans - 1) / spans {
		for _, i := range rng.Perm(spans) {
			span.TraceId, span.Id, span.ParentId = rng.Int64()|1<<62, rng.Int64()|1<<62, rng.Int64()|1<<62
			var samples [numKinds]int
			for j := range span.Metrics {
				n := i*l.shape.samples + j
				k := l.mix.of(n)
				samples[k]++
				setSample(&span.Metrics[j], k, namePrefix[k]+padded(n, digits), rng)
			}
			packet = appendPacket(packet[:0], span, limits.stream)
			b.add(packet, "", samples)
		}
	}
	return b.corpus()
}

func appendPacket(dst []byte, span *ssf.SSFSpan, framed bool) []byte {
	if !framed {
		return ssf.AppendSpan(dst, span)
	}
	dst, err := protocol.AppendFrame(dst, span)
	if err != nil {
		panic(err) // a span of ours is never that large
	}
	return dst
}

func (l spanLoad) span() *ssf.SSFSpan {
	const start, took = 1767225600_123456789, 70_000_000
	s := &ssf.SSFSpan{
		StartTimestamp: start, EndTimestamp: start + took,
		Service: "checkout-frontend", Name: "POST /v1/charges", Indicator: true, Tags: spanTags(l.shape.tags),
	}
	for range l.shape.samples {
		s.Metrics = append(s.Metrics, ssf.SSFSample{SampleRate: 1, Tags: spanTags(l.shape.sampleTags)})
	}
	return s
}

// setSample gives a sample of a span its name and value.
func setSample(s *ssf.SSFSample, k kind, name string, rng *rand.Rand) {
	s.Name, s.Unit, s.Message, s.Value = name, "", "", 0
	switch k {
	case counter:
		s.Metric, s.Value = ssf.SSFSample_COUNTER, counterValue
	case gauge:
		s.Metric, s.Value = ssf.SSFSample_GAUGE, gaugeValue
	case timer:
		s.Metric, s.Value, s.Unit = ssf.SSFSample_HISTOGRAM, float32(1+rng.IntN(slowestTimer))/4, "ms"
	case set:
		s.Metric, s.Message = ssf.SSFSample_SET, "m"+padded(rng.IntN(setMembers), 3)
	}
}

// spanTags are n tags of usual lengths.
func spanTags(n int) []ssf.Tag {
	all := [...]string{
		"env:production", "region:eu-west-1", "host:checkout-7f9c5d.eu-west-1", "status:200", "method:POST", "peer.service:ledger",
		"db.system:postgresql", "merchant:acct_1032D82eZvKYlo2C", "version:2026.01.07-3", "az:eu-west-1b", "retry:false", "queue:priority",
		"currency:eur", "canary:false", "flavour:card",
	}
	tags := make([]ssf.Tag, n)
	for i := range tags {
		tags[i].Key, tags[i].Value, _ = strings.Cut(all[i], ":")
	}
	return tags
}
