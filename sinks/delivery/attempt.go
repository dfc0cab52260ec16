package delivery

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/veneurd/veneur/sinks"
)

// answer is how an attempt ended.
type answer struct {
	result result
	err    error
	tally  tally // of a partial result
}

// attempt hands c to the sink, once, with a deadline.
func (w *worker) attempt(c cargo) answer {
	start := time.Now()
	deadline := start.Add(w.cfg.Timeout)
	if w.stop == nil && w.drainEnd.Before(deadline) {
		deadline = w.drainEnd
	}
	ctx, cancel := context.WithDeadline(w.ctx, deadline)
	defer cancel()
	w.health.begin(deadline)
	err := guard(func() error { return c.send(ctx) })
	now := time.Now()
	a := judge(c, err)
	w.attempts.note(a.result, now.Sub(start))
	w.tell(now, a, w.health.end(now, a.result, err))
	return a
}

// judge reads what the sink said of c. A partial answer by which all of it is to be sent again took nothing.
func judge(c cargo, err error) answer {
	a := answer{result: classify(err), err: err}
	if a.result != resultPartial {
		return a
	}
	var partial *sinks.PartialError
	errors.As(err, &partial)
	a.tally = tallyOf(c, partial)
	if len(a.tally.again) < c.len() {
		return a
	}
	if a.result = classify(partial.Err); !a.result.retried() {
		a.result = resultError
	}
	return a
}

// tell logs what changed, at most once in a while: a backend that refuses every other chunk must not fill the log.
func (w *worker) tell(now time.Time, a answer, failing bool) {
	err := a.err
	var panicked *panicError
	if errors.As(err, &panicked) && now.Sub(w.lamented) >= reportEvery {
		w.lamented = now
		w.log.WithField("error", brief(err)).WithField("stack", string(panicked.stack)).
			Error("the sink panicked; what it was sending is refused")
	}
	switch {
	case a.result == resultConfig && now.Sub(w.complained) >= reportEvery:
		w.complained, w.complaint = now, true
		w.log.WithField("error", brief(err)).
			Error("the sink or its backend is not configured for what is sent; it is kept and tried again until it expires")
	case failing && !w.complaint && now.Sub(w.complained) >= reportEvery:
		w.complained, w.complaint = now, true
		w.log.WithField("error", brief(err)).Warn("delivery to the sink fails")
	case !failing && w.complaint:
		w.complaint = false
		w.log.Info("delivery to the sink works again")
	}
}

// result says how an attempt ended.
type result int

const (
	resultOK result = iota
	resultPartial
	resultRefused
	resultTooLarge
	resultPanic
	resultRetryAfter
	resultConfig
	resultTimeout
	resultError
	numResults
)

// resultNames are the values of the tag.
var resultNames = [numResults]string{"ok", "partial", "refused", "too_large", "panic", "retry_after", "config", "timeout", "error"}

// retried says that the same chunk is worth another attempt, later.
func (r result) retried() bool { return r >= resultRetryAfter }

func classify(err error) result {
	var (
		panicked  *panicError
		permanent *sinks.PermanentError
		partial   *sinks.PartialError
		large     *sinks.TooLargeError
		after     *sinks.RetryAfter
		misfit    *sinks.ConfigError
	)
	switch {
	case err == nil:
		return resultOK
	case errors.As(err, &panicked):
		return resultPanic
	case errors.As(err, &partial): // before the others, which it may hold
		return resultPartial
	case errors.As(err, &permanent):
		return resultRefused
	case errors.As(err, &large):
		return resultTooLarge
	case errors.As(err, &after):
		return resultRetryAfter
	case errors.As(err, &misfit):
		return resultConfig
	case errors.Is(err, context.DeadlineExceeded):
		return resultTimeout
	default:
		return resultError
	}
}

// panicError is a panic of a sink.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// guard calls into a sink and makes an error of a panic.
func guard(f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value: value, stack: debug.Stack()}
		}
	}()
	return f()
}
