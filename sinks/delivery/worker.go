package delivery

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/veneurd/veneur/internal/pace"
	"github.com/veneurd/veneur/sinks"
)

// slowly is the time between two attempts while somebody has to change something before it can work. Tried more often, a wrong password
// locks accounts.
const slowly = 30 * time.Second

// worker sends one chunk after another. It is one goroutine's, for one Run.
type worker struct {
	*core
	stop <-chan struct{} // closed when no more is to come; nil once that was noticed
	ctx  context.Context // ends when even draining is over

	drainEnd time.Time // set when the stop was noticed
	failures int       // attempts in a row that are worth another
	pause    time.Time // no attempt before: our own backoff
	asked    time.Time // no attempt before: the backend's wish, within bounds

	complained time.Time // when a failure was last logged
	complaint  bool      // it was, and no recovery since
	lamented   time.Time // when a panic was last logged with its stack
}

// run returns when there is nothing left to send after a stop, or when w.ctx ends.
func (w *worker) run() {
	for {
		p := w.next()
		if p == nil {
			return
		}
		if !w.sendParcel(p) {
			w.queue.giveBack(p)
			return
		}
		if p.stored {
			w.disk.queue.Done()
		}
		w.queue.done(p)
	}
}

// next waits for a ripe parcel. It returns nil when there is nothing more to do.
func (w *worker) next() *parcel {
	for w.ctx.Err() == nil {
		w.noticeStop()
		draining := w.stop == nil
		if p := w.fromDisk(); p != nil {
			return p
		}
		p, after := w.queue.take(draining)
		if p != nil || draining && w.queue.empty() {
			return p
		}
		w.sleep(after, w.queue.wake)
	}
	return nil
}

// sendParcel sends the chunks of p. It returns false when the time is over; what is not settled then is expired.
func (w *worker) sendParcel(p *parcel) bool {
	if time.Since(p.born) >= w.lifetime(p) {
		w.tooOld(p, p.items-p.settled)
		return true
	}
	if p.cuts == nil {
		return w.sendChunk(p, p.cargo)
	}
	from := 0
	pacer := pace.Pacer{Hurry: w.stop}
	pacer.Begin()
	for _, to := range p.cuts {
		if to <= p.moved {
			from = to
			continue
		}
		if !w.sendChunk(p, p.cargo.part(from, to)) {
			return false
		}
		from = to
		if to < p.items && w.stop != nil {
			pacer.Step()
		}
	}
	return true
}

// sendChunk sends c, which is of p, until all of it is settled, whatever that takes. It returns false when the time is over.
func (w *worker) sendChunk(p *parcel, c cargo) bool {
	for tries := 0; ; tries++ {
		n := c.len()
		switch w.await(p, tries) {
		case timeOver:
			return false
		case tooLate:
			w.tooOld(p, n)
			return w.queue.settle(p, n, expired)
		}
		a := w.attempt(c)
		if !a.result.retried() {
			w.backToNormal()
		}
		switch a.result {
		case resultOK:
			return w.queue.settle(p, n, sent)
		case resultPartial:
			if !w.settleTally(p, a.tally) {
				return false
			}
			if len(a.tally.again) == 0 {
				return true
			}
			c = c.pick(a.tally.again)
		case resultRefused:
			return w.refuse(p, n, refusalOf(a.err))
		case resultPanic:
			return w.refuse(p, n, sinks.ReasonPanic)
		case resultTooLarge:
			if n == 1 {
				return w.refuse(p, n, sinks.ReasonTooLarge)
			}
			return w.sendChunk(p, c.part(0, n/2)) && w.sendChunk(p, c.part(n/2, n))
		}
		w.backOff(a.err)
		if w.cutOff() {
			return false // it is not given up: another process may have more attempts
		}
		if w.cfg.RetryAttempts > 0 && tries+1 >= w.cfg.RetryAttempts {
			return w.queue.settle(p, c.len(), expired)
		}
	}
}

