package delivery_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/delivery"
	"github.com/veneurd/veneur/sinks/diskqueue"
	"github.com/veneurd/veneur/sinks/sinktest"
)

// onDisk is a rig whose delivery keeps what waits in dir, started.
func onDisk(t *testing.T, dir string, change func(*delivery.Config)) *rig {
	t.Helper()
	r := newRig(t, nil, func(c *delivery.Config) {
		c.DiskQueue.Path = dir
		if change != nil {
			change(c)
		}
	})
	require.NoError(t, r.Start(t.Context()))
	return r
}

func (r *rig) down() {
	r.rec.AnswerWith(func(context.Context, sinktest.Attempt) error { return errBackend })
}

// What a backend that is down did not get is on disk after a stop, and the next daemon sends it first, with equal values and in order.
func TestDiskKeepsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		r := onDisk(t, dir, func(c *delivery.Config) { c.ChunkItems = 10 })
		r.down()
		stop := run(t, r)
		whole := sinktest.Batch()
		whole.Distributions = nil
		r.Offer(whole)
		for i := range 5 {
			r.Offer(batch(25, float64(i)))
		}
		time.Sleep(time.Hour)
		n := uint64(whole.Len() + 125)
		r.settled(delivery.Ledger{Waiting: n, Stored: n})
		text, ok := r.Stored()
		require.True(t, ok)
		assert.Regexp(t, `^\d+ items in \d+ records wait on disk, \d+ bytes, the oldest for 1h0m0s$`, text)
		assert.EqualValues(t, n, r.reg.Value("sink.disk_waiting", "sink:out", "signal:points"))
		assert.Positive(t, r.reg.Value("sink.disk_bytes"))
		assert.Positive(t, r.reg.Value("sink.disk_records"))
		assert.Equal(t, 3600.0, r.reg.Value("sink.disk_age"))
		stop()
		r.settled(delivery.Ledger{Waiting: n, Stored: n})
		fields, ok := r.logged("left on disk, to be sent after the next start")
		require.True(t, ok)
		assert.EqualValues(t, n, fields["items"])

		r = onDisk(t, dir, nil)
		r.settled(delivery.Ledger{Waiting: n, Stored: n, Replayed: n})
		_, ok = r.logged("found on disk, to be sent first")
		require.True(t, ok)
		r.Offer(batch(1, 77))
		stop = run(t, r)
		time.Sleep(time.Second)
		stop()
		r.settled(delivery.Ledger{Sent: n + 1, Replayed: n})
		got := &sinks.Batch{End: whole.End, Interval: whole.Interval}
		for _, b := range r.rec.Batches() {
			if b.End.Equal(whole.End) {
				got.Points = append(got.Points, b.Points...)
				got.Events = append(got.Events, b.Events...)
				got.Checks = append(got.Checks, b.Checks...)
				got.More = b.More
			}
		}
		require.Equal(t, whole, got)
		values := r.values()
		assert.Equal(t, []float64{0, 1, 2, 3, 4, 77}, values[len(values)-6:])
		_, ok = r.Stored()
		require.False(t, ok)

		r = onDisk(t, dir, nil)
		r.settled(delivery.Ledger{})
		require.NoError(t, r.Close())
	})
}

// A chunk that was taken is not sent again after a restart; one that is half settled is, whole.
func TestDiskKeepsProgressByChunks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		r := onDisk(t, dir, func(c *delivery.Config) { c.ChunkItems = 10 })
		r.rec.Answer(nil, sinks.Permanent(errBackend), &sinks.PartialError{
			Err: &sinks.RetryAfter{After: time.Hour, Err: errBackend}, Items: []sinks.Item{item(3, sinks.Retry, "")},
		})
		stop := run(t, r)
		r.Offer(batch(45, 1))
		time.Sleep(time.Second)
		stop()
		r.settled(delivery.Ledger{Sent: 19, Refused: 10, Waiting: 16, Stored: 16})
		r = onDisk(t, dir, nil)
		r.settled(delivery.Ledger{Waiting: 25, Stored: 25, Replayed: 25})
		stop = run(t, r)
		time.Sleep(time.Second)
		stop()
		r.settled(delivery.Ledger{Sent: 25, Replayed: 25})
	})
}

func TestDiskOutlastsMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := onDisk(t, t.TempDir(), func(c *delivery.Config) { c.QueueItems, c.ChunkItems = 100, 50 })
		r.down()
		stop := run(t, r)
		for i := range 50 {
			r.Offer(batch(100, float64(i)))
			time.Sleep(interval)
			require.Zero(t, r.lawful().WaitingBytes, "nothing is held in memory")
		}
		require.EqualValues(t, 5000, r.lawful().Stored)
		r.rec.AnswerWith(nil)
		time.Sleep(2 * time.Minute)
		stop()
		r.settled(delivery.Ledger{Sent: 5000})
	})
}

func TestDiskIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		r := onDisk(t, dir, func(c *delivery.Config) { c.DiskQueue.MaxBytes = 1 << 20 })
		r.down()
		stop := run(t, r)
		for i := range 30 {
			r.Offer(batch(5000, float64(i)))
			time.Sleep(time.Second)
			r.lawful()
		}
		l := r.lawful()
		require.NotZero(t, l.Overflow)
		require.Equal(t, float64(l.Overflow), r.reg.Value("sink.disk_dropped", "reason:full"))
		require.LessOrEqual(t, r.reg.Value("sink.disk_bytes"), float64(1<<20))
		r.rec.AnswerWith(nil)
		time.Sleep(2 * time.Minute)
		stop()
		l = r.lawful()
		r.settled(delivery.Ledger{Sent: l.Sent, Overflow: 150_000 - l.Sent})
		values := r.values()
		require.Equal(t, 29.0, values[len(values)-1])
	})
}

func TestAgeOnDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		r := onDisk(t, dir, func(c *delivery.Config) { c.DiskQueue.MaxAge = time.Hour })
		r.down()
		stop := run(t, r)
		r.Offer(batch(3, 1))
		time.Sleep(40 * time.Minute) // expire_after is ten minutes
		r.Offer(batch(4, 2))
		time.Sleep(15 * time.Minute)
		r.settled(delivery.Ledger{Waiting: 7, Stored: 7})
		stop()
		time.Sleep(10 * time.Minute)
		r = onDisk(t, dir, func(c *delivery.Config) { c.DiskQueue.MaxAge = time.Hour })
		stop = run(t, r)
		synctest.Wait()
		stop()
		r.settled(delivery.Ledger{Expired: 3, Sent: 4, Replayed: 7})
		require.Equal(t, 3.0, r.reg.Value("sink.disk_dropped", "reason:age"))
	})
}

// While the disk takes nothing the queue is in memory, and the daemon lives.
func TestDiskThatTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "queue")
		away := dir + ".away"
		r := onDisk(t, dir, func(c *delivery.Config) { c.QueueItems, c.ChunkItems = 1000, 100 })
		require.NoError(t, os.Rename(dir, away))
		require.NoError(t, os.WriteFile(dir, nil, 0o600)) // so that no directory can be made
		stop := run(t, r)
		r.Offer(batch(10, 1))
		time.Sleep(time.Second)
		r.settled(delivery.Ledger{Sent: 10})
		text, ok := r.Stored()
		require.True(t, ok)
		require.Contains(t, text, "the disk takes nothing: mkdir "+dir)
		require.Positive(t, r.reg.Value("sink.disk_errors"))
		_, ok = r.logged("the disk takes nothing; until it does, the queue is in memory only")
		require.True(t, ok)
		r.down()
		for i := range 20 {
			r.Offer(batch(100, float64(2+i)))
			r.lawful()
			time.Sleep(time.Second)
		}
		l := r.lawful()
		require.LessOrEqual(t, l.Waiting, uint64(1100))
		require.NotZero(t, l.Overflow)
		require.Zero(t, l.Stored)

		require.NoError(t, os.Remove(dir))
		require.NoError(t, os.Rename(away, dir))
		time.Sleep(time.Minute)
		l = r.lawful()
		require.NotZero(t, l.Stored, "there is room again")
		_, ok = r.logged("the disk takes the queue again")
		require.True(t, ok)
		r.rec.AnswerWith(nil)
		time.Sleep(2 * time.Minute)
		stop()
		l = r.lawful()
		r.settled(delivery.Ledger{Sent: l.Sent, Overflow: l.Overflow})
		require.IsIncreasing(t, r.values())
	})
}

