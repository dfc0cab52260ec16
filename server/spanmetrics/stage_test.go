package spanmetrics

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/server/spanmetrics/partial"
	"github.com/veneurd/veneur/server/spanmetrics/pebblestore"
	"github.com/veneurd/veneur/server/spanmetrics/store"
)

// Case 12: several intervals 1 s, 2 s, 4 s: each bucket is emitted exactly once. The clock of these tests begins at a midnight.
func TestCase12IntervalsAreEmittedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testConfig(time.Second, 2*time.Second, 4*time.Second)
		r := start(t, c, nil, nil)
		for i := range 8 {
			r.requests(i + 1)
			time.Sleep(time.Second)
		}
		time.Sleep(5 * time.Second)
		r.stop()
		assert.Equal(t, []string{
			"1s from 0s: 1",
			"1s from 1s: 2", "2s from 0s: 3",
			"1s from 2s: 3",
			"1s from 3s: 4", "2s from 2s: 7", "4s from 0s: 10",
			"1s from 4s: 5",
			"1s from 5s: 6", "2s from 4s: 11",
			"1s from 6s: 7",
			"1s from 7s: 8", "2s from 6s: 15", "4s from 4s: 26",
		}, r.emitted())
		assert.EqualValues(t, 36, r.registry.Value("span_metrics.spans", "family:request"))
		assert.EqualValues(t, 8, r.registry.Value("span_metrics.buckets", "interval:1s"))
		assert.EqualValues(t, 0, r.registry.Value("span_metrics.undelivered_buckets"))
	})
}

func TestDefaultIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testConfig()
		s := memory(&c)
		r := start(t, c, keep(s), nil)
		for range 61 {
			r.requests(10)
			time.Sleep(time.Minute)
		}
		time.Sleep(time.Second)
		counts := map[string]int{}
		for b, got := range r.added() {
			counts[intervalName(b.Duration())]++
			assert.EqualValues(t, 10*b.Duration()/time.Minute, got.requests, "%v", b)
		}
		assert.Equal(t, map[string]int{"1m": 61, "10m": 6, "60m": 1}, counts)
		synctest.Wait()
		states, err := s.Buckets()
		require.NoError(t, err)
		assert.Len(t, states, 2, "what is delivered is deleted, and two rollups are open")
	})
}

// Case 15: a restart inside a bucket goes on with it.
func TestCase15RestartInsideABucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testConfig(time.Minute, 2*time.Minute)
		s := memory(&c)
		r := start(t, c, keep(s), nil)
		r.requests(3)
		time.Sleep(20 * time.Second)
		r.requests(4) // the last of them are committed at the stop
		r.stop()
		assert.Empty(t, r.emitted())
		time.Sleep(10 * time.Second)
		r = start(t, c, keep(s), nil)
		r.requests(5)
		time.Sleep(31 * time.Second)
		assert.Equal(t, []string{"1m from 0s: 12"}, r.emitted())
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"1m from 0s: 12", "2m from 0s: 12"}, r.emitted())
	})
}

// Case 15: down over a bucket's end, it is emitted late, once, with its own time.
func TestCase15DownOverTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testConfig(time.Minute, 2*time.Minute)
		s := memory(&c)
		r := start(t, c, keep(s), nil)
		r.requests(3)
		time.Sleep(20 * time.Second)
		r.stop()
		time.Sleep(70 * time.Second)
		r = start(t, c, keep(s), nil)
		synctest.Wait()
		assert.Equal(t, []string{"1m from 0s late: 3"}, r.emitted())
		assert.EqualValues(t, 1, r.registry.Value("span_metrics.late_buckets", "interval:1m"))
		r.requests(1)
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"1m from 0s late: 3", "1m from 60s: 1", "2m from 0s: 4"}, r.emitted())
		r.stop()

		time.Sleep(time.Hour)
		r = start(t, c, keep(s), nil)
		time.Sleep(2 * time.Minute)
		assert.Empty(t, r.emitted())
	})
}

// Case 15: a crash between delivery and delete repeats the same whole bucket under the same id and time, and adds nothing to longer ones.
func TestCase15CrashBeforeDelete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testConfig(time.Minute, 2*time.Minute)
		s := memory(&c)
		r := start(t, c, keep(s), nil)
		r.takeNothing("a")
		r.requests(3)
		time.Sleep(65 * time.Second)
		assert.Equal(t, []string{"1m from 0s: 3"}, r.emitted())
		assert.EqualValues(t, 1, r.registry.Value("span_metrics.undelivered_buckets"))
		time.Sleep(10 * time.Second)
		r.stop()
		assert.Equal(t, []string{"1m from 0s: 3"}, r.emitted(), "once a life")

		r = start(t, c, keep(s), nil)
		time.Sleep(50 * time.Second)
		assert.Equal(t, []string{"1m from 0s late: 3", "2m from 0s: 3"}, r.emitted())
		synctest.Wait()
		states, err := s.Buckets()
		require.NoError(t, err)
		assert.Empty(t, states)
	})
}

