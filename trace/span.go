package trace

import (
	"math"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/veneurd/veneur/internal/invariants"
	"github.com/veneurd/veneur/ssf"
)

// Span is a piece of work that is being timed. It is a handle, passed by value; the zero Span does nothing. What is behind it comes from a
// pool and goes back when the span is finished. From then on the handle does nothing any more, however often it is used and whoever the
// memory belongs to by then: each use compares the id. Only its ids stay, so that children can be started of a span that is over.
// Built with the tag invariants, use after Finish panics instead.
//
// All methods may be called by several goroutines at once.
type Span struct {
	// Four words and no more: the compiler keeps no larger struct in registers, and its copies in memory were a fifth of what a span costs.
	state   *state
	origin  *origin
	traceID int64
	id      int64
}

// origin is what a span has in common with its children. Most are that of the client, so that a handle needs one word for it.
type origin struct {
	client *Client
	remote SpanContext // by which the trace came into this process, if it did
}

const (
	inlineTags = 8
	// What a pooled span keeps at most of what one span made it grow to.
	keptTags    = 64
	keptSamples = 64
)

// state is what is behind a Span. holder is the id of the span it belongs to, or, in the pool, of the next one: with the bit busy it is a lock
// and the check of the handle in one step. An id is drawn when its predecessor is finished, since that has to change holder anyway.
type state struct {
	holder atomic.Int64
	epoch  *epoch // that the span started by
	own    epoch  // the same, where there is no client to share one
	span   ssf.SSFSpan
	inline [inlineTags]ssf.Tag
	places tagPlaces
}

var states = sync.Pool{New: func() any {
	s := new(state)
	s.holder.Store(newID())
	s.span.Tags = s.inline[:0]
	return s
}}

// busy is set in holder while somebody works on the state. Ids are positive.
const busy = math.MinInt64

// StartTrace starts the root span of a new trace. It belongs to no client: ClientFinish sends it. Client.StartTrace saves that.
func StartTrace(name string) Span {
	return begin(name, nil, 0, 0)
}

// StartTrace starts the root span of a new trace, which Finish sends by this client. It does not allocate. On a nil client the result is
// the zero Span.
func (c *Client) StartTrace(name string) Span {
	if c == nil {
		return Span{}
	}
	return begin(name, &c.origin, 0, 0)
}

// StartChildSpan starts a span with the given parent, which may be finished already, for the parent's client. The child of a zero Span is a
// root.
func StartChildSpan(parent Span, name string) Span {
	if parent.traceID == 0 {
		return parent.Client().startRoot(name)
	}
	return begin(name, parent.origin, parent.traceID, parent.id)
}

// StartChild is StartChildSpan(s, name).
func (s Span) StartChild(name string) Span { return StartChildSpan(s, name) }

// startRoot starts a root whether or not there is a client.
func (c *Client) startRoot(name string) Span {
	if c == nil {
		return StartTrace(name)
	}
	return c.StartTrace(name)
}

// begin starts a span. Without a trace it is the root of one.
func begin(name string, o *origin, trace, parent int64) Span {
	st := states.Get().(*state)
	if o != nil {
		st.epoch, st.span.StartTimestamp = o.client.clock.read()
	} else {
		st.own = newEpoch()
		st.epoch, st.span.StartTimestamp = &st.own, st.own.wall
	}
	id := st.holder.Load()
	if trace == 0 {
		trace = id
	}
	st.span.TraceId, st.span.Id, st.span.ParentId = trace, id, parent
	st.span.Name = name
	return Span{st, o, trace, id}
}

// lock gives access to the state, or returns nil when the span is finished. unlock must follow.
func (s Span) lock() *state {
	if st := s.state; st != nil && st.holder.CompareAndSwap(s.id, s.id|busy) {
		return st
	}
	return s.wait(s.id | busy)
}

func (st *state) unlock(id int64) { st.holder.Store(id) }

// SetTag gives the tag its value. Eight tags cost nothing, more of them memory, and each is compared with those that are there, up to 32. Key and
// value must be UTF-8, as all text of a span: the daemon refuses a span that has other bytes. They are not looked at here, for the time that
// would take, so whoever passes on what a stranger wrote uses strings.ToValidUTF8.
func (s Span) SetTag(key, value string) {
	if st := s.lock(); st != nil {
		if len(st.span.Tags) <= fewTags { // setTag, which costs a call
			st.span.SetTag(key, value)
		} else {
			st.setOfMany(key, value)
		}
		st.unlock(s.id)
	}
}

