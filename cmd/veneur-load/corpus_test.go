package main

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol"
	"github.com/veneurd/veneur/protocol/dogstatsd"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/ssf/ssftest"
)

// What is in a corpus is counted by the parsers of the daemon.
func TestLinesAreWhatTheCorpusSays(t *testing.T) {
	for _, tt := range []struct {
		name   string
		load   lineLoad
		limits limits
	}{
		{"one line each", lineLoad{1000, 3, mix{1}}, limits{messages: 1}},
		{"seven lines each", lineLoad{1000, 3, mix{1}}, limits{messages: 7}},
		{"1400 bytes", lineLoad{100_000, 3, mix{1}}, limits{messages: leastMessages, bytes: 1400}},
		{"all kinds", lineLoad{5000, 10, mix{4, 2, 3, 1}}, limits{messages: leastMessages, bytes: 1400}},
		{"no tags", lineLoad{100, 0, mix{1, 1, 1, 1}}, limits{messages: 3}},
		{"many tags, too small packets", lineLoad{100, maxTags, mix{1}}, limits{messages: leastMessages, bytes: 10}},
		{"one series", lineLoad{1, 1, mix{timer: 1}}, limits{messages: 1}},
		{"a stream", lineLoad{1000, 3, mix{1, 1}}, limits{messages: leastMessages, bytes: 8192, stream: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := tt.load.corpus(tt.limits)
			var p dogstatsd.Parser
			var got tally
			series := map[string]int{}
			for i := range c.packets() {
				packet := c.bytes(i, 1)
				if tt.limits.stream != (packet[len(packet)-1] == '\n') {
					require.FailNow(t, "only on a stream lines end with one", "%q", packet)
				}
				p.Reset(packet, 0)
				lines := 0
				for line := p.Next(); line != nil; line = p.Next() {
					k, ok := kinds[line.Sample.Kind]
					if line.Kind != dogstatsd.MetricLine || !ok || !asSent(k, &line.Sample) {
						require.FailNow(t, "no such line was to be made", "%s", line.Raw)
					}
					got.Samples[k] += uint64(line.Sample.Count())
					series[kindNames[k]+string(line.Sample.Name)+"|"+string(line.Sample.Tags)]++
					lines++
				}
				if lines > tt.limits.messages || tt.limits.bytes > 0 && lines > 1 && len(packet) > tt.limits.bytes {
					require.FailNow(t, "a packet is too large", "%s", packet)
				}
				got.Messages += uint64(lines)
				got.Packets++
				got.Bytes += uint64(len(packet))
			}
			require.Equal(t, got, c.whole())
			require.Len(t, series, tt.load.series)
			for name, n := range series {
				if uint64(n) != got.Messages/uint64(tt.load.series) {
					require.FailNow(t, "a series has not as many lines as the others", name)
				}
			}
			require.GreaterOrEqual(t, got.Messages, uint64(leastMessages))
		})
	}
}

// kinds are those of the parser.
var kinds = map[metric.Kind]kind{metric.Counter: counter, metric.Gauge: gauge, metric.Timer: timer, metric.Set: set}

// asSent says that a line has the name and the value that its kind always has.
func asSent(k kind, s *metric.Sample) bool {
	if !bytes.HasPrefix(s.Name, []byte(namePrefix[k])) || s.Count() != 1 {
		return false
	}
	switch k {
	case counter:
		return s.Values[0] == counterValue
	case gauge:
		return s.Values[0] == gaugeValue
	case set:
		return len(s.Text) == 4 && s.Text[0] == 'm'
	default:
		return s.Values[0] > 0 && s.Values[0] <= slowestTimer/4
	}
}

func TestPacketsOfOneKindAreOfOneLength(t *testing.T) {
	c := lineLoad{100_000, 3, mix{1}}.corpus(limits{messages: leastMessages, bytes: 1400})
	for i := range c.packets() - 1 {
		if len(c.bytes(i, 1)) != len(c.bytes(0, 1)) {
			require.FailNow(t, "they are not", "%s", c.bytes(i, 1))
		}
	}
}

func TestACorpusIsTheSameEveryTime(t *testing.T) {
	load := lineLoad{1000, 3, mix{1, 1, 1, 1}}
	require.Equal(t, load.corpus(limits{messages: 1}), load.corpus(limits{messages: 1}))
}

var spanKinds = map[ssf.SSFSample_Metric]kind{
	ssf.SSFSample_COUNTER: counter, ssf.SSFSample_GAUGE: gauge, ssf.SSFSample_HISTOGRAM: timer, ssf.SSFSample_SET: set,
}

func TestSpansAreWhatTheCorpusSays(t *testing.T) {
	for _, tt := range []struct {
		name   string
		load   spanLoad
		stream bool
	}{
		{"typical", spanLoad{shapeOf(typical), 1000, mix{timer: 1}}, false},
		{"heavy", spanLoad{shapeOf(heavy), 1003, mix{1, 1, 1, 1}}, false},
		{"a stream", spanLoad{shapeOf(typical), 10, mix{1}}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := tt.load.corpus(limits{messages: 1, stream: tt.stream})
			var got tally
			series := map[string]bool{}
			for i := range c.packets() {
				packet := c.bytes(i, 1)
				got.Packets++
				got.Bytes += uint64(len(packet))
				if tt.stream {
					var err error
					packet, err = protocol.ReadFrame(bytes.NewReader(packet), nil)
					require.NoError(t, err)
				}
				span, err := protocol.ParseSSF(packet)
				if err != nil || ssf.ValidateTrace(span) != nil {
					require.FailNow(t, "that is no span", "%v: %v", err, span)
				}
				for j := range span.Metrics {
					s := &span.Metrics[j]
					if err := ssf.ValidateSample(s); err != nil {
						require.FailNow(t, "that is no sample", "%v: %v", err, s)
					}
					got.Samples[spanKinds[s.Metric]]++
					series[s.Name] = true
				}
				got.Messages++
			}
			require.Equal(t, got, c.whole())
			require.InDelta(t, tt.load.series, len(series), float64(tt.load.shape.samples))
		})
	}
}

// The shapes are those that the benchmarks use.
func TestShapes(t *testing.T) {
	for _, s := range ssftest.Shapes() {
		if s.Name == "empty" {
			continue
		}
		span := spanLoad{shape: shapeOf(s.Name)}.span()
		assert.Len(t, span.Tags, len(s.Span.Tags))
		assert.Equal(t, s.Span.Tags, span.Tags)
		require.Len(t, span.Metrics, len(s.Span.Metrics))
		for i := range span.Metrics {
			assert.Equal(t, s.Span.Metrics[i].Tags, span.Metrics[i].Tags)
		}
	}
}

func TestTalliesGoRound(t *testing.T) {
	c := lineLoad{series: 100, tags: 1, mix: mix{1, 1, 1, 1}}.corpus(limits{messages: 1000})
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		first, n := rng.IntN(c.packets()), rng.Uint64N(uint64(3*c.packets()))
		var want tally
		for i := range n {
			at := (first + int(i)) % c.packets()
			want.add(c.between(at, at+1))
		}
		require.Equal(t, want, c.tally(first, n), "%d from %d", n, first)
	}
}