// A delivery that takes its time does not have a bucket emitted again.
func TestDeliveryMayTakeLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testConfig(time.Minute)
		s := memory(&c)
		r := start(t, c, keep(s), nil)
		r.takeNothing("a")
		for range 3 {
			r.requests(1)
			time.Sleep(time.Minute)
		}
		time.Sleep(time.Second)
		assert.Equal(t, []string{"1m from 0s: 1", "1m from 60s: 1", "1m from 120s: 1"}, r.emitted())
		r.takeAll("a")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		states, err := s.Buckets()
		require.NoError(t, err)
		assert.Empty(t, states)
		assert.Len(t, r.emitted(), 3)
	})
}

// What is in memory only is handed on at the stop, since it would be lost.
func TestMemoryOnlyIsEmittedAtTheStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testConfig(time.Minute, 2*time.Minute)
		r := start(t, c, nil, func(s *Settings) { s.EmitOpen = true })
		r.requests(3)
		time.Sleep(61 * time.Second)
		r.requests(4)
		r.stop()
		assert.Equal(t, []string{"1m from 0s: 3", "1m from 60s: 4", "2m from 0s: 7"}, r.emitted())
	})
}

// clock is one that can be set.
type clock struct{ off atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.off.Load())) }

// A clock that is set back does not have a bucket emitted twice; one that was far ahead is not waited for.
func TestClockIsSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testConfig(time.Minute)
		s := memory(&c)
		var clock clock
		now := func(s *Settings) { s.Now = clock.now }
		r := start(t, c, keep(s), now)
		r.requests(1)
		time.Sleep(65 * time.Second)
		clock.off.Store(int64(-30 * time.Second))
		time.Sleep(time.Second)
		r.requests(2)
		time.Sleep(50 * time.Second)
		r.stop()
		assert.Equal(t, []string{"1m from 0s: 1"}, r.emitted())
		r = start(t, c, keep(s), now)
		r.requests(4)
		time.Sleep(40 * time.Second)
		assert.Equal(t, []string{"1m from 60s: 6"}, r.emitted())

		clock.off.Store(int64(100 * 24 * time.Hour))
		time.Sleep(time.Minute)
		r.requests(8)
		time.Sleep(10 * time.Second)
		clock.off.Store(int64(0))
		r.requests(16)
		time.Sleep(5 * time.Minute)
		total := 0.0
		for _, got := range r.added() {
			total += got.requests
		}
		assert.EqualValues(t, 6+8+16, total)
	})
}

// A clock that is set back, after all was delivered and deleted, and a restart: the bucket that the clock shows is not begun again.
func TestClockIsSetBackOverARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testConfig(time.Minute)
		s := memory(&c)
		var clock clock
		now := func(s *Settings) { s.Now = clock.now }
		r := start(t, c, keep(s), now)
		r.requests(1)
		time.Sleep(65 * time.Second)
		r.stop()
		assert.Equal(t, []string{"1m from 0s: 1"}, r.emitted())
		clock.off.Store(int64(-30 * time.Second))
		r = start(t, c, keep(s), now)
		r.requests(2)
		time.Sleep(90 * time.Second)
		assert.Equal(t, []string{"1m from 60s: 2"}, r.emitted())
	})
}

// The same after a quiet time, in which a longer interval ended: that is not begun again either.
func TestClockIsSetBackOverARestartIntoALongerInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testConfig(time.Minute, 10*time.Minute)
		s := memory(&c)
		var clock clock
		now := func(s *Settings) { s.Now = clock.now }
		r := start(t, c, keep(s), now)
		r.requests(1)
		time.Sleep(10*time.Minute + 5*time.Second)
		r.stop()
		assert.Equal(t, []string{"1m from 0s: 1", "10m from 0s: 1"}, r.emitted())
		clock.off.Store(int64(-2 * time.Minute))
		r = start(t, c, keep(s), now)
		r.requests(2)
		time.Sleep(13 * time.Minute)
		assert.Equal(t, []string{"1m from 600s: 2", "10m from 600s: 2"}, r.emitted())
	})
}

