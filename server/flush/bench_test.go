package flush

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/protocol/dogstatsd"
	"github.com/veneurd/veneur/server/aggregate"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/delivery"
	"github.com/veneurd/veneur/sinks/localfile"
)

const benchSeries = 1_000_000

// bench is a flusher over one lane, and what feeds the lane.
type bench struct {
	*Flusher
	lane    *lane
	feeder  feeder
	packets [][]byte
}

// feeder adds packets to a lane as a reader does.
type feeder struct {
	lane     *lane
	parser   dogstatsd.Parser
	batch    dogstatsd.Batch
	outcomes [dogstatsd.BatchLen]aggregate.Outcome
}

func (f *feeder) add(packet []byte) {
	f.parser.Reset(packet, 1)
	f.lane.mu.Lock()
	defer f.lane.mu.Unlock()
	for full := true; full; {
		f.parser.Fill(&f.batch)
		full = f.batch.Full()
		samples := f.batch.Samples()
		f.lane.table.AddBatch(samples, f.outcomes[:len(samples)], 1, 0)
		f.batch.Reset()
	}
}

// newBench returns one that knows a million counters with three tags each, which come in packets of twenty lines.
func newBench(b *testing.B, offer func(_, _ func(), _ ...*sinks.Batch)) *bench {
	log := logrus.New()
	log.SetOutput(io.Discard)
	config := aggregate.DefaultConfig()
	config.MaxSeries, config.MaxSeriesPerName = 2*benchSeries, 2*benchSeries
	registry := telemetry.New()
	interner := aggregate.NewInterner(aggregate.Settings{Config: config, Telemetry: registry, Log: log})
	l := &lane{table: interner.NewTable()}
	f := &bench{lane: l, feeder: feeder{lane: l}}
	f.Flusher = New(Settings{
		Config:    DefaultConfig(),
		Lanes:     []Lane{l},
		Collector: aggregate.NewCollector(interner, []*aggregate.Table{l.table}),
		Targets:   []Target{{Name: "a", Offer: offer}},
		Telemetry: registry,
		Log:       log,
	})
	var packet []byte
	for i, id := range rand.New(rand.NewPCG(1, 2)).Perm(benchSeries) {
		packet = fmt.Appendf(packet, "service.requests.count:%d|c|#env:production,az:eu-west-1a,id:%d\n", id%10, id)
		if i%20 == 19 {
			f.packets = append(f.packets, packet)
			packet = nil
		}
	}
	return f
}

func (f *bench) fill() {
	for _, packet := range f.packets {
		f.feeder.add(packet)
	}
}

func (f *bench) end() { f.flush(tick{end: time.Unix(1_800_000_000, 0), covered: 10 * time.Second}) }

// chunkLen is how many points a delivery sends at once, about, when it is not told otherwise.
const chunkLen = 4000

// BenchmarkFlushEncode takes series from the states of an interval to lines of JSON. An operation is a series.
func BenchmarkFlushEncode(b *testing.B) {
	configured, err := localfile.Kind().Configure(func(c any) error {
		c.(*localfile.Config).Path = "-"
		return nil
	})
	require.NoError(b, err)
	sink, err := configured.Metrics(sinks.Settings{Name: "a", Hostname: "host", Stdout: io.Discard})
	require.NoError(b, err)
	sent := 0
	f := newBench(b, func(free, _ func(), interval ...*sinks.Batch) {
		defer free()
		for _, whole := range interval {
			for points := range slices.Chunk(whole.Points, chunkLen) {
				chunk := *whole
				chunk.Points = points
				require.NoError(b, sink.Send(context.Background(), &chunk))
				sent += len(points)
			}
		}
	})
	hurry := make(chan struct{})
	close(hurry)
	f.pacer.Hurry = hurry // rests are no work
	f.fill()
	f.lane.Flip()
	iv := f.s.Collector.Collect()
	b.ReportAllocs()
	b.ResetTimer()
	n := 0
	for ; n < b.N; n += benchSeries {
		f.render.begin()
		f.share(iv, tick{end: time.Unix(1_800_000_000, 0), covered: 10 * time.Second})
	}
	b.StopTimer()
	require.Equal(b, n, sent)
}

// BenchmarkFlushStall feeds a lane without a pause, lets it be flushed meanwhile, and says for how long at most the feeder did not get to add,
// in milliseconds, as medians over the rounds. An operation is a flush of a million series to a sink that takes everything.
func BenchmarkFlushStall(b *testing.B) {
	log := logrus.New()
	log.SetOutput(io.Discard)
	out := delivery.New(nowhere{}, delivery.DefaultConfig(), delivery.Settings{Name: "a", Interval: time.Second, Log: log, Telemetry: telemetry.New()})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- out.Run(ctx) }()
	f := newBench(b, out.OfferUntil)
	for range 3 { // until there is nothing new
		f.fill()
		f.end()
	}

	const quiet, flushing = 0, 1
	var phase atomic.Int32
	var longest [2]atomic.Int64
	round := make(chan struct{}) // all packets were added
	feeding, fed := context.WithCancel(ctx)
	fedUp := make(chan struct{})
	go func() {
		defer close(fedUp)
		for last := time.Now(); feeding.Err() == nil; {
			for _, packet := range f.packets {
				f.feeder.add(packet)
				now := time.Now()
				at := &longest[phase.Load()]
				at.Store(max(at.Load(), int64(now.Sub(last))))
				last = now
			}
			select {
			case round <- struct{}{}:
			default:
			}
		}
	}()
	var stalls [2][]float64
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		longest[quiet].Store(0)
		longest[flushing].Store(0)
		<-round
		<-round // now every series has a value
		phase.Store(flushing)
		b.StartTimer()
		f.end()
		b.StopTimer()
		phase.Store(quiet)
		for i := range stalls {
			stalls[i] = append(stalls[i], float64(longest[i].Load())/1e6)
		}
		b.StartTimer()
	}
	b.StopTimer()
	fed()
	<-fedUp
	cancel()
	require.NoError(b, <-ended)
	for i, unit := range []string{"ms-quiet", "ms-flushing"} {
		slices.Sort(stalls[i])
		b.ReportMetric(stalls[i][len(stalls[i])/2], unit)
	}
}

// nowhere takes everything.
type nowhere struct{}

func (nowhere) Send(context.Context, *sinks.Batch) error { return nil }
