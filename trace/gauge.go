package trace

import (
	"math"
	"sync/atomic"

	"github.com/veneurd/veneur/ssf"
)

// unset is the bits of a Gauge that has not been set since it was sent. It is a NaN, which Set refuses.
const unset = math.MaxUint64

// Gauge keeps the value it was last set to, and sends it at the end of the metrics interval in which it was set. A nil Gauge does nothing.
type Gauge struct {
	bits     atomic.Uint64
	template ssf.SSFSample

	_ [64]byte
}

// Gauge returns a new gauge. The arguments are those of ssf.Gauge; tags are copied. Gauges are made once and kept.
func (c *Client) Gauge(name string, tags map[string]string, opts ...ssf.SampleOption) *Gauge {
	if c == nil {
		return nil
	}
	h := &Gauge{template: unsampled(ssf.Gauge(name, 0, tags, opts...))}
	h.bits.Store(unset)
	c.metrics.add(h)
	return h
}

// Set sets the value. What travels is a float32: whole numbers are exact up to 2^24, and beyond it a gauge has seven digits, since it
// cannot be split. NaN, and what is past the range of float32, is not taken.
func (h *Gauge) Set(v float64) {
	if h != nil && math.Abs(v) <= math.MaxFloat32 {
		h.bits.Store(math.Float64bits(v))
	}
}

func (h *Gauge) collect(samples []ssf.SSFSample) []ssf.SSFSample {
	if v := h.bits.Swap(unset); v != unset {
		h.template.Value = float32(math.Float64frombits(v))
		samples = append(samples, h.template)
	}
	return samples
}
