package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/leaktest"
	"github.com/veneurd/veneur/internal/lifecycle"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// history is what happened, in order; it is also the group's log.
type history struct {
	mu    sync.Mutex
	lines []string
}

func (h *history) note(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, fmt.Sprintf(format, args...))
}

func (h *history) Warnf(format string, args ...any) { h.note("log: "+format, args...) }

func (h *history) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	lines := h.lines
	h.lines = nil
	return lines
}

// part is a Runner, Starter and Closer that tells a history.
type part struct {
	*history
	name  string
	start error
	end   func(ctx context.Context) error // what Run does; nil waits for ctx
}

func (p *part) String() string { return p.name }

func (p *part) Start(context.Context) error {
	p.note("start %s", p.name)
	return p.start
}

func (p *part) Close() error {
	p.note("close %s", p.name)
	return nil
}

func (p *part) Run(ctx context.Context) error {
	defer p.note("end %s", p.name)
	if p.end != nil {
		return p.end(ctx)
	}
	<-ctx.Done()
	return nil
}

// tookFor is an end that needs d after it is told to stop.
func tookFor(d time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		<-ctx.Done()
		time.Sleep(d)
		return nil
	}
}

func TestStagesStartInOrderAndStopInReverse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &history{}
		g := lifecycle.New(h)
		g.Stage("sinks", time.Second, &part{history: h, name: "sink 1", end: tookFor(time.Millisecond)}, &part{history: h, name: "sink 2"})
		g.Stage("empty", time.Second)
		g.Stage("no grace", 0, &part{history: h, name: "quick"})
		g.Stage("flusher", 2*time.Second, &part{history: h, name: "flusher", end: tookFor(time.Second)})
		g.Stage("listeners", time.Second, &part{history: h, name: "listener", end: tookFor(100 * time.Millisecond)})
		g.OnReady(func() { h.note("ready") })
		g.OnStopping(func() { h.note("stopping") })

		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- g.Run(ctx) }()
		synctest.Wait()
		require.Equal(t, []string{"start sink 1", "start sink 2", "start quick", "start flusher", "start listener", "ready"}, h.take())

		cancel()
		begin := time.Now()
		require.NoError(t, <-done)
		require.Equal(t, []string{"stopping", "end listener", "end flusher", "end quick", "end sink 2", "end sink 1"}, h.take())
		require.Equal(t, 1101*time.Millisecond, time.Since(begin), "each stage waits for the one after it")
	})
}

func TestGraceExceededIsAFailureAndTheRestStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &history{}
		release := make(chan struct{})
		g := lifecycle.New(h)
		g.Stage("sinks", time.Second, &part{history: h, name: "sink"})
		g.Stage("listeners", 3*time.Second,
			&part{history: h, name: "good"},
			&part{history: h, name: "hangs", end: func(context.Context) error { <-release; return errors.New("too late") }})

		ctx, cancel := context.WithCancel(t.Context())
		cancel2 := time.AfterFunc(time.Minute, cancel)
		defer cancel2.Stop()
		begin := time.Now()
		require.EqualError(t, g.Run(ctx), "listeners: hangs did not end within 3s and is left behind")
		require.Equal(t, time.Minute+3*time.Second, time.Since(begin))
		require.Equal(t, []string{
			"start sink", "start good", "start hangs", "end good", "end sink",
		}, h.take())

		close(release) // what was left behind can still end: nothing waits for its result
	})
}

