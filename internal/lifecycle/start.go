package lifecycle

import (
	"context"
	"errors"
)

// start starts every Starter in order, and goes on after one that failed, so that a user sees all that is wrong at once. It reports
// whether to run: not when a Start failed, with the errors of all that did, and not when ctx ended meanwhile, without an error.
func (g *Group) start(ctx context.Context) (goOn bool, err error) {
	var started []Runner
	var errs []error
	for _, s := range g.stages {
		if ctx.Err() != nil {
			break
		}
		for _, r := range s.runners {
			starter, ok := r.(Starter)
			if !ok {
				continue
			}
			err := protect(ctx, s.name, r, starter.Start)
			if err == nil {
				started = append(started, r)
			} else if ctx.Err() == nil || !errors.Is(err, context.Canceled) {
				errs = append(errs, err)
			}
		}
	}
	if len(errs) > 0 || ctx.Err() != nil {
		g.close(started)
		return false, errors.Join(errs...)
	}
	return true, nil
}

// close lets go, in reverse, of what was started and will not run.
func (g *Group) close(started []Runner) {
	for i := len(started) - 1; i >= 0; i-- {
		closer, ok := started[i].(Closer)
		if !ok {
			continue
		}
		if err := closer.Close(); err != nil {
			g.log.Warnf("closing what was started: %v", err)
		}
	}
}
