package spanmetrics

import (
	"context"

	"github.com/veneurd/veneur/server/spanmetrics/store"
)

// Keeper has the store open for a Stage. It is started before the sinks and stopped after them, so that what one of them delivers at the very end is
// not delivered to it again by the next process.
type Keeper struct{ stage *Stage }

// Keeper returns the keeper of the stage's store.
func (s *Stage) Keeper() *Keeper { return &Keeper{s} }

// Start opens the store, has what other intervals left there go on, and reads which keys the bucket at hand has: no span is to come before.
func (k *Keeper) Start(context.Context) error {
	s := k.stage
	opened, err := s.s.Open()
	if err != nil {
		return err
	}
	s.store = opened
	s.fallback, _ = opened.(*store.Fallback)
	s.resume(s.s.Now())
	return nil
}

// Run waits until ctx is done, has the store know what was delivered, and closes it.
func (k *Keeper) Run(ctx context.Context) error {
	<-ctx.Done()
	if !k.stage.life.TryLock() {
		return nil // the stage was left behind, and the store with it
	}
	defer k.stage.life.Unlock()
	return k.Close()
}

// Close closes the store, and tells what of the spans it never took. It is called where Run was not, since something else could not start.
func (k *Keeper) Close() error {
	k.stage.forget()
	if k.stage.waiting() {
		k.stage.write(nil)
	}
	err := k.stage.store.Close() // which tries a last time to write what waits
	if left := k.stage.pending.total(); left > 0 && k.stage.waiting() {
		k.stage.s.Log.WithField("spans", left).
			Error("span metrics: at the stop so many spans are not written to the store; what they gave to intervals that are not emitted yet is lost")
	}
	return err
}
