package spanmetrics

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/server/sketch/loghist"
	"github.com/veneurd/veneur/server/spanmetrics/partial"
	"github.com/veneurd/veneur/server/spanmetrics/store"
	"github.com/veneurd/veneur/ssf"
)

// rig is a stage with four recorders, whose clock is that of the test.
type rig struct {
	*Stage
	lanes    [4]*Recorder
	recorder *Recorder // the first of them
	registry *telemetry.Registry
	logged   *logtest.Hook
	stop     func()

	mu      sync.Mutex
	handed  []string            // what was emitted
	hangs   map[string]bool     // sinks to which nothing is delivered
	undone  map[string][]func() // by sink
	sinks   map[string][]string // what was emitted to each
	results map[store.Bucket]sums
}

// sums are what a bucket adds up to, over groups and overflow, in weights of one.
type sums struct {
	requests, failed, dependencies float64
	duration, waiting              time.Duration
}

func sumsOf(set *partial.Set) (s sums) {
	excess := func(e *partial.Excess) {
		if e == nil {
			return
		}
		s.requests += float64(e.Sums.Ok+e.Sums.Failed) / loghist.One
		s.failed += float64(e.Sums.Failed) / loghist.One
		s.duration += time.Duration(e.Sums.OperationDuration.Sum)
		s.dependencies += float64(e.Sums.DependencyWeight) / loghist.One
		s.waiting += time.Duration(e.Sums.DependencySum)
	}
	for i, service := range set.Services() {
		for _, o := range service.Operations {
			s.duration += time.Duration(o.Duration.Sum)
		}
		for _, k := range service.Kinds {
			s.requests += float64(k.Ok+k.Failed) / loghist.One
			s.failed += float64(k.Failed) / loghist.One
		}
		for _, d := range service.Dependencies {
			s.dependencies += float64(d.Weight) / loghist.One
			s.waiting += time.Duration(d.Sum)
		}
		excess(set.Excess(i))
	}
	overall, _ := set.Overall()
	excess(overall)
	return s
}

func testConfig(intervals ...time.Duration) Config {
	c := DefaultConfig()
	c.Enabled = true
	if len(intervals) > 0 {
		c.Intervals = intervals
	}
	return c
}

// start runs, in a bubble, a stage over a store, which may have been that of a stage before.
func start(t *testing.T, c Config, open func() (store.Store, error), change func(*Settings)) *rig {
	r := newRig(t, c, open, change)
	synctest.Wait()
	time.Sleep(time.Millisecond) // so that nothing comes in the instant in which a bucket ends
	return r
}

// newRig runs a stage over a store.
func newRig(t *testing.T, c Config, open func() (store.Store, error), change func(*Settings)) *rig {
	log, hook := logtest.NewNullLogger()
	log.SetLevel(logrus.DebugLevel)
	r := &rig{registry: telemetry.New(), logged: hook, results: map[store.Bucket]sums{}}
	r.hangs, r.undone, r.sinks = map[string]bool{}, map[string][]func(){}, map[string][]string{}
	settings := Settings{Config: c, Sinks: []string{"a"}, Emit: r.emit, Telemetry: r.registry, Log: log, Open: open}
	if change != nil {
		change(&settings)
	}
	r.Stage = New(settings)
	for i := range r.lanes {
		r.lanes[i] = r.NewRecorder()
	}
	r.recorder = r.lanes[0]
	keeper := r.Keeper()
	require.NoError(t, keeper.Start(t.Context()))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- errors.Join(r.Run(ctx), keeper.Run(ctx)) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-done)
	})
	t.Cleanup(r.stop)
	return r
}

func (r *rig) emit(c *Closed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := sumsOf(c.Set)
	r.results[c.Bucket] = got
	late := ""
	if c.Late {
		late = " late"
	}
	text := fmt.Sprintf("%s from %ds%s: %v", intervalName(c.Duration()), c.Start%86400, late, got.requests)
	r.handed = append(r.handed, text)
	for _, sink := range r.s.Sinks {
		switch taken := func() { c.Taken(sink) }; {
		case slices.Contains(c.Had, sink):
			continue
		case r.hangs[sink]:
			r.undone[sink] = append(r.undone[sink], taken)
		default:
			taken()
		}
		r.sinks[sink] = append(r.sinks[sink], text)
	}
}

func (r *rig) emitted() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string{}, r.handed...)
}

// requests counts n requests of 10 ms.
func (r *rig) requests(n int) {
	for range n {
		r.recorder.Add(requestSpan("checkout", "GET /cart", 10*time.Millisecond), time.Now().Unix())
	}
}

func requestSpan(service, name string, d time.Duration) *ssf.SSFSpan {
	return &ssf.SSFSpan{TraceId: 7, Id: 7, StartTimestamp: 1e18, EndTimestamp: 1e18 + int64(d), Service: service, Name: name}
}

// kept is a store that outlives its stage, as one on disk does.
type kept struct{ store.Store }

func (kept) Close() error { return nil }

func keep(s store.Store) func() (store.Store, error) {
	return func() (store.Store, error) { return kept{s}, nil }
}

func memory(c *Config) *store.Memory { return store.NewMemory(c.heldLimits()) }

func (r *rig) added() map[store.Bucket]sums {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.results)
}

// takeNothing has nothing delivered to a sink until takeAll.
func (r *rig) takeNothing(sink string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hangs[sink] = true
}

// takeAll has delivered to a sink what was emitted so far.
func (r *rig) takeAll(sink string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, taken := range r.undone[sink] {
		taken()
	}
	r.undone[sink] = nil
}

// emittedTo returns what was emitted to a sink.
func (r *rig) emittedTo(sink string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string{}, r.sinks[sink]...)
}
