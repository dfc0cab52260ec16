package aggregate

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/dogstatsd"
	"github.com/veneurd/veneur/protocol/metric"
)

// addEach adds lines one by one, and returns all outcomes.
func (d *daemon) addEach(stamp int64, lines string) (outcomes []Outcome) {
	d.parser.Reset([]byte(lines), 1_700_000_000)
	for line := d.parser.Next(); line != nil; line = d.parser.Next() {
		if line.Kind == dogstatsd.MetricLine {
			outcomes = append(outcomes, d.tables[0].Add(&line.Sample, stamp, 0))
			stamp++
		}
	}
	return outcomes
}

// addTogether adds lines by batches, and returns all outcomes.
func (d *daemon) addTogether(stamp int64, lines string) (outcomes []Outcome) {
	d.parser.Reset([]byte(lines), 1_700_000_000)
	for {
		line := d.parser.Fill(&d.batch)
		if line != nil {
			continue // refused: a pack of gauges with and without a sign
		}
		full := d.batch.Full()
		added := d.addBatch(d.tables[0], stamp, 0)
		outcomes, stamp = append(outcomes, added...), stamp+int64(len(added))
		if !full {
			return outcomes
		}
	}
}

// Batches do what single adds do, in the same order: through new keys, aliases, limits, refusals, expiry and fresh starts.
func TestBatchIsManyAdds(t *testing.T) {
	change := func(c *Config) {
		c.MaxSeries, c.MaxSeriesPerName, c.SeriesIdleIntervals, c.MaxTimedPoints = 12_000, 500, 2, 50
	}
	each, together := newDaemon(t, 1, change), newDaemon(t, 1, change)
	each.parser.GaugeDeltas, together.parser.GaugeDeltas = true, true
	r := rand.New(rand.NewPCG(1, 2))
	line := func(round int) string {
		switch r.IntN(12) {
		case 0: // a key that comes again soon, or never
			return fmt.Sprintf("new:1|c|#id:%d", round*100+r.IntN(200))
		case 1:
			return fmt.Sprintf("g:%s%d|g|#x", []string{"", "+", "-"}[r.IntN(3)], r.IntN(10))
		case 2:
			return fmt.Sprintf("timed:%d|c|T1600000000", r.IntN(10))
		case 3:
			return fmt.Sprintf("bad:1|c|#\xff%d", r.IntN(3))
		case 4:
			return "x:1.7e308|c"
		case 5: // alone too short for the way of most keys
			return fmt.Sprintf("%c:1|c|#%d", 'a'+r.IntN(26), r.IntN(3))
		default:
			return randomLine(r)
		}
	}
	refused := 0
	for round := range 100 {
		for range 5 {
			lines := make([]string, r.IntN(300))
			for i := range lines {
				lines[i] = line(round)
			}
			if round == 40 { // a flood, after which there is a fresh start
				for i := range 15_000 {
					lines = append(lines, fmt.Sprintf("flood%d:1|c|#id:%d", i%30, i))
				}
			}
			all := strings.Join(lines, "\n")
			want := each.addEach(int64(round), all)
			require.Equal(t, want, together.addTogether(int64(round), all))
			for _, outcome := range want {
				if outcome.Refused() {
					refused++
				}
			}
		}
		require.Equal(t, each.flush(), together.flush())
	}
	require.NotZero(t, refused)
	require.NotZero(t, together.telemetry.Value("aggregate.fresh_starts"))
	for _, name := range []string{"aggregate.interned", "aggregate.expired", "aggregate.saturated", "aggregate.scope_conflicts", "aggregate.aliases"} {
		require.Equal(t, each.telemetry.Value(name), together.telemetry.Value(name), name)
	}
}

func TestBatchOfAnyLength(t *testing.T) {
	for n := range 2*batchLen + 2 {
		d := newDaemon(t, 1)
		samples := make([]metric.Sample, n)
		for i := range samples {
			samples[i] = metric.Sample{Kind: metric.Counter, Name: fmt.Appendf(nil, "n%d", i%7), Values: []float64{1}, Rate: 1}
		}
		outcomes := make([]Outcome, n)
		for i := range outcomes {
			outcomes[i] = RefusedUTF8
		}
		d.tables[0].AddBatch(samples, outcomes, 1, 0)
		require.Equal(t, make([]Outcome, n), outcomes)
		total := 0.0
		for _, v := range d.flush() {
			total += v
		}
		require.EqualValues(t, n, total)
	}
}

func TestKeyHashSpreads(t *testing.T) {
	k := newKeyHash()
	name := []byte("service.requests.count")
	base := []byte("env:production,az:eu-west-1a,id:0000000")
	for _, n := range []int{0, 1, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, len(base)} {
		tags := append([]byte{}, base[:n]...)
		h := k.of(1, name, tags)
		require.NotEqual(t, h, k.of(2, name, tags), "another kind")
		require.NotEqual(t, h, k.of(1, name[1:], tags), "another name")
		for bit := range 8 * n {
			tags[bit/8] ^= 1 << (bit % 8)
			require.NotEqual(t, h, k.of(1, name, tags), "bit %d of %d bytes", bit, n)
			tags[bit/8] ^= 1 << (bit % 8)
		}
	}
	require.NotEqual(t, k.of(0, []byte("ab"), []byte("c")), k.of(0, []byte("a"), []byte("bc")))
	other := newKeyHash()
	require.NotEqual(t, k.of(0, name, base), other.of(0, name, base), "each process has its own")

	// Keys that count up: of 2^18, the parts that choose segment, slot and tag are as evenly spread as those of random numbers.
	const keys = 1 << 18
	seen := make(map[uint64]bool, keys)
	segments, slots, slotTags := make([]int, 256), make([]int, segmentSlots/4), make([]int, 256)
	for i := range keys {
		h := k.of(0, name, fmt.Appendf(nil, "env:production,az:eu-west-1a,id:%d", i))
		seen[h] = true
		segments[h>>56]++
		slots[slotOf(h)/4]++
		slotTags[h&255]++
	}
	require.Len(t, seen, keys)
	for _, buckets := range [][]int{segments, slots, slotTags} {
		chi, even := 0.0, keys/float64(len(buckets))
		for _, n := range buckets {
			chi += (float64(n) - even) * (float64(n) - even) / even
		}
		require.Less(t, chi, 400.0, "255 on average; beyond 400 once in 10^8 runs")
	}
}
