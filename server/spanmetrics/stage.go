package spanmetrics

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/server/spanmetrics/partial"
	"github.com/veneurd/veneur/server/spanmetrics/pebblestore"
	"github.com/veneurd/veneur/server/spanmetrics/store"
)

// Settings is what a Stage is made of.
type Settings struct {
	Config Config // valid
	// ExtendTags are tags, "key:value", that every series has, whatever a span says. Those with keys by which series are told apart, as
	// service and interval, are left out.
	ExtendTags []string
	// ExcludedTags are keys of tags that no service is known by.
	ExcludedTags []string
	// Sinks are the names of those that a bucket is for. Each has it once; one that is new, over a restart, has what is there then.
	Sinks []string
	// Emit hands a bucket on that is over. It is called by Run's goroutine, in the order in which buckets end.
	Emit      func(*Closed)
	Telemetry *telemetry.Registry
	Log       logrus.FieldLogger

	// Now is the clock; nil is that of the system.
	Now func() time.Time
	// Open opens the store; nil opens the one that the configuration names.
	Open func() (store.Store, error)
	// EmitOpen has Run hand on, at its end, what is in memory only and not over, since nobody else will.
	EmitOpen bool
}

// Closed is a bucket that takes nothing any more.
type Closed struct {
	store.Bucket
	Late bool // it had ended before the stage began
	// Ended is when it ended, in whole seconds: its End, unless the stage did not live to see that.
	Ended time.Time
	Set   *partial.Set // lent for the call of Emit
	// Had are sinks that a stage before this one knew to be done with the bucket, and that are not to have it again. It is not changed any more.
	Had []string
	// Taken is called once for each of the other sinks, from any goroutine, when what the bucket gave is delivered, or given up. The store has it
	// in mind, and lets go of the bucket when all are done with it.
	Taken func(sink string)
}

// Stage commits what recorders count, closes buckets and hands them on.
type Stage struct {
	s         Settings
	stats     stats
	recorders []*Recorder
	started   time.Time
	store     store.Store
	fallback  *store.Fallback // the store, where it is one

	open       store.Bucket                    // where spans go
	known      *partial.Known                  // the keys of that
	rollups    map[store.Bucket]*partial.Known // those of the longer buckets that are open
	memoryOnly told                            // what was logged of what should be on disk
	failed     error                           // the last of a write
	pending    counts                          // of what is not known to be on disk
	ended      bool                            // buckets may have ended that are not handed on
	due        int64                           // when the next ends, in unix seconds, that is not the open one
	closed     map[store.Bucket]bool           // closed and not yet deleted, as whole says
	handed     map[store.Bucket][]string       // of these, handed on, and which sinks are not done with it
	set        *partial.Set                    // a bucket at a time, while buckets are closed
	part       *partial.Set                    // what goes on into a longer one, meanwhile
	changes    []store.Change
	wire       []byte

	life  sync.Mutex // held while Run is at work, by whom all of the above is used
	mu    sync.Mutex
	taken []store.Change // which buckets sinks are done with, to be written
}

// reserve is how much of a disk the store leaves to others, in bytes.
const reserve = 64 << 20

// New returns a stage. It opens nothing and starts nothing.
func New(s Settings) *Stage {
	if s.Now == nil {
		s.Now = time.Now
	}
	stage := &Stage{s: s, stats: newStats(s.Telemetry), closed: map[store.Bucket]bool{}, handed: map[store.Bucket][]string{}, rollups: map[store.Bucket]*partial.Known{}}
	stage.known = partial.NewKnown(s.Config.limits())
	s.Config.ResourceTags = slices.DeleteFunc(slices.Clone(s.Config.ResourceTags), func(key string) bool {
		return slices.Contains(s.ExcludedTags, key) || slices.ContainsFunc(s.ExtendTags, func(tag string) bool { return metric.TagKey(tag) == key })
	})
	stage.s.Config = s.Config
	// A service:web for everything, or an interval, would make one series of many, and each sink would keep another part of it.
	stage.s.ExtendTags = slices.DeleteFunc(slices.Clone(s.ExtendTags), func(tag string) bool {
		return slices.Contains(ownTags, metric.TagKey(tag))
	})
	if s.Open == nil {
		stage.s.Open = stage.openStore
	}
	return stage
}