// A clock that is set back by hours shows a bucket that is closed and not yet delivered: what comes goes into another, for it would be deleted with
// that one.
func TestClockIsSetBackToABucketOnItsWay(t *testing.T) {
	for _, restart := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := testConfig(time.Minute, 2*time.Minute)
			s := memory(&c)
			var clock clock
			now := func(s *Settings) { s.Now = clock.now }
			r := start(t, c, keep(s), now)
			r.takeNothing("a")
			for i := range 2 {
				r.requests(1 << i)
				time.Sleep(time.Minute)
			}
			time.Sleep(4 * time.Hour)
			r.requests(4)
			time.Sleep(2 * time.Second)
			clock.off.Store(int64(-4*time.Hour - 2*time.Minute))
			if restart {
				r.stop()
				r = start(t, c, keep(s), now)
				r.takeNothing("a")
			}
			time.Sleep(2 * time.Second)
			r.requests(8)
			time.Sleep(2 * time.Second)
			r.takeAll("a")
			time.Sleep(5 * time.Minute)
			emitted := map[time.Duration]float64{}
			for b, got := range r.added() {
				emitted[b.Duration()] += got.requests
			}
			assert.EqualValues(t, 1+2+4+8, emitted[time.Minute], "%v", r.emitted())
			assert.EqualValues(t, 1+2+4+8, emitted[2*time.Minute], "%v", r.emitted())
		})
	}
}

// unreadable is a disk of which nothing can be read for a while.
type unreadable struct {
	*store.Memory
	fails atomic.Bool
	only  store.Bucket // which bucket cannot be read; all when it is none
}

func (d *unreadable) Read(b store.Bucket, into *partial.Set) error {
	if d.fails.Load() && (b == d.only || d.only == store.Bucket{}) {
		return errors.New("input/output error")
	}
	return d.Memory.Read(b, into)
}

// A bucket that cannot be read when it ends is waited for by those that it goes on into.
func TestLongBucketsWaitForWhatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testConfig(time.Minute, 2*time.Minute)
		disk := &unreadable{Memory: memory(&c)}
		r := start(t, c, func() (store.Store, error) { return disk, nil }, nil)
		r.requests(1)
		time.Sleep(time.Minute)
		r.requests(2)
		disk.fails.Store(true)
		time.Sleep(61 * time.Second)
		assert.Equal(t, []string{"1m from 0s: 1"}, r.emitted())
		assert.NotZero(t, r.registry.Value("span_metrics.read_errors"))
		disk.fails.Store(false)
		time.Sleep(2 * time.Second)
		assert.Equal(t, []string{"1m from 0s: 1", "1m from 60s: 2", "2m from 0s: 3"}, r.emitted())
	})
}

// fullDisk is a disk that may have no room.
type fullDisk struct {
	*store.Memory
	mu  sync.Mutex
	err atomic.Pointer[error]
}

func (d *fullDisk) Buckets() ([]store.State, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.Memory.Buckets()
}

func (d *fullDisk) fail(err error) { d.err.Store(&err) }

func (d *fullDisk) Commit(changes []store.Change) error {
	if err := d.err.Load(); err != nil && *err != nil {
		return *err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.Memory.Commit(changes)
}

// Disk full: counted, the daemon lives, memory only until there is room.
func TestDiskFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testConfig(time.Minute, 2*time.Minute)
		disk := &fullDisk{Memory: memory(&c)}
		r := start(t, c, func() (store.Store, error) { return store.NewFallback(disk, c.heldLimits()), nil }, nil)
		r.requests(1)
		time.Sleep(10 * time.Second)
		disk.fail(pebblestore.ErrFull)
		r.requests(2)
		time.Sleep(10 * time.Second)
		assert.EqualValues(t, 10, r.registry.Value("span_metrics.commit_errors", "reason:full"))
		assert.EqualValues(t, 1, r.registry.Value("span_metrics.memory_only"))
		time.Sleep(41 * time.Second)
		assert.Equal(t, []string{"1m from 0s: 3"}, r.emitted(), "a bucket is emitted on time")
		r.requests(4)
		time.Sleep(10 * time.Second)
		disk.fail(errors.New("input/output error"))
		time.Sleep(10 * time.Second)
		assert.EqualValues(t, 10, r.registry.Value("span_metrics.commit_errors", "reason:failed"))
		disk.fail(nil)
		r.requests(8)
		time.Sleep(2 * time.Second)
		assert.EqualValues(t, 0, r.registry.Value("span_metrics.memory_only"))
		synctest.Wait()
		states, err := disk.Buckets()
		require.NoError(t, err)
		assert.Len(t, states, 2, "the open buckets are on the disk, and the delivered one is not")
		time.Sleep(40 * time.Second)
		assert.Equal(t, []string{"1m from 0s: 3", "1m from 60s: 12", "2m from 0s: 15"}, r.emitted())
	})
}

