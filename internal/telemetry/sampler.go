package telemetry

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
)

const (
	samplePeriod  = time.Minute
	maxSampleKeys = 64
	maxExample    = 256 // bytes; 64 characters are printed
	otherKey      = "other"
)

// LogSampler logs for those that must not: a reader of sockets notes each bad line, and one a minute is logged for each reason, with how
// many there were. Noting never writes to the log, which may block; Run does. Beyond 64 keys the further ones are noted together as
// "other".
type LogSampler struct {
	log  logrus.FieldLogger
	keys atomic.Pointer[map[string]*sampled] // replaced, never changed
	mu   sync.Mutex                          // held to replace keys and to touch what it guards in a sampled; never while logging
	wake chan struct{}
}

// sampled is what was noted under one key since it was last logged.
type sampled struct {
	count   atomic.Uint64
	full    atomic.Bool // there is an example; set under mu
	example [maxExample]byte
	n       int
	quiet   bool // it was logged less than a period before due
	due     time.Time
}

// NewLogSampler returns a sampler whose Run is not running; what is noted meanwhile waits for it.
func NewLogSampler(log logrus.FieldLogger) *LogSampler {
	s := &LogSampler{log: log, wake: make(chan struct{}, 1)}
	s.keys.Store(&map[string]*sampled{})
	return s
}

// Note counts one event. key is the message it will be logged with, a constant; example, a line or packet that shows it, is copied
// when it is the first since the key was logged, and not kept otherwise. Any number of goroutines may call it; for a known key with an
// example it costs a map look-up and an atomic add, and it never allocates for a known key.
func (s *LogSampler) Note(key string, example []byte) {
	k := (*s.keys.Load())[key]
	if k == nil {
		k = s.add(key)
	}
	k.count.Add(1)
	if k.full.Load() {
		return
	}
	s.mu.Lock()
	loud := false
	if !k.full.Load() {
		k.n = copy(k.example[:], example)
		k.full.Store(true)
		loud = !k.quiet
	}
	s.mu.Unlock()
	if loud {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

func (s *LogSampler) add(key string) *sampled {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := *s.keys.Load()
	if len(keys) >= maxSampleKeys && keys[key] == nil {
		key = otherKey
	}
	if k := keys[key]; k != nil {
		return k
	}
	keys = maps.Clone(keys)
	k := &sampled{}
	keys[strings.Clone(key)] = k
	s.keys.Store(&keys)
	return k
}

// Run logs what is noted: a key's first event at once, then at most one message a minute. When ctx is done it logs what is left and
// returns nil.
func (s *LogSampler) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.wake:
		case <-timer.C:
		case <-ctx.Done():
			s.report(time.Now(), true)
			return nil
		}
		timer.Reset(s.report(time.Now(), false))
	}
}

type sampleMessage struct {
	key     string
	count   uint64
	example string
}

// report logs what is due, or all, and returns when to look again.
func (s *LogSampler) report(now time.Time, all bool) (next time.Duration) {
	messages, next := s.collect(now, all)
	slices.SortFunc(messages, func(a, b sampleMessage) int { return strings.Compare(a.key, b.key) })
	for _, m := range messages {
		s.log.WithFields(logrus.Fields{"count": m.count, "example": m.example}).Warn(m.key)
	}
	return next
}

func (s *LogSampler) collect(now time.Time, all bool) (messages []sampleMessage, next time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next = samplePeriod
	for key, k := range *s.keys.Load() {
		if wait := k.due.Sub(now); k.quiet && !all && wait > 0 {
			next = min(next, wait)
			continue
		}
		k.quiet = false
		if !k.full.Load() {
			continue
		}
		// A count of 0 with an example is that of a Note whose count went with the message before.
		if count := k.count.Swap(0); count > 0 {
			messages = append(messages, sampleMessage{key, count, fmt.Sprintf("%.64q", k.example[:k.n])})
			k.quiet, k.due = true, now.Add(samplePeriod)
		}
		k.full.Store(false)
	}
	return messages, next
}