// Tag returns the value of a tag.
func (s Span) Tag(key string) (value string, ok bool) {
	if st := s.lock(); st != nil {
		value, ok = st.tag(key)
		st.unlock(s.id)
	}
	return value, ok
}

// SetName gives the span another name than it was started with.
func (s Span) SetName(name string) {
	if st := s.lock(); st != nil {
		st.span.Name = name
		st.unlock(s.id)
	}
}

// SetService says which service the span is of, in place of that of the client.
func (s Span) SetService(service string) {
	if st := s.lock(); st != nil {
		st.span.Service = service
		st.unlock(s.id)
	}
}

// SetIndicator says whether the span is one that stands for the health of its service: the daemon derives timers from such spans.
func (s Span) SetIndicator(indicator bool) {
	if st := s.lock(); st != nil {
		st.span.Indicator = indicator
		st.unlock(s.id)
	}
}

// SetStart says that the span started at another time than it was made.
func (s Span) SetStart(t time.Time) {
	if st := s.lock(); st != nil {
		st.span.StartTimestamp = t.UnixNano()
		st.unlock(s.id)
	}
}

// Add adds samples to the span: they travel with it. The tags of a sample must not be changed before the span is finished.
func (s Span) Add(samples ...ssf.SSFSample) {
	if st := s.lock(); st != nil {
		st.span.Metrics = append(st.span.Metrics, samples...)
		st.unlock(s.id)
	}
}

// SetError says whether the work of the span failed.
func (s Span) SetError(failed bool) {
	if st := s.lock(); st != nil {
		st.span.Error = failed
		st.unlock(s.id)
	}
}

// Error says that the work of the span failed: it sets error.msg to the error's text and error.type to its Go type. An error of nil says
// nothing, so that a deferred function can pass what it has.
func (s Span) Error(err error) {
	if err == nil || s.state == nil {
		return
	}
	// The error's own code runs before the span is locked. Errors often quote what a stranger wrote, and the daemon refuses a span with other bytes.
	text, kind := strings.ToValidUTF8(err.Error(), string(utf8.RuneError)), reflect.TypeOf(err).String()
	if st := s.lock(); st != nil {
		st.span.Error = true
		st.setTag("error.msg", text)
		st.setTag("error.type", kind)
		st.unlock(s.id)
	}
}

// Finish ends the span now and records it with its client, without waiting. Only the first Finish of a span does anything.
func (s Span) Finish() { s.finish(s.Client(), 0) }

// FinishAt is Finish for work that ended at another time.
func (s Span) FinishAt(t time.Time) { s.finish(s.Client(), t.UnixNano()) }

// ClientFinish is Finish by another client than the span's own. With a nil client the span is not recorded anywhere.
func (s Span) ClientFinish(c *Client) { s.finish(c, 0) }

// finish ends the span at end, in ns since 1970, or now if that is 0.
func (s Span) finish(c *Client, end int64) {
	// From here on the state is nobody's, until it is that of the next span.
	next := newID()
	st := s.state
	if st == nil || !st.holder.CompareAndSwap(s.id, next) {
		if st = s.wait(next); st == nil {
			return
		}
	}
	if c != nil {
		if end == 0 {
			end = st.epoch.now()
		}
		st.span.EndTimestamp = end
		if st.span.Service == "" {
			st.span.Service = c.options.service
		}
		// The error is counted, and nobody is here to read it.
		_ = c.record(&st.span, uint64(s.id), true)
	}
	st.reset()
	states.Put(st)
}

// reset lets go of everything the span held.
func (st *state) reset() {
	tags, samples := st.span.Tags, st.span.Metrics
	clear(tags)
	clear(samples)
	if cap(tags) != inlineTags {
		clear(st.inline[:]) // what stood there before there were too many
		st.places.reset()
	}
	if cap(tags) > keptTags {
		tags = st.inline[:]
	}
	if cap(samples) > keptSamples {
		samples = nil
	}
	st.span = ssf.SSFSpan{Tags: tags[:0], Metrics: samples[:0]}
}

// wait changes holder to word as soon as nobody works on the state, or finds that the span is finished and returns nil.
func (s Span) wait(word int64) *state {
	if s.state == nil {
		return nil
	}
	for {
		holder := s.state.holder.Load()
		if holder&^busy != s.id {
			s.misused()
			return nil
		}
		if holder >= 0 && s.state.holder.CompareAndSwap(holder, word) {
			return s.state
		}
		runtime.Gosched()
	}
}

// misused is called for the use of a span that is finished.
func (s Span) misused() {
	if invariants.Enabled {
		panic("trace: a span is used after it was finished")
	}
}
