package trace

import (
	"strings"
	"sync"

	"github.com/veneurd/veneur/ssf"
)

// Set keeps unequal members and sends each once in a metrics interval, packed. A nil Set does nothing.
type Set struct {
	client   *Client
	mu       sync.Mutex
	members  map[string]struct{}
	template ssf.SSFSample
}

// Set returns a new set. The arguments are those of ssf.Set; tags are copied. Sets are made once and kept.
func (c *Client) Set(name string, tags map[string]string, opts ...ssf.SampleOption) *Set {
	if c == nil {
		return nil
	}
	h := &Set{client: c, members: map[string]struct{}{}, template: unsampled(ssf.Set(name, "", tags, opts...))}
	c.metrics.add(h)
	return h
}

// Add adds a member, unless it is empty. A member that is there already costs no memory.
func (h *Set) Add(member string) {
	if h == nil || member == "" {
		return
	}
	h.mu.Lock()
	if _, ok := h.members[member]; !ok {
		if len(h.members) == kept {
			_ = h.client.Report(h.list(nil)...)
		}
		h.members[strings.Clone(member)] = struct{}{}
	}
	h.mu.Unlock()
}

func (h *Set) list(samples []ssf.SSFSample) []ssf.SSFSample {
	for member := range h.members {
		sample := h.template
		sample.Message = member
		samples = append(samples, sample)
	}
	clear(h.members)
	return samples
}

func (h *Set) collect(samples []ssf.SSFSample) []ssf.SSFSample {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.list(samples)
}