// NewRecorder returns a recorder of the stage. It is called before Start.
func (s *Stage) NewRecorder() *Recorder {
	r := newRecorder(s.s.Config.dimensions(), s.s.Config.limits(), s.known)
	s.recorders = append(s.recorders, r)
	return r
}

func (s *Stage) openStore() (store.Store, error) {
	if s.s.Config.StorePath == "" {
		return store.NewMemory(s.s.Config.heldLimits()), nil
	}
	disk, err := pebblestore.Open(pebblestore.Settings{
		Path: s.s.Config.StorePath, Limits: s.s.Config.heldLimits(), Reserve: reserve, Log: s.s.Log,
	})
	if err != nil {
		return nil, err
	}
	s.s.Telemetry.Func(&descUnreadable, func() float64 { return float64(disk.Corrupt()) })
	s.s.Telemetry.Func(&descLost, func() float64 { return float64(disk.Lost()) }, reasonDamagedLog)
	s.s.Telemetry.Func(&descStoreBytes, func() float64 { return float64(disk.Bytes()) })
	return store.NewFallback(disk, s.s.Config.heldLimits()), nil
}

// Run works until ctx is done and commits what is left. The stage's Keeper has been started, and goes on until what was handed on is delivered.
func (s *Stage) Run(ctx context.Context) error {
	s.life.Lock()
	defer s.life.Unlock()
	s.begin(s.s.Now())
	timer := time.NewTimer(s.wait(s.s.Now()))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			s.tick(s.s.Now())
			s.end(s.s.Now())
			return nil
		case <-timer.C:
			s.tick(s.s.Now())
			timer.Reset(s.wait(s.s.Now()))
		}
	}
}

// interval returns the shortest interval, in seconds.
func (s *Stage) interval() int64 { return int64(s.s.Config.Intervals[0] / time.Second) }

// wait returns how long it is to the next commit, or to the end of the open bucket if that is sooner.
func (s *Stage) wait(now time.Time) time.Duration {
	every := s.s.Config.CommitInterval
	wait := every - time.Duration(now.UnixNano()%int64(every))
	if left := time.Unix(s.open.End(), 0).Sub(now); left > 0 {
		wait = min(wait, left)
	}
	return wait
}

// maxBack is by how much the clock may go back without buckets being used again that are closed.
const maxBack = store.MaxBack

// begin goes on where a stage before this one was.
func (s *Stage) begin(now time.Time) {
	s.started = now
	s.resume(now)
	s.closeEnded(now)
}

// resume finds out which bucket spans go into, and which keys that has. It is called before there are spans, and again when Run begins.
func (s *Stage) resume(now time.Time) {
	before := s.open
	s.open = store.At(s.interval(), now.Unix(), true)
	states, err := s.store.Buckets()
	if err != nil {
		s.stats.readErrors.Inc()
		s.s.Log.WithError(err).Error("the store of span metrics cannot be read")
	}
	for _, b := range states {
		if b.Closed {
			s.closed[whole(b.Bucket)] = true
			s.begun(b.Bucket, now)
		}
	}
	s.begun(s.store.Last(), now)
	s.open = s.unclosed(s.open)
	s.adopt(states, now)
	if s.open != before {
		s.known = s.knownIn(s.open)
		for _, r := range s.recorders {
			r.use(s.known)
		}
	}
}

// begun goes on after a bucket that is closed, unless the clock was far ahead when it was.
func (s *Stage) begun(b store.Bucket, now time.Time) {
	if b.End() > s.open.Start && b.End() <= now.Add(maxBack).Unix() {
		s.open = store.At(s.interval(), b.End(), true)
	}
}

