package prometheus

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/sinktest"
)

// scrape is what a scraper does that gets the whole page.
func (r *rig) scrape() []string {
	r.t.Helper()
	lines := r.lines()
	r.seen(r.current.Load().round)
	return lines
}

func (r *rig) removed(why leaving) int {
	return int(r.registry.Value("sink.prometheus.removed_series", "reason:"+leavingNames[why]))
}

// Names that are new in each interval fill the page, and series of others come and go beside them: nothing of those is refused or begins
// anew, so that in each scrape their counters are exactly what was sent.
func TestChangingNamesCostNobodyElse(t *testing.T) {
	const limit, changing, steady, intervals = 1000, 300, 200, 60
	for _, own := range []time.Duration{interval, 6 * interval} { // of the changing ones
		t.Run(own.String(), func(t *testing.T) {
			withExpiry(t, func(c *Config) { c.MaxSeries = limit }, func(t *testing.T, r *rig) {
				names := 0
				for n := range intervals {
					time.Sleep(interval)
					if n%int(own/interval) == 0 {
						b := &sinks.Batch{Interval: own}
						for range changing {
							b.Points = append(b.Points, counter("changing", 1, fmt.Sprint("id:", names)))
							names++
						}
						require.Zero(t, r.interval(b))
						r.end = r.end.Add(-interval) // the next one ends at the same time
					}
					var points []metric.Point
					for i := range steady {
						points = append(points, counter("steady", 1, fmt.Sprint("n:", i)))
					}
					points = append(points, counter(fmt.Sprint("new.service.", n/10), 1))
					require.Zero(t, r.points(points...))
					got := 0
					for _, line := range r.scrape() {
						if strings.HasPrefix(line, "steady") {
							require.True(t, strings.HasSuffix(line, fmt.Sprint(" ", n+1)), line)
							got++
						}
						if strings.HasPrefix(line, fmt.Sprint("new_service_", n/10)) {
							require.True(t, strings.HasSuffix(line, fmt.Sprint(" ", n%10+1)), line)
						}
					}
					require.Equal(t, steady, got)
					require.LessOrEqual(t, len(r.board.entries), limit)
				}
				assert.Zero(t, r.refused(seriesLimit))
				assert.Positive(t, r.removed(evicted))
				assert.Zero(t, r.removed(evictedUnscraped))
			})
		})
	}
}

// Series are let go a sixteenth at a time, those that a scraper has seen first, and those first that have missed the most of their own intervals.
func TestOrderInWhichSeriesMakeRoom(t *testing.T) {
	withExpiry(t, func(c *Config) { c.MaxSeries = 16 }, func(t *testing.T, r *rig) {
		next := func(own time.Duration, points ...metric.Point) int {
			time.Sleep(interval)
			return r.interval(&sinks.Batch{Interval: own, Points: points})
		}
		next(interval, counter("a", 1)) // 9 intervals before the last
		next(time.Minute, counter("long", 1))
		r.scrape()
		next(interval, counter("b", 1)) // 7
		next(interval, counter("c", 1))
		next(interval, counter("a.again", 1))
		r.scrape()
		next(interval, counter("d", 1))       // 3, and nobody sees it until it has made room
		next(interval, counter("a.again", 1)) // 2, and its last value nobody
		next(interval, counter("x.0", 1))
		time.Sleep(interval)
		news := 0
		more := func() error { // of one interval
			news++
			return r.Send(t.Context(), &sinks.Batch{
				End: r.end, Interval: interval, More: true, Points: []metric.Point{counter(fmt.Sprint("x.", news), 1)},
			})
		}
		for len(r.board.entries) < 16 {
			require.NoError(t, more())
		}
		var left []string
		here := func(name string) bool { return r.board.find(dto.MetricType_COUNTER, name, nil) != nil }
		before := []string{"a", "long", "b", "c", "a.again", "d"}
		for range 5 {
			require.NoError(t, more())
			for _, name := range before {
				if !here(name) && !slices.Contains(left, name) {
					left = append(left, name)
				}
			}
			require.Len(t, r.board.entries, 16)
		}
		require.Error(t, more(), "all that are there may come again")
		assert.Equal(t, []string{"a", "b", "c", "d", "a.again"}, left, "the long one can still come")
		assert.Equal(t, 3, r.removed(evicted))
		assert.Equal(t, 2, r.removed(evictedUnscraped))
	})
}