// Somebody removes the directory under the daemon, or what is in it: that is said and counted, and what comes after is on disk again.
func TestDirectoryThatIsRemoved(t *testing.T) {
	empty := func(pattern string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			paths, err := filepath.Glob(filepath.Join(dir, pattern))
			require.NoError(t, err)
			require.NotEmpty(t, paths)
			for _, path := range paths {
				require.NoError(t, os.Remove(path))
			}
		}
	}
	for _, tt := range []struct {
		name   string
		remove func(t *testing.T, dir string)
		idle   bool // nothing comes in for a while after it
		lost   uint64
	}{
		{"the directory", func(t *testing.T, dir string) { require.NoError(t, os.RemoveAll(dir)) }, false, 40},
		{"the directory, while nothing comes", func(t *testing.T, dir string) { require.NoError(t, os.RemoveAll(dir)) }, true, 40},
		{"what is in it", empty("*"), false, 40},
		{"the lock", empty("lock"), false, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "queue")
				r := onDisk(t, dir, nil)
				r.down()
				stop := run(t, r)
				for i := range 5 {
					r.Offer(batch(10, float64(i)))
				}
				time.Sleep(time.Minute)
				r.settled(delivery.Ledger{Waiting: 50, Stored: 50})
				tt.remove(t, dir)
				if tt.idle {
					time.Sleep(time.Minute)
					require.DirExists(t, dir)
					r.settled(delivery.Ledger{Waiting: 10, Stored: 10, Expired: 40})
				}
				r.Offer(batch(20, 5))
				time.Sleep(time.Second)
				r.settled(delivery.Ledger{Waiting: 70 - tt.lost, Stored: 70 - tt.lost, Expired: tt.lost}) // the oldest is being sent
				require.Equal(t, float64(tt.lost), r.reg.Value("sink.disk_dropped", "reason:removed"))
				require.Equal(t, 1.0, r.reg.Value("sink.disk_errors"))
				fields, ok := r.logged("the directory of the disk queue was removed or emptied; it is made anew")
				require.True(t, ok)
				require.EqualValues(t, tt.lost, fields["lost"])

				r.rec.AnswerWith(nil)
				time.Sleep(2 * time.Minute)
				r.settled(delivery.Ledger{Sent: 70 - tt.lost, Expired: tt.lost})
				require.Zero(t, r.reg.Value("sink.disk_age"))
				r.down()
				r.Offer(batch(7, 6))
				time.Sleep(time.Second)
				stop()
				r = onDisk(t, dir, nil)
				r.settled(delivery.Ledger{Waiting: 7, Stored: 7, Replayed: 7})
				require.NoError(t, r.Close())
			})
		})
	}
}

func TestDamageOnDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		r := onDisk(t, dir, nil)
		r.down()
		stop := run(t, r)
		for i := range 5 {
			r.Offer(batch(10, float64(i)))
		}
		time.Sleep(time.Minute)
		paths, err := filepath.Glob(filepath.Join(dir, "*.seg"))
		require.NoError(t, err)
		require.Len(t, paths, 1)
		file, err := os.ReadFile(paths[0])
		require.NoError(t, err)
		file[len(file)-10] ^= 1 // in the last record
		file[len(file)/2] ^= 1  // in the middle one
		require.NoError(t, os.WriteFile(paths[0], file, 0o600))
		r.rec.AnswerWith(nil)
		time.Sleep(2 * time.Minute)
		stop()
		r.settled(delivery.Ledger{Sent: 30, Expired: 20})
		require.Equal(t, 20.0, r.reg.Value("sink.disk_dropped", "reason:damaged"))
		require.Equal(t, 2.0, r.reg.Value("sink.disk_corrupt"))
	})
}