func TestWhatOneStageLeavesOfItsGraceIsTheNextOnes(t *testing.T) {
	for _, tt := range []struct {
		name                   string
		listener, flush, sinks time.Duration // that they take
		err                    string
		took                   time.Duration
	}{
		{name: "all in time", listener: time.Second / 2, flush: time.Second, sinks: time.Second, took: 2500 * time.Millisecond},
		{name: "the last takes what is left", sinks: 5900 * time.Millisecond, took: 5900 * time.Millisecond},
		{name: "the last takes more", sinks: 7 * time.Second, err: "sinks: sink did not end within 6s and is left behind", took: 6 * time.Second},
		{
			name: "the first leaves nothing", listener: 7 * time.Second, flush: time.Second, sinks: 4 * time.Second, took: 6 * time.Second,
			err: "listeners: listener did not end within 1s and is left behind",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &history{}
				g := lifecycle.New(h)
				g.Stage("sinks", 3*time.Second, &part{history: h, name: "sink", end: tookFor(tt.sinks)})
				g.Stage("flush", 2*time.Second, &part{history: h, name: "flusher", end: tookFor(tt.flush)})
				g.Stage("listeners", time.Second, &part{history: h, name: "listener", end: tookFor(tt.listener)})
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				begin := time.Now()
				err := g.Run(ctx)
				if tt.err == "" {
					require.NoError(t, err)
				} else {
					require.EqualError(t, err, tt.err)
				}
				require.Equal(t, time.Minute+tt.took, time.Since(begin))
				time.Sleep(time.Minute) // what was left behind ends
			})
		})
	}
}

func TestFailingRunnerStopsTheGroup(t *testing.T) {
	errBroken := errors.New("socket broke")
	after := func(d time.Duration, err error) func(context.Context) error {
		return func(context.Context) error {
			time.Sleep(d)
			return err
		}
	}
	for _, tt := range []struct {
		name string
		end  func(ctx context.Context) error
		err  string
	}{
		{name: "error", end: after(time.Minute, errBroken), err: "socket broke"},
		{name: "ends unasked", end: after(time.Minute, nil), err: "listeners: listener ended before it was told to"},
		{name: "canceled unasked", end: after(time.Minute, context.Canceled), err: "context canceled"},
		{name: "leaves its goroutine", end: func(context.Context) error { runtime.Goexit(); return nil }, err: "listeners: listener ended before it was told to"},
		{name: "error on stopping", end: func(ctx context.Context) error { <-ctx.Done(); return errBroken }, err: "socket broke"},
		{name: "context's error on stopping", end: func(ctx context.Context) error { <-ctx.Done(); return fmt.Errorf("accept: %w", ctx.Err()) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &history{}
				g := lifecycle.New(h)
				g.Stage("sinks", time.Second, &part{history: h, name: "sink"})
				g.Stage("listeners", time.Second, &part{history: h, name: "listener", end: tt.end}, &part{history: h, name: "other"})
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				err := g.Run(ctx)
				if tt.err == "" {
					require.NoError(t, err)
				} else {
					require.EqualError(t, err, tt.err)
				}
				require.Contains(t, h.take(), "end sink")
			})
		})
	}
}

func TestFirstFailureIsReturnedAndFurtherOnesAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &history{}
		g := lifecycle.New(h)
		g.Stage("sinks", time.Second, lifecycle.RunFunc(func(ctx context.Context) error {
			<-ctx.Done()
			return errors.New("second")
		}))
		g.Stage("listeners", time.Second, lifecycle.RunFunc(func(context.Context) error { return errors.New("first") }))
		require.EqualError(t, g.Run(t.Context()), "first")
		require.Equal(t, []string{"log: while stopping: second"}, h.take())
	})
}

// A supervisor that restarts on unexpected exit codes sees a panic: it is an error of Run, and the sinks still deliver.
func TestB122PanicIsAnErrorWithItsStack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &history{}
		g := lifecycle.New(h)
		g.Stage("sinks", time.Second, &part{history: h, name: "sink", end: tookFor(500 * time.Millisecond)})
		g.Stage("listeners", time.Second, &part{history: h, name: "listener", end: func(context.Context) error {
			var lines []string
			return errors.New(lines[len(lines)]) // what a mistake in the code does
		}})
		err := g.Run(t.Context())
		var panicked *lifecycle.PanicError
		require.ErrorAs(t, err, &panicked)
		require.ErrorContains(t, err, "listeners: listener: panic: runtime error: index out of range [0] with length 0")
		require.Contains(t, string(panicked.Stack), "group_test.go", "the stack shows where")
		require.Equal(t, []string{"start sink", "start listener", "end listener", "end sink"}, h.take())
	})
}

func TestB122CleanStopIsNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &history{}
		g := lifecycle.New(h)
		g.Stage("all", time.Second, &part{history: h, name: "a"}, lifecycle.RunFunc(func(ctx context.Context) error { <-ctx.Done(); return nil }))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.NoError(t, g.Run(ctx))
	})
}
