package trace

import (
	"math/bits"
	"sync/atomic"

	"github.com/veneurd/veneur/ssf"
)

// Counter adds up in the client and sends the sum each metrics interval. A sum larger than the 2^24 that a sample holds exactly is sent in
// several samples, each exact. While the daemon is away the sum waits in the handle. What is added after Close goes nowhere, as with every handle.
// A nil Counter, as a nil client gives, does nothing.
type Counter struct {
	n        atomic.Int64
	template ssf.SSFSample

	_ [64]byte // no other handle's number is on this cache line
}

// Counter returns a new counter. The arguments are those of ssf.Count; tags are copied, and a sample rate has no effect here or at any other
// handle, since everything is counted. Counters are made once and kept: two of one name and tags are added up by the daemon, and none is ever
// given back.
func (c *Client) Counter(name string, tags map[string]string, opts ...ssf.SampleOption) *Counter {
	if c == nil {
		return nil
	}
	h := &Counter{template: unsampled(ssf.Count(name, 0, tags, opts...))}
	c.metrics.add(h)
	return h
}

// Add adds n. It takes a few nanoseconds as long as other cores do not add to the same counter. The sum of an interval must fit into an
// int64; the daemon adds up in float64, which is exact up to 2^53.
func (h *Counter) Add(n int64) {
	if h != nil {
		h.n.Add(n)
	}
}

// Inc adds one.
func (h *Counter) Inc() { h.Add(1) }

func (h *Counter) collect(samples []ssf.SSFSample) []ssf.SSFSample {
	if h.n.Load() == 0 {
		return samples
	}
	return appendCount(samples, h.template, h.n.Swap(0))
}

// appendCount appends samples like the template whose values add up to n, none for 0. A float32 holds the 24 highest bits of a number, so
// these are taken off until nothing is left: at most three times.
func appendCount(samples []ssf.SSFSample, template ssf.SSFSample, n int64) []ssf.SSFSample {
	sign, rest := float32(1), uint64(n)
	if n < 0 {
		sign, rest = -1, -rest
	}
	for rest != 0 {
		part := rest
		if low := bits.Len64(rest) - 24; low > 0 {
			part = rest >> low << low
		}
		rest -= part
		template.Value = sign * float32(part)
		samples = append(samples, template)
	}
	return samples
}
