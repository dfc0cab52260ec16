package trace

import (
	"sync"

	"github.com/veneurd/veneur/ssf"
)

// registry knows the handles of a client. They stay until the client is closed.
type registry struct {
	mu      sync.Mutex
	handles []handle
	last    Stats // what statistics have been sent of
}

// handle is a Counter, Gauge, Histogram or Set.
type handle interface {
	// collect appends the samples of what came together since it was last called.
	collect(samples []ssf.SSFSample) []ssf.SSFSample
}

func (r *registry) add(h handle) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handles = append(r.handles, h)
}

// unsampled takes a sample rate away: a handle is told everything and sends all of it, so the daemon must not scale it up.
func unsampled(template ssf.SSFSample) ssf.SSFSample {
	template.SampleRate = 1
	return template
}

// packed is how many samples are tried in one packet. More would only be halved again.
const packed = 64

// emit takes what the handles hold into the queue, by buffers of its own: what is counted exactly must not be dropped because the shards
// are full. The sender calls it when the queue is empty, so it adds no more than the handles hold.
func (s *sender) emit() {
	s.metrics.mu.Lock()
	defer s.metrics.mu.Unlock()
	out := emission{client: s.Client, buffer: s.queue.fresh()}
	for _, h := range s.metrics.handles {
		out.samples = h.collect(out.samples)
		out.cut(packed)
	}
	if s.options.statistics {
		out.samples = s.statistics(out.samples)
	}
	out.cut(1)
	s.queue.adopt(out.buffer)
}

// emission packs samples into buffers.
type emission struct {
	client  *Client
	buffer  *buffer
	samples []ssf.SSFSample
}

// cut packs the samples when there are at least so many.
func (e *emission) cut(least int) {
	for len(e.samples) >= least && len(e.samples) > 0 {
		n := min(packed, len(e.samples))
		e.pack(e.samples[:n])
		e.samples = e.samples[:copy(e.samples, e.samples[n:])]
	}
}

// pack puts the samples into one packet, or into several by halves.
func (e *emission) pack(samples []ssf.SSFSample) {
	span := ssf.SSFSpan{Metrics: samples}
	if e.buffer.append(&span, e.client.format) {
		if len(e.buffer.data) >= swapSize {
			e.client.queue.adopt(e.buffer)
			e.buffer = e.client.queue.fresh()
		}
		return
	}
	half := len(samples) / 2
	if half == 0 {
		e.client.queue.tooLarge()
		return
	}
	e.pack(samples[:half])
	e.pack(samples[half:])
}

// statistics appends what the client did since the last time, as counters.
func (s *sender) statistics(samples []ssf.SSFSample) []ssf.SSFSample {
	now, last := s.Stats(), s.metrics.last
	s.metrics.last = now
	count := func(name string, now, last uint64, tags ...ssf.Tag) {
		sample := ssf.SSFSample{Metric: ssf.SSFSample_COUNTER, Name: "veneur.trace_client." + name, SampleRate: 1, Tags: tags}
		samples = appendCount(samples, sample, int64(now-last))
	}
	count("recorded_total", now.Recorded, last.Recorded)
	count("sent_total", now.Sent, last.Sent)
	count("bytes_total", now.Bytes, last.Bytes)
	count("flushes_total", now.Flushes, last.Flushes)
	count("reconnects_total", now.Reconnects, last.Reconnects)
	for _, reason := range reasons {
		count("dropped_total", now.Dropped[reason], last.Dropped[reason], ssf.Tag{Key: "reason", Value: string(reason)})
	}
	return samples
}
