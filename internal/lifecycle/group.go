package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Logger takes what a Group has to say that is not an error of Run. A logrus.FieldLogger is one.
type Logger interface {
	Warnf(format string, args ...any)
}

// minGrace is what a stage has at least: a goroutine that ends at once still has to be scheduled.
const minGrace = 100 * time.Millisecond

// Group runs Runners in stages. Its methods other than Run are called before Run, from one goroutine; Run is called once.
type Group struct {
	log        Logger
	stages     []*stage
	onReady    []func()
	onStopping []func()
}

type stage struct {
	name    string
	grace   time.Duration
	runners []Runner
	cancel  context.CancelFunc
	running map[int]bool // by index in runners; touched by Run only
}

// result is how a Runner ended; err is nil when it ended as it should.
type result struct {
	stage  *stage
	runner int
	err    error
}

// New returns a group without stages.
func New(log Logger) *Group {
	return &Group{log: log}
}

// Stage adds a stage. It is started after and stopped before those already added. When it is stopped its Runners have grace to end, and what
// the stages that were stopped before it have left of theirs, so that a stop takes no longer than all of it together; what has not ended by
// then is left behind, which Run returns as a LeftBehindError, and the stages before it are stopped all the same. The process should end
// soon after Run, as nothing else ends what was left. A grace under a tenth of a second counts as that.
func (g *Group) Stage(name string, grace time.Duration, rs ...Runner) {
	g.stages = append(g.stages, &stage{name: name, grace: max(grace, minGrace), runners: rs, running: map[int]bool{}})
}

// OnReady adds a function that Run calls once when all is started and all Runners are under way. It must not block.
func (g *Group) OnReady(f func()) { g.onReady = append(g.onReady, f) }

// OnStopping adds a function that Run calls once before it stops the first stage, whatever the reason. It is not called when a Start
// failed. It must not block.
func (g *Group) OnStopping(f func()) { g.onStopping = append(g.onStopping, f) }

// Run starts every Starter, stage by stage, then runs every Runner until ctx is done or one of them fails, and then stops the stages in
// reverse. When any Start failed nothing runs, and it returns the errors of all that did; otherwise the error of the Runner that failed
// first, or nil. Further failures are logged. The context of a stage outlives ctx until the stage's turn to stop comes.
//
// A panic in a Runner is a failure like any other, a [*PanicError] with the stack: the other stages still deliver what they hold, and the
// caller exits with a code other than 0. A panic in a goroutine that a Runner started itself cannot be caught here; it ends the
// process at once, with Go's exit code 2.
func (g *Group) Run(ctx context.Context) error {
	if goOn, err := g.start(ctx); !goOn {
		return err
	}
	results := g.launch(ctx)
	for _, f := range g.onReady {
		f()
	}
	var first error
	select {
	case <-ctx.Done():
	case r := <-results:
		first = g.ended(first, r)
	}
	for _, f := range g.onStopping {
		f()
	}
	until := time.Now()
	for i := len(g.stages) - 1; i >= 0; i-- {
		if now := time.Now(); now.After(until) {
			until = now
		}
		until = until.Add(g.stages[i].grace)
		first = g.stop(g.stages[i], until, results, first)
	}
	return first
}

// launch runs every Runner in a goroutine of its own. The channel has room for all results, so that a Runner left behind can end.
func (g *Group) launch(ctx context.Context) <-chan result {
	n := 0
	for _, s := range g.stages {
		n += len(s.runners)
	}
	results := make(chan result, n)
	for _, s := range g.stages {
		var stageCtx context.Context
		stageCtx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
		for i, r := range s.runners {
			s.running[i] = true
			go func() {
				// Sent by defer: runtime.Goexit in a Runner must not keep the group waiting for it.
				err := error(&EndedError{Stage: s.name, Runner: nameOf(r)})
				defer func() { results <- result{stage: s, runner: i, err: err} }()
				err = run(stageCtx, s.name, r)
			}()
		}
	}
	return results
}

// run returns nil only when r ended because it was told to.
func run(ctx context.Context, stage string, r Runner) error {
	err := protect(ctx, stage, r, r.Run)
	switch {
	case err == nil && ctx.Err() == nil:
		return &EndedError{Stage: stage, Runner: nameOf(r)}
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return nil
	}
	return err
}

// stop ends one stage and returns the first failure so far.
func (g *Group) stop(s *stage, until time.Time, results <-chan result, first error) error {
	s.cancel()
	most := time.Until(until)
	grace := time.NewTimer(most)
	defer grace.Stop()
	for len(s.running) > 0 {
		select {
		case r := <-results:
			first = g.ended(first, r)
		case <-grace.C:
			return g.leave(s, most.Round(time.Millisecond), results, first)
		}
	}
	return first
}

// leave gives up the Runners of a stage that have not ended by now, and returns the first failure so far.
func (g *Group) leave(s *stage, grace time.Duration, results <-chan result, first error) error {
	for {
		select {
		case r := <-results: // it ended while nobody looked
			first = g.ended(first, r)
			continue
		default:
		}
		for i, r := range s.runners {
			if s.running[i] {
				first = g.fail(first, &LeftBehindError{Stage: s.name, Runner: nameOf(r), Grace: grace})
			}
		}
		return first
	}
}

// ended notes one result, of whatever stage, and returns the first failure so far.
func (g *Group) ended(first error, r result) error {
	delete(r.stage.running, r.runner)
	return g.fail(first, r.err)
}

// fail returns the first failure of those so far and err, which may be nil, and logs err when it is not that.
func (g *Group) fail(first, err error) error {
	if first == nil {
		return err
	}
	if err != nil {
		g.log.Warnf("while stopping: %v", err)
	}
	return first
}

// nameOf returns what a Runner calls itself, or its type.
func nameOf(r Runner) string {
	if s, ok := r.(fmt.Stringer); ok {
		return s.String()
	}
	return fmt.Sprintf("%T", r)
}
