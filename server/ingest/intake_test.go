package ingest

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/server/aggregate"
	"github.com/veneurd/veneur/ssf"
)

// What the parser accepts and the table does not is refused, not a sample.
func TestWhatTheTableRefusesCountsAsRefused(t *testing.T) {
	limits := aggregate.DefaultConfig()
	limits.MaxSeries, limits.MaxTimedPoints, limits.MaxEvents = 2, 1, 1
	r := buildWithin(t, statsd(loopback), limits)
	in := r.in.newIntake()
	src := newSource(0, loopback, false, false, r.reg)
	now := time.Now()
	in.datagrams(src, []packet{{data: []byte(strings.Join([]string{
		"a:1|c", "b:1:2|g", "a\xff:1|c", "c:1:2:3|g", "c:5|c", "b:1|g|T1656581400", "b:2|g|T1656581401",
		"_e{1,1}:t|x", "_sc|check|0", "_e{1,1}:t|\xff",
	}, "\n"))}}, now)
	for _, tt := range []struct {
		reason string
		want   float64
	}{{"utf8", 2}, {"series_limit", 1}, {"timed_limit", 1}, {"event_limit", 1}} {
		r.requireValue(tt.want, "ingest.refused", "protocol:dogstatsd", "reason:"+tt.reason)
	}
	r.requireValue(10, "ingest.lines")
	r.requireValue(4, "ingest.metric_lines")
	r.requireValue(5, "ingest.samples")
	r.requireValue(3, "ingest.outcomes", "outcome:applied")
	r.requireValue(1, "ingest.outcomes", "outcome:overflowed")
	r.requireValue(1, "ingest.outcomes", "outcome:passed_through")
	r.requireLaws()

	span := &ssf.SSFSpan{Metrics: []ssf.SSFSample{ssf.Gauge("d", 1, nil), ssf.Status("check", ssf.SSFSample_OK, nil), ssf.Count("a", 1, nil)}}
	in.datagrams(newSource(0, loopback, true, false, r.reg), []packet{{data: []byte(packetOf(span))}}, now)
	r.requireValue(1, "ingest.span_samples")
	r.requireValue(1, "ingest.refused", "protocol:ssf", "reason:series_limit")
	r.requireValue(1, "ingest.refused", "protocol:ssf", "reason:event_limit")
	r.requireLaws()
}

// Metrics are added many at a time. Lines of one receive call take effect in their order nonetheless, over the borders of datagrams, and
// with others between them.
func TestLinesTakeEffectInOrder(t *testing.T) {
	r := build(t, statsd(loopback))
	in := r.in.newIntake()
	r.collector = aggregate.NewCollector(r.in.settings.Interner, []*aggregate.Table{in.lane.Table()})
	var packets []packet
	last := 0
	for _, lines := range []int{1, 63, 64, 65, 3, 500} {
		var b strings.Builder
		for range lines {
			last++
			fmt.Fprintf(&b, "g:%d|g|#x\n%s", last, []string{"", "bad\n", "_e{1,1}:t|x\n", "_sc|n|0\n", "_:1|c\n"}[last%5])
		}
		packets = append(packets, packet{data: []byte(b.String())}, packet{data: []byte("g:-1|g|#x\ng:1|c")})
	}
	packets = append(packets, packet{data: fmt.Appendf(nil, "g:%d|g|#x\ng:-1|g|#x\ncut:1|", last), truncated: true}, packet{data: fmt.Appendf(nil, "g:%d|g|#x", last)})
	in.datagrams(newSource(0, loopback, false, false, r.reg), packets, time.Now())
	got := r.flush()
	require.EqualValues(t, last, got.values["g{x}"], "%v", got.values)
	require.EqualValues(t, 6, got.values["g"])
	require.Zero(t, len(in.batch.Samples()))
	r.requireLaws()
}

func TestIgnoredFieldsAreCounted(t *testing.T) {
	r := build(t, statsd(loopback))
	r.in.newIntake().datagrams(newSource(0, loopback, false, false, r.reg), []packet{{data: []byte("a:1|c|x:1||c:ci-a\nbad|x:1|c")}}, time.Now())
	r.requireValue(2, "ingest.ignored_fields")
}

// A step of the wall clock backwards between two receive calls must not let the older value of a gauge win, in whichever lane it is.
func TestStampsDoNotFollowTheWallClock(t *testing.T) {
	r := build(t, statsd(loopback))
	d := r.in.datagrams[0]
	first, second := d.intakes[0], r.in.newIntake()
	tables := []*aggregate.Table{second.lane.Table(), first.lane.Table()} // the older value is merged last
	r.collector = aggregate.NewCollector(r.in.settings.Interner, tables)
	earlier := time.Now()
	later := wallClockSetBack(time.Now().Add(time.Second), 100*time.Second)
	require.InDelta(t, -99, later.Unix()-earlier.Unix(), 1)
	require.Positive(t, later.Sub(earlier))

	first.datagrams(d.src, []packet{{data: []byte("g:1|g\nboth:1|g")}}, earlier)
	second.datagrams(d.src, []packet{{data: []byte("g:2|g")}}, later)
	first.datagrams(d.src, []packet{{data: []byte("both:2|g")}}, later)
	require.Equal(t, map[string]float64{"g": 2, "both": 2}, r.flush().values)
	require.Equal(t, later.Unix(), first.now, "samples with a time of their own are held against the wall clock")
}

// wallClockSetBack returns t as time.Now would have, had the wall clock been set back by whole seconds before. The monotonic clock knows
// nothing of it. No exported function of package time makes such a time.
func wallClockSetBack(t time.Time, by time.Duration) time.Time {
	const secondsShift = 30 // below them stand the nanoseconds, above them the flag that there is a monotonic reading
	wall := (*uint64)(unsafe.Pointer(&t))
	*wall -= uint64(by/time.Second) << secondsShift
	return t
}

func packetsOfLines(datagrams, lines int) []packet {
	var packets []packet
	for d := range datagrams {
		var b strings.Builder
		for l := range lines {
			fmt.Fprintf(&b, "service.requests.%d:1|c|#host:web1,path:/index,code:20%d\n", (d+l)%50, l%5)
		}
		packets = append(packets, packet{data: []byte(b.String())})
	}
	return packets
}

func TestKnownSeriesDoNotAllocate(t *testing.T) {
	r := build(t, statsd(loopback))
	in := r.in.newIntake()
	src := newSource(0, loopback, false, false, r.reg)
	packets := append(packetsOfLines(64, 20), packet{data: []byte("bad\nt:1:2:3|ms|@0.5\ns:member|s\ng:1|g\n|c")})
	now := time.Now()
	for range 10 {
		in.datagrams(src, packets, now)
	}
	if allocs := testing.AllocsPerRun(10, func() { in.datagrams(src, packets, now) }); allocs > 0 && exactAllocs {
		t.Errorf("%v allocations a batch, want 0", allocs)
	}
}

func BenchmarkIntake(b *testing.B) {
	for _, lines := range []int{1, 20, 120} {
		b.Run(fmt.Sprintf("64 datagrams of %d lines", lines), func(b *testing.B) {
			r := build(b, statsd(loopback))
			in := r.in.newIntake()
			src := newSource(0, loopback, false, false, r.reg)
			packets := packetsOfLines(64, lines)
			size := 0
			for _, p := range packets {
				size += len(p.data)
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			now := time.Now()
			for b.Loop() {
				in.datagrams(src, packets, now)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*64*lines), "ns/sample")
		})
	}
}