// Whatever the disk does: what was sent is committed or waits for the disk, what is committed is emitted, after crashes too, and without one all is both.
func TestCommittedSpansAreThoseThatTheDiskHas(t *testing.T) {
	for _, crashes := range []bool{false, true} {
		t.Run(fmt.Sprint("crashes ", crashes), func(t *testing.T) {
			seed := rand.Uint64()
			t.Log("seed ", seed)
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 0))
				c := testConfig(5*time.Second, 10*time.Second)
				disk := &fullDisk{Memory: memory(&c)}
				fails := func(now bool) {
					if now {
						disk.fail(pebblestore.ErrFull)
					} else {
						disk.fail(nil)
					}
				}
				open := func() (store.Store, error) { return kept{store.NewFallback(disk, c.heldLimits())}, nil }
				sent, committed := 0, 0
				emitted := map[store.Bucket]float64{} // by the life that knew most of a bucket
				for life := range 20 {
					last := life == 19
					r := start(t, c, func() (store.Store, error) {
						if crashes && !last {
							return open()
						}
						return store.NewFallback(disk, c.heldLimits()), nil
					}, nil)
					sentNow, commits := 0, 0
					spans := func() int { return int(r.registry.Value("span_metrics.spans", "family:request")) }
					for range 1 + random.IntN(20) {
						fails(random.IntN(2) == 0)
						n := random.IntN(3)
						r.requests(n)
						sentNow += n
						before := spans()
						time.Sleep(time.Second)
						synctest.Wait()
						assert.EqualValues(t, sentNow, spans()+int(r.registry.Value("span_metrics.waiting_spans")))
						if spans() > before {
							commits++
						}
						assert.EqualValues(t, commits, r.registry.Value("span_metrics.commits"))
					}
					if !crashes || last {
						fails(false)
					} else {
						fails(random.IntN(2) == 0)
					}
					if last {
						time.Sleep(20 * time.Second)
					}
					r.stop()
					sent, committed = sent+sentNow, committed+spans()
					for b, got := range r.added() {
						emitted[b] = max(emitted[b], got.requests)
					}
				}
				total := map[time.Duration]float64{}
				for b, n := range emitted {
					total[b.Duration()] += n
				}
				for _, interval := range c.Intervals {
					assert.LessOrEqual(t, float64(committed), total[interval], interval)
					assert.LessOrEqual(t, total[interval], float64(sent), interval)
				}
				if !crashes {
					assert.Equal(t, sent, committed)
				}
				t.Logf("sent %d, committed %d, emitted %v", sent, committed, total)
			})
		})
	}
}

// A commit counts when it is made, and there is none where nothing came.
func TestCommitsThatAreMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testConfig(time.Hour)
		disk := &fullDisk{Memory: memory(&c)}
		r := start(t, c, func() (store.Store, error) { return store.NewFallback(disk, c.heldLimits()), nil }, nil)
		time.Sleep(10 * time.Second)
		assert.Zero(t, r.registry.Value("span_metrics.commits"))
		r.requests(1)
		time.Sleep(10 * time.Second)
		assert.EqualValues(t, 1, r.registry.Value("span_metrics.commits"))
		disk.fail(pebblestore.ErrFull)
		r.requests(1)
		time.Sleep(10 * time.Second)
		assert.EqualValues(t, 1, r.registry.Value("span_metrics.commits"))
		assert.EqualValues(t, 1, r.registry.Value("span_metrics.spans", "family:request"))
		assert.EqualValues(t, 1, r.registry.Value("span_metrics.waiting_spans"))
		disk.fail(nil)
		r.stop()
		assert.EqualValues(t, 2, r.registry.Value("span_metrics.spans", "family:request"), "the last commit is at the stop")
		assert.Zero(t, r.registry.Value("span_metrics.waiting_spans"))
	})
}

// A store that takes something now and then is told of seldom; one that stays as it is, at once.
func TestDiskThatKeepsChanging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testConfig(time.Hour)
		disk := &fullDisk{Memory: memory(&c)}
		r := start(t, c, func() (store.Store, error) { return store.NewFallback(disk, c.heldLimits()), nil }, nil)
		fails := func(err error) {
			disk.fail(err)
			r.requests(1)
			time.Sleep(time.Second)
		}
		fails(pebblestore.ErrFull)
		synctest.Wait()
		require.Len(t, r.logged.AllEntries(), 1, "the first time at once")
		for range 600 {
			fails(nil)
			fails(pebblestore.ErrFull)
		}
		assert.Less(t, len(r.logged.AllEntries()), 10)
		fails(nil)
		time.Sleep(time.Hour)
		assert.Contains(t, r.logged.LastEntry().Message, "written to the store again", "as it stayed")
		before := len(r.logged.AllEntries())
		time.Sleep(2 * time.Hour)
		fails(pebblestore.ErrFull)
		synctest.Wait()
		assert.Len(t, r.logged.AllEntries(), before+1, "at once again")
		disk.fail(nil)
	})
}

