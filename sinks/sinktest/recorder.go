package sinktest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/ssf"
)

// Recorder is a metric and span sink that remembers what it was sent and answers as it is told. The zero value takes everything. All
// methods may be called at once from any goroutine.
type Recorder struct {
	mu       sync.Mutex
	attempts []Attempt
	changed  chan struct{} // closed at the next attempt
	errs     []error
	answer   func(ctx context.Context, attempt Attempt) error
}

// DistributionRecorder is a Recorder that wants distributions.
type DistributionRecorder struct{ Recorder }

// WantsDistributions makes it a sinks.DistributionSink.
func (*DistributionRecorder) WantsDistributions() {}

// Attempt is one call of Send or SendSpans. Its slices are the recorder's own; what their elements point to is not copied.
type Attempt struct {
	Time  time.Time
	Batch *sinks.Batch   // nil for spans
	Spans []*ssf.SSFSpan // nil for metrics
	Err   error          // what was answered; nil until then
}

// Len returns how many items were sent.
func (a Attempt) Len() int {
	if a.Batch != nil {
		return a.Batch.Len()
	}
	return len(a.Spans)
}

// Answer makes the next attempts end with these errors, in order; nil takes the chunk. Those after them are taken.
func (r *Recorder) Answer(errs ...error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, errs...)
}

// AnswerWith makes answer decide about each attempt that Answer says nothing of; nil takes them again. It is called without locks held and may block.
func (r *Recorder) AnswerWith(answer func(ctx context.Context, attempt Attempt) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

// Send records the chunk.
func (r *Recorder) Send(ctx context.Context, chunk *sinks.Batch) error {
	b := *chunk
	b.Points = slices.Clone(b.Points)
	b.Distributions = slices.Clone(b.Distributions)
	b.Events = slices.Clone(b.Events)
	b.Checks = slices.Clone(b.Checks)
	return r.record(ctx, Attempt{Batch: &b})
}

// SendSpans records the spans.
func (r *Recorder) SendSpans(ctx context.Context, spans []*ssf.SSFSpan) error {
	return r.record(ctx, Attempt{Spans: slices.Clone(spans)})
}

func (r *Recorder) record(ctx context.Context, a Attempt) (err error) {
	a.Time = time.Now()
	r.mu.Lock()
	answer := r.answer
	if len(r.errs) > 0 {
		err, r.errs, answer = r.errs[0], r.errs[1:], nil
	}
	r.mu.Unlock()
	if answer != nil {
		err = answer(ctx, a)
	}
	a.Err = err
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts = append(r.attempts, a)
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
	return err
}

// Attempts returns every attempt answered so far.
func (r *Recorder) Attempts() []Attempt {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.attempts)
}

// Batches returns the chunks that were taken.
func (r *Recorder) Batches() []*sinks.Batch {
	var batches []*sinks.Batch
	for _, a := range r.Attempts() {
		if a.Batch != nil && a.Err == nil {
			batches = append(batches, a.Batch)
		}
	}
	return batches
}

// Points returns the points of all chunks that were taken.
func (r *Recorder) Points() []metric.Point {
	var points []metric.Point
	for _, b := range r.Batches() {
		points = append(points, b.Points...)
	}
	return points
}

// Spans returns the spans that were taken.
func (r *Recorder) Spans() []*ssf.SSFSpan {
	var spans []*ssf.SSFSpan
	for _, a := range r.Attempts() {
		if a.Err == nil {
			spans = append(spans, a.Spans...)
		}
	}
	return spans
}

// patience is for how long the kit waits for something that should happen at once, on a machine that does much else.
const patience = time.Minute

// askEvery is how often the kit asks when there was no attempt: what the last one changes is settled after it has returned.
const askEvery = 10 * time.Millisecond

// WaitUntil waits until done says so, asking after each attempt and a little later, and fails the test when that takes too long.
func (r *Recorder) WaitUntil(t testing.TB, done func() bool) {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	again := time.NewTicker(askEvery)
	defer again.Stop()
	for {
		r.mu.Lock()
		if r.changed == nil {
			r.changed = make(chan struct{})
		}
		changed := r.changed
		r.mu.Unlock()
		if done() {
			return
		}
		select {
		case <-changed:
		case <-again.C:
		case <-timer.C:
			t.Fatalf("what the test waits for did not come within %s; %d attempts so far", patience, len(r.Attempts()))
		}
	}
}

// WaitFor waits until n chunks were taken and returns all there are.
func (r *Recorder) WaitFor(t testing.TB, n int) []*sinks.Batch {
	t.Helper()
	r.WaitUntil(t, func() bool { return len(r.Batches()) >= n })
	return r.Batches()
}

// WaitForSpans waits until n spans were taken and returns all there are.
func (r *Recorder) WaitForSpans(t testing.TB, n int) []*ssf.SSFSpan {
	t.Helper()
	r.WaitUntil(t, func() bool { return len(r.Spans()) >= n })
	return r.Spans()
}