// A gauge that is older than what is there changes nothing, and so needs no other scrape.
func TestOldGaugeIsStillSeen(t *testing.T) {
	withExpiry(t, func(c *Config) { c.MaxSeries = 1 }, func(t *testing.T, r *rig) {
		r.points(at(gauge("g", 1), r.end.Unix()))
		r.scrape()
		time.Sleep(interval)
		r.points(at(gauge("g", 2), r.end.Unix()-15))
		time.Sleep(interval)
		require.Equal(t, 1, r.points(gauge("h", 1)), "it came in the interval before")
		time.Sleep(interval)
		require.Zero(t, r.points(gauge("h", 1)))
		assert.Equal(t, 1, r.removed(evicted))
	})
}

// A summary that comes back after a while makes no room for another one that comes with it.
func TestSummaryThatIsHereAgainStays(t *testing.T) {
	withExpiry(t, func(c *Config) { c.MaxSeries, c.Percentiles = 2, nil }, func(t *testing.T, r *rig) {
		both := &sinks.Batch{}
		for _, name := range []string{"back", "new"} {
			s := &metric.Series{Name: name, Kind: metric.Timer}
			both.Distributions = append(both.Distributions, metric.DigestPoint{Series: s, Digest: sinktest.NewDigest(1)})
		}
		require.Zero(t, r.interval(&sinks.Batch{Distributions: both.Distributions[:1]}))
		time.Sleep(interval)
		require.Zero(t, r.points(counter("c", 1)))
		time.Sleep(3 * interval)
		r.end = r.end.Add(2 * interval)
		require.Zero(t, r.interval(both))
		assert.Equal(t, []string{"back_sum 2", "back_count 2", "new_sum 1", "new_count 1"}, r.lines())
	})
}

// What was let go comes back as after expiry: from 0, with another created timestamp.
func TestSeriesThatMadeRoomBeginsAnew(t *testing.T) {
	withExpiry(t, func(c *Config) { c.MaxSeries = 1 }, func(t *testing.T, r *rig) {
		created := func() time.Time {
			body, err := encoded(r.current.Load(), protoForm)
			require.NoError(t, err)
			return decoded(t, body)["c_total"].Metric[0].Counter.CreatedTimestamp.AsTime()
		}
		r.points(counter("c", 5))
		first := created()
		time.Sleep(interval)
		require.Equal(t, 1, r.points(counter("d", 1)), "c came in the interval before")
		time.Sleep(interval)
		require.Zero(t, r.points(counter("d", 1)))
		assert.Equal(t, []string{"d_total 1"}, r.lines())
		time.Sleep(interval)
		r.points()
		time.Sleep(interval)
		require.Zero(t, r.points(counter("c", 2)))
		assert.Equal(t, []string{"c_total 2"}, r.lines())
		assert.Equal(t, first.Add(4*interval), created())
		assert.Equal(t, 2, r.removed(evictedUnscraped))
	})
}

// A full page of series that may all come again is looked through once an interval, however many new ones are refused.
func TestFullPageIsLookedThroughOnce(t *testing.T) {
	withExpiry(t, func(c *Config) { c.MaxSeries = 1 }, func(t *testing.T, r *rig) {
		require.Zero(t, r.points(counter("c", 1)))
		send := func(name string, more bool) error {
			return r.Send(t.Context(), &sinks.Batch{End: r.end, Interval: interval, More: more, Points: []metric.Point{counter(name, 1)}})
		}
		time.Sleep(interval)
		require.Error(t, send("d", true))
		r.board.latest = latest{begun: time.Hour, seen: time.Hour, begin: 1 << 32, ending: 1 << 32} // now it would find c
		require.Error(t, send("e", false))
		require.NoError(t, send("f", false), "in the next interval")
	})
}