func TestDiskOfSpans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		with := func(c *delivery.SpanConfig) { c.DiskQueue.Path, c.ChunkItems = dir, 100 }
		r := newSpanRig(t, with)
		require.NoError(t, r.Spans.Start(t.Context()))
		r.rec.AnswerWith(func(context.Context, sinktest.Attempt) error { return errBackend })
		stop := run(t, r.Spans)
		for i := range 1050 {
			r.OfferSpan(span(i))
		}
		time.Sleep(time.Minute)
		r.settled(delivery.Ledger{Waiting: 1050, Stored: 1050})
		for i := range 7 {
			r.OfferSpan(span(1050 + i)) // they linger when the stop comes
		}
		stop()
		r.settled(delivery.Ledger{Waiting: 1057, Stored: 1057})

		r = newSpanRig(t, with)
		require.NoError(t, r.Spans.Start(t.Context()))
		stop = run(t, r.Spans)
		time.Sleep(time.Second)
		stop()
		r.settled(delivery.Ledger{Sent: 1057, Replayed: 1057})
		for i, id := range ids(r.rec.Spans()) {
			require.EqualValues(t, i, id)
		}
	})
}

// A sink that hangs for ever keeps nobody else from anything, and its data is on disk, not in memory.
func TestHangingSinkFillsTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		dir := t.TempDir()
		r := onDisk(t, dir, nil)
		r.rec.AnswerWith(func(context.Context, sinktest.Attempt) error { <-release; return nil })
		stop := run(t, r)
		for i := range 20 {
			r.Offer(batch(100, float64(i)))
			time.Sleep(interval)
			require.Zero(t, r.lawful().WaitingBytes)
		}
		assert.LessOrEqual(t, stop(), drain+4*time.Second)
		r.settled(delivery.Ledger{Waiting: 2000, Stored: 2000})
		close(release)
		synctest.Wait()
		r.settled(delivery.Ledger{Waiting: 2000, Stored: 2000})
	})
}

func TestDiskThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	first := onDisk(t, dir, nil)
	second := newRig(t, nil, func(c *delivery.Config) { c.DiskQueue.Path = dir })
	err := second.Start(t.Context())
	require.ErrorIs(t, err, diskqueue.ErrLocked)
	require.ErrorContains(t, err, "sink out: disk_queue: "+dir)
	require.NoError(t, second.Close())
	require.NoError(t, first.Close())

	broken := newRig(t, &housed{startErr: os.ErrPermission}, func(c *delivery.Config) { c.DiskQueue.Path = dir })
	require.ErrorIs(t, broken.Start(t.Context()), os.ErrPermission)
	require.NoError(t, onDisk(t, dir, nil).Close(), "a sink that does not start lets its directory go")
}

func TestBuildingOpensNoDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "queue")
	r := newRig(t, nil, func(c *delivery.Config) { c.DiskQueue.Path = dir })
	_, err := os.Stat(dir)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, r.Close())
}

// However a sink answers, and however often the daemon is started again, every item is at one place, and none is lost that is not said to be.
func TestLedgerWithDiskAddsUpAtEveryMoment(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for round := range uint64(8) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, round))
			dir := t.TempDir()
			left := uint64(0)
			for start := range uint64(4) {
				r := onDisk(t, dir, func(c *delivery.Config) {
					c.QueueItems, c.ChunkItems = 200+rnd.IntN(1000), 1+rnd.IntN(200)
					c.RetryAttempts = rnd.IntN(4)
					c.DiskQueue.MaxAge = time.Hour
				})
				require.Equal(t, left, r.lawful().Replayed)
				c := &chaos{rnd: rand.New(rand.NewPCG(seed, round*10+start))}
				r.rec.AnswerWith(func(ctx context.Context, a sinktest.Attempt) error { return c.answer(ctx, a.Len()) })
				stop := run(t, r)
				offered := left
				for range 20 {
					n := rnd.IntN(300)
					offered += uint64(n)
					r.Offer(batch(n, 1))
					for range 3 {
						time.Sleep(2 * time.Second)
						l := r.lawful()
						require.Equal(t, offered, l.Offered)
						require.LessOrEqual(t, l.Stored, l.Waiting)
					}
				}
				stop()
				l := r.lawful()
				require.Equal(t, l.Stored, l.Waiting)
				require.Zero(t, l.WaitingBytes)
				require.Zero(t, l.Overflow)
				time.Sleep(time.Minute) // what was left behind has ended
				q, err := diskqueue.Open(diskqueue.Config{Path: dir, MaxBytes: 1 << 30, MaxAge: time.Hour}, "points")
				if err != nil { // a hanging sink has it still
					return
				}
				left = uint64(q.State().Items)
				require.GreaterOrEqual(t, left, l.Stored)
				require.NoError(t, q.Close())
			}
		})
	}
}