// tick commits what came, and hands on what is over.
func (s *Stage) tick(now time.Time) {
	next := s.open
	if open := store.At(s.interval(), now.Unix(), true); open.Start > s.open.Start || s.open.End() > now.Add(maxBack).Unix()+s.open.Interval {
		// A clock that was set back a little is waited for: the bucket it shows is emitted. So is not one that was far ahead.
		next = s.unclosed(open)
	}
	if next != s.open {
		s.known = s.knownIn(next) // before what is counted for it is
	}
	s.commit()
	if next != s.open {
		s.open, s.ended = next, true
	}
	if s.ended || s.due <= now.Unix() {
		s.closeEnded(now)
	}
	s.forget()
	s.tell(s.failed)
}

// commit writes what the recorders have into the open bucket. What they get from now on is for that of s.known.
func (s *Stage) commit() {
	s.changes, s.wire = s.changes[:0], s.wire[:0]
	var ends []int
	for i, r := range s.recorders {
		set, c := r.take(s.known)
		s.pending.add(&c)
		if !set.Empty() {
			s.wire = set.AppendTo(s.wire)
			ends = append(ends, len(s.wire))
			s.changes = append(s.changes, store.Change{Op: store.Merge, Bucket: s.open, Partition: uint16(i)})
		}
		set.Reset()
	}
	start := 0
	for i, end := range ends {
		s.changes[i].Partial = s.wire[start:end]
		start = end
	}
	if len(s.changes) > 0 || s.waiting() {
		s.write(s.changes)
	}
	if cap(s.wire) > maxKept {
		s.wire = nil
	}
}

// maxKept is how many bytes of a commit are kept for the next.
const maxKept = 4 << 20

func (s *Stage) waiting() bool { return s.fallback != nil && s.fallback.Waiting() }

// write makes changes. What the disk does not take is in memory.
func (s *Stage) write(changes []store.Change) {
	err := s.store.Commit(changes)
	if err == nil && s.pending.total() > 0 {
		s.stats.commits.Inc()
		s.stats.add(&s.pending) // not before: who reads it may rely on what it says
		s.pending = counts{}
	}
	s.stats.waiting.Set(float64(s.pending.total()))
	switch {
	case err == nil:
	case errors.Is(err, pebblestore.ErrFull):
		s.stats.full.Inc()
	default:
		s.stats.failed.Inc()
	}
	if s.waiting() {
		s.stats.inMemory.Set(1)
	} else {
		s.stats.inMemory.Set(0)
	}
	if err != nil {
		s.failed = err
	}
	s.tell(s.failed)
}

// told is which state was logged last, of a store that is written or is not.
type told struct {
	memoryOnly error // why it is not written; nil when it is
	at         time.Time
	pause      time.Duration // until the next change is logged
}

// Pauses between messages about a store that keeps changing its mind.
const (
	minPause = 10 * time.Second
	maxPause = time.Hour
)

// tell logs that the store takes nothing, for another reason than before, or something again, if that is not what was logged last. One that does not
// stay so is logged seldom and more seldom.
func (s *Stage) tell(err error) {
	t, now := &s.memoryOnly, s.s.Now()
	since := now.Sub(t.at)
	var why error
	if s.waiting() {
		why = reasonOf(err)
	}
	if errors.Is(t.memoryOnly, why) || since < t.pause && since >= 0 {
		return
	}
	if t.pause = min(max(2*t.pause, minPause), maxPause); since > maxPause {
		t.pause = minPause
	}
	t.memoryOnly, t.at = why, now
	if why != nil {
		s.s.Log.WithError(err).Warn("span metrics cannot be written to the store and are kept in memory until they can")
	} else {
		s.s.Log.Info("span metrics are written to the store again")
	}
}

// reasonOf returns one of few errors for what a write failed of, so that what names another file each time is not another reason.
func reasonOf(err error) error {
	for _, reason := range []error{pebblestore.ErrFull, fs.ErrNotExist} {
		if errors.Is(err, reason) {
			return reason
		}
	}
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		return errno
	}
	return pebblestore.ErrBroken
}
