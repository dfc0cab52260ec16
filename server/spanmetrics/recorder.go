package spanmetrics

import (
	"sync"

	"github.com/veneurd/veneur/server/derive"
	"github.com/veneurd/veneur/server/spanmetrics/partial"
	"github.com/veneurd/veneur/ssf"
)

// Recorder counts the spans of one lane. Its lock is nobody's but the lane's for all but a few words a second, so that it costs next to
// nothing.
type Recorder struct {
	mu         sync.Mutex
	classifier *derive.Classifier
	active     *partial.Set // what spans are counted in
	counts     counts

	idle *partial.Set // the stage's: empty, and what active becomes
}

// counts is what a recorder saw since it was last asked.
type counts struct {
	spans                               [3]uint64 // by derive.Family
	reversed, cut, clamped, withoutRate uint64
}

func (c *counts) add(o *counts) {
	for family, n := range o.spans {
		c.spans[family] += n
	}
	c.reversed += o.reversed
	c.cut += o.cut
	c.clamped += o.clamped
	c.withoutRate += o.withoutRate
}

func (c *counts) total() uint64 {
	n := uint64(0)
	for _, family := range c.spans {
		n += family
	}
	return n
}

func newRecorder(d derive.Dimensions, l partial.Limits, known *partial.Known) *Recorder {
	r := &Recorder{classifier: derive.NewClassifier(d), active: partial.New(l), idle: partial.New(l)}
	r.active.Use(known)
	return r
}

// Add counts a span, which is a valid part of a trace with each tag once, and which came at a time in unix seconds. Nothing of it is kept. It may be
// called from many goroutines at once, and allocates only for a key that is new.
func (r *Recorder) Add(span *ssf.SSFSpan, unix int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.classifier.Measure(span)
	c := &r.counts
	c.spans[m.Family]++
	if m.Reversed {
		c.reversed++
	}
	if m.Cut {
		c.cut++
	}
	if !(m.Weight > 0) {
		c.withoutRate++
	}
	if r.active.Add(m, unix) {
		c.clamped++
	}
}

// use has what is counted from now on be for the bucket whose keys are given, unless something was counted already.
func (r *Recorder) use(known *partial.Known) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.active.Empty() {
		r.active.Use(known)
	}
}

// take returns what was counted since the last call; what is counted from now on is for the bucket whose keys are given. The set is the caller's
// until it has emptied it, by Reset, which it does before it calls again.
func (r *Recorder) take(known *partial.Known) (*partial.Set, counts) {
	r.idle.Use(known)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.active, r.idle = r.idle, r.active
	c := r.counts
	r.counts = counts{}
	return r.idle, c
}