// A store that is not written for another reason than was told is told of, once, be it that it was written in between or not.
func TestDiskThatFailsOfSomethingElse(t *testing.T) {
	gone := fmt.Errorf("%w: %w", pebblestore.ErrBroken, &os.PathError{Op: "stat", Path: "VENEUR-SPAN-METRICS", Err: syscall.ENOENT})
	for name, between := range map[string][]error{"written in between": {nil}, "not written": nil} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := testConfig(time.Hour)
				disk := &fullDisk{Memory: memory(&c)}
				r := start(t, c, func() (store.Store, error) { return store.NewFallback(disk, c.heldLimits()), nil }, nil)
				for _, err := range append(append([]error{pebblestore.ErrFull}, between...), gone) {
					disk.fail(err)
					r.requests(1)
					time.Sleep(2 * time.Second)
				}
				for i := range 600 {
					disk.fail(fmt.Errorf("%w: %w", pebblestore.ErrBroken, &os.PathError{Op: "open", Path: fmt.Sprint(i, ".log"), Err: syscall.ENOENT}))
					time.Sleep(time.Second)
				}
				require.Len(t, r.logged.AllEntries(), 2)
				assert.Equal(t, pebblestore.ErrFull, r.logged.AllEntries()[0].Data[logrus.ErrorKey])
				assert.ErrorIs(t, r.logged.LastEntry().Data[logrus.ErrorKey].(error), syscall.ENOENT)
				disk.fail(nil)
			})
		})
	}
}

// What waits for the disk at a stop is written then, or else is told to be lost.
func TestStopWithoutADisk(t *testing.T) {
	for _, room := range []bool{false, true} {
		t.Run(fmt.Sprint("room ", room), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := testConfig(time.Hour)
				disk := &fullDisk{Memory: memory(&c)}
				r := start(t, c, func() (store.Store, error) { return store.NewFallback(disk, c.heldLimits()), nil }, nil)
				r.requests(1)
				time.Sleep(2 * time.Second)
				disk.fail(pebblestore.ErrFull)
				r.requests(2)
				time.Sleep(2 * time.Second)
				r.requests(4)
				if room {
					disk.fail(nil)
				}
				r.stop()
				var lost []any
				for _, e := range r.logged.AllEntries() {
					if strings.Contains(e.Message, "is lost") {
						lost = append(lost, e.Data["spans"])
					}
				}
				if room {
					assert.Empty(t, lost)
				} else {
					assert.Equal(t, []any{uint64(2 + 4)}, lost)
				}
			})
		})
	}
}

// One warning a service and family, or one overall, a bucket.
func TestOverflowIsWarnedOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := testConfig(time.Minute)
		c.Limits.Services, c.Limits.OperationsPerService = 2, 1
		r := start(t, c, nil, nil)
		for _, service := range []string{"a", "b", "c", "d"} {
			for _, name := range []string{"x", "y", "z"} {
				r.recorder.Add(requestSpan(service, name, time.Second), 1)
			}
		}
		time.Sleep(61 * time.Second)
		var warnings []string
		for _, e := range r.logged.AllEntries() {
			line, err := e.String()
			require.NoError(t, err)
			warnings = append(warnings, line)
		}
		require.Len(t, warnings, 3)
		for i, service := range []string{"a", "b"} {
			assert.Contains(t, warnings[i], `family=operation interval=1m keys=2 service="\"`+service+`\""`)
		}
		assert.Contains(t, warnings[2], "services=2")
		assert.EqualValues(t, 2, r.registry.Value("span_metrics.overflow_services", "interval:1m"))
		assert.EqualValues(t, 2+2+6, r.registry.Value("span_metrics.overflow_keys", "interval:1m", "family:operation"))
		assert.EqualValues(t, 12, r.added()[store.At(60, time.Now().Unix()-60, true)].requests)
	})
}

func TestStartFails(t *testing.T) {
	c := testConfig()
	c.StorePath = "kit_test.go"
	s := New(Settings{Config: c, Emit: func(*Closed) {}, Telemetry: telemetry.New()})
	require.ErrorContains(t, s.Keeper().Start(t.Context()), "span_metrics.store_path: ")
}
