package trace

import (
	"math"
	"sync"
	"time"

	"github.com/veneurd/veneur/ssf"
)

// kept is how many values a Histogram, or members a Set, holds. With one more they are sent before the interval is over.
const kept = 512

// Histogram keeps its values and sends them packed each metrics interval, each as a sample of its own: the daemon's sketch is that of all of
// them, and none stands for others. A nil Histogram does nothing.
type Histogram struct {
	client   *Client
	mu       sync.Mutex
	values   []float32
	template ssf.SSFSample
}

// Histogram returns a new histogram. The arguments are those of ssf.Histogram; tags are copied. Histograms are made once and kept.
func (c *Client) Histogram(name string, tags map[string]string, opts ...ssf.SampleOption) *Histogram {
	if c == nil {
		return nil
	}
	h := &Histogram{client: c, template: unsampled(ssf.Histogram(name, 0, tags, opts...))}
	c.metrics.add(h)
	return h
}

// Timer returns a new histogram of durations in milliseconds, with the unit ms.
func (c *Client) Timer(name string, tags map[string]string, opts ...ssf.SampleOption) *Histogram {
	if c == nil {
		return nil
	}
	h := c.Histogram(name, tags, opts...)
	h.template.Unit = "ms"
	return h
}

// Observe adds a value, of which some seven digits travel. NaN, and what is past the range of float32, is not taken.
func (h *Histogram) Observe(v float64) {
	if h == nil || !(math.Abs(v) <= math.MaxFloat32) {
		return
	}
	h.mu.Lock()
	if len(h.values) == kept {
		h.send()
	}
	if h.values == nil {
		h.values = make([]float32, 0, kept)
	}
	h.values = append(h.values, float32(v))
	h.mu.Unlock()
}

// ObserveDuration adds a duration, in milliseconds.
func (h *Histogram) ObserveDuration(d time.Duration) {
	h.Observe(float64(d) / float64(time.Millisecond))
}

// send reports the values ahead of time. Where the client has no room they are dropped, and counted.
func (h *Histogram) send() {
	samples := make([]ssf.SSFSample, 0, packed)
	for len(h.values) > 0 {
		n := min(packed, len(h.values))
		samples = h.list(samples[:0], h.values[:n])
		_ = h.client.Report(samples...)
		h.values = h.values[:copy(h.values, h.values[n:])]
	}
}

func (h *Histogram) list(samples []ssf.SSFSample, values []float32) []ssf.SSFSample {
	for _, v := range values {
		sample := h.template
		sample.Value = v
		samples = append(samples, sample)
	}
	return samples
}

func (h *Histogram) collect(samples []ssf.SSFSample) []ssf.SSFSample {
	h.mu.Lock()
	defer h.mu.Unlock()
	samples = h.list(samples, h.values)
	h.values = h.values[:0]
	return samples
}