// cutOff says whether the end of draining cut an attempt short that has just ended.
func (w *worker) cutOff() bool {
	return w.ctx.Err() != nil || !w.drainEnd.IsZero() && !time.Now().Before(w.drainEnd)
}

// settleTally accounts for all that is not to be sent again.
func (w *worker) settleTally(p *parcel, t tally) bool {
	for reason, n := range t.refused {
		if !w.refuse(p, n, reason) {
			return false
		}
	}
	return w.queue.settle(p, t.existing, existing) && w.queue.settle(p, t.taken-t.existing, sent)
}

// refuse accounts for items that the backend will never take.
func (w *worker) refuse(p *parcel, n int, reason sinks.Reason) bool {
	if !w.queue.settle(p, n, refused) {
		return false
	}
	w.refusals[reason].Add(uint64(n))
	return true
}

// refusalOf returns why a whole chunk was refused.
func refusalOf(err error) sinks.Reason {
	var permanent *sinks.PermanentError
	errors.As(err, &permanent)
	return known(permanent.Reason)
}

// verdict says what to do with a chunk.
type verdict int

const (
	goAhead  verdict = iota
	tooLate          // it will have expired before it may be tried
	timeOver         // so will everything else
)

// await waits until p may be tried, for the tries+1st time.
func (w *worker) await(p *parcel, tries int) verdict {
	for {
		w.noticeStop()
		if w.ctx.Err() != nil {
			return timeOver
		}
		now := time.Now()
		until := w.pause
		if w.asked.After(until) {
			until = w.asked
		}
		if w.stop == nil && until.After(w.drainEnd) {
			return timeOver
		}
		wait := until.Sub(now)
		// A chunk behind one that was retried for long is old at its first turn. It is tried once all the same, or one chunk that the
		// backend cannot digest would take its whole interval with it.
		mayExpire := tries > 0 || wait > w.cfg.RetryMax
		if mayExpire && now.Add(max(wait, 0)).After(p.born.Add(w.lifetime(p))) {
			return tooLate
		}
		if wait <= 0 {
			return goAhead
		}
		w.sleep(wait, nil)
	}
}

// sleep waits for d (0: for ever), a token from wake, a stop, or the end.
func (w *worker) sleep(d time.Duration, wake <-chan struct{}) { wait(d, wake, w.stop, w.ctx.Done()) }

// wait waits for d (0: for ever), or for any of the others, of which each may be nil.
func wait(d time.Duration, wake, stop, end <-chan struct{}) {
	var elapsed <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		elapsed = timer.C
	}
	select {
	case <-elapsed:
	case <-wake:
	case <-stop:
	case <-end:
	}
}

// noticeStop begins the draining when a stop was asked for. A backoff of our own ends: the last moments are worth a try.
func (w *worker) noticeStop() {
	select {
	case <-w.stop:
		w.stop = nil
		w.drainEnd = time.Now().Add(w.drain)
		w.backToNormal()
	default:
	}
}

func (w *worker) backToNormal() {
	w.failures = 0
	w.pause = time.Time{}
}

// backOff sets when the next attempt may be, of whatever chunk: the backend is what needs the rest.
func (w *worker) backOff(err error) {
	from := time.Now()
	var after *sinks.RetryAfter
	var misfit *sinks.ConfigError
	switch {
	case errors.As(err, &after):
		from = from.Add(max(0, min(after.After, w.cfg.ExpireAfter)))
		w.asked = from
	case errors.As(err, &misfit):
		w.asked = from.Add(min(slowly, w.cfg.ExpireAfter))
	}
	bound := w.cfg.RetryInitial
	for range w.failures {
		if bound >= w.cfg.RetryMax {
			break
		}
		bound *= 2
	}
	w.failures++
	w.pause = from.Add(rand.N(min(bound, w.cfg.RetryMax) + 1))
}