// Nothing that may still come is let go: neither after a time in which the daemon did not run, nor when a clock is set, nor when intervals come late or
// all at once.
func TestWhatMayStillComeIsNotLetGo(t *testing.T) {
	for _, tt := range []struct {
		name   string
		real   time.Duration // how long it was since the interval before
		end    time.Duration // and by the clock of the day
		covers time.Duration
	}{
		{"as usual", interval, interval, interval},
		{"ticks were missed", 5 * interval, 5 * interval, 5 * interval},
		{"the daemon did not run", time.Hour, time.Hour, time.Hour},
		{"the clock was set forward", interval, time.Hour, interval},
		{"the clock was set back", interval, -time.Hour, interval},
		{"it waited in the queue", 6 * interval, interval, interval},
		{"the host slept, and one clock did not see it", interval, time.Hour, interval},
		{"ticks were missed, and the clock was set forward", 5 * interval, time.Hour, 5 * interval},
		{"ticks were missed, and it waited in the queue", 10 * interval, 5 * interval, 5 * interval},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withExpiry(t, func(c *Config) { c.MaxSeries, c.ExpireAfter = 2, 0 }, func(t *testing.T, r *rig) {
				r.points(counter("c", 1))
				time.Sleep(interval)
				r.points(counter("c", 1), counter("long", 1))
				time.Sleep(tt.real)
				r.end = r.end.Add(tt.end - interval)
				require.Equal(t, 1, r.interval(&sinks.Batch{Interval: tt.covers, Points: []metric.Point{counter("new", 1), counter("c", 1), counter("long", 1)}}))
				assert.Equal(t, []string{"c_total 3", "long_total 2"}, r.lines())
			})
		})
	}
}

// Whatever comes and goes, each series that was ever there is on the page or has left for a reason that is counted, each point is on it or refused,
// no more are held than the limit, and none that came in the interval before is let go.
func TestEverySeriesIsAccountedFor(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	withExpiry(t, func(c *Config) { c.MaxSeries, c.ExpireAfter = 50, 20*interval }, func(t *testing.T, r *rig) {
		random := rand.New(rand.NewPCG(seed, 0))
		added, refused := 0, 0
		last := map[string]int{}
		for n := range 300 {
			time.Sleep(interval)
			synctest.Wait() // for what expires now
			var b sinks.Batch
			held := map[string]bool{}
			for _, e := range r.board.entries {
				held[e.series.labels] = true
			}
			sent := map[string]bool{}
			for range random.IntN(60) {
				id := fmt.Sprint("id:", random.IntN(40+n/2*random.IntN(2)), "\xff")
				if !sent[id] {
					sent[id] = true
					b.Points = append(b.Points, counter("c", 1, strings.TrimSuffix(id, "\xff")))
				}
			}
			here := r.interval(&b)
			refused += here
			now, value := map[string]bool{}, map[string]float64{}
			for _, e := range r.board.entries {
				now[e.series.labels], value[e.series.labels] = true, e.series.value.number
			}
			require.LessOrEqual(t, len(now), 50)
			for id := range sent {
				if now[id] {
					last[id] = n
				}
			}
			for id := range held {
				require.True(t, now[id] || last[id] < n-1, "%q came in %d and was let go in %d", id, last[id], n)
			}
			accepted := 0
			for id := range sent {
				if now[id] {
					accepted++
				}
				if value[id] == 1 { // it has not been there, or has been let go meanwhile
					added++
				}
			}
			require.Equal(t, len(sent), accepted+here)
			if random.IntN(3) == 0 {
				require.Len(t, r.scrape(), len(now))
			}
		}
		total := r.removed(expired) + r.removed(evicted) + r.removed(evictedUnscraped)
		assert.Equal(t, added, len(r.board.entries)+total)
		assert.EqualValues(t, refused, r.refused(seriesLimit))
		for _, why := range []leaving{evicted, evictedUnscraped} {
			assert.Positive(t, r.removed(why), leavingNames[why])
		}
	})
}

// BenchmarkChangingNames adds intervals of 10,000 series that were never there before to a page that is full.
func BenchmarkChangingNames(b *testing.B) {
	const changing = 10_000
	c := DefaultConfig()
	board, now, end, names := newBoard(c, interval), time.Now(), time.Unix(1_700_000_000, 0), 0
	next := func() {
		chunk := &sinks.Batch{End: end, Interval: interval}
		for range changing {
			chunk.Points = append(chunk.Points, counter("http.requests", 1, "env:prod", "region:eu-central-1", fmt.Sprint("route:/api/v1/item/", names)))
			names++
		}
		board.add(chunk, now)
		board.finish()
		now, end = now.Add(interval), end.Add(interval)
	}
	for len(board.entries) < c.MaxSeries {
		next()
	}
	b.ReportAllocs()
	for b.Loop() {
		next()
	}
	require.Zero(b, board.refusals.counts[seriesLimit])
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/changing, "ns/series")
}
