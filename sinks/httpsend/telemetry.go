package httpsend

import (
	"strconv"

	"github.com/veneurd/veneur/internal/telemetry"
)

var (
	descRequests = telemetry.Desc{
		Name: "sink.http_requests", Kind: telemetry.Counter, Unit: "requests", Tags: []string{"sink", "status"},
		Help: "Requests by the class of their status; none is a request that got no answer.",
	}
	descBytes = telemetry.Desc{
		Name: "sink.http_bytes", Kind: telemetry.Counter, Unit: "bytes", Tags: []string{"sink", "form"},
		Help: "Bodies of requests: plain as they were made, wire as they were sent.",
	}
	descPaused = telemetry.Desc{
		Name: "sink.http_hosts_paused", Kind: telemetry.Counter, Unit: "pauses", Tags: []string{"sink"},
		Help: "How often one of the sink's hosts failed and was left alone for a while.",
	}
)

// Descs returns what this package counts, for the reference.
func Descs() []telemetry.Desc {
	return []telemetry.Desc{descRequests, descBytes, descPaused}
}

type counts struct {
	requests    [6]*telemetry.Metric // by the first digit of the status
	plain, wire *telemetry.Metric
	paused      *telemetry.Metric
}

func newCounts(s Settings) counts {
	c := counts{
		plain:  s.Telemetry.Counter(&descBytes, s.Name, "plain"),
		wire:   s.Telemetry.Counter(&descBytes, s.Name, "wire"),
		paused: s.Telemetry.Counter(&descPaused, s.Name),
	}
	c.requests[0] = s.Telemetry.Counter(&descRequests, s.Name, "none")
	for digit := 1; digit < len(c.requests); digit++ {
		c.requests[digit] = s.Telemetry.Counter(&descRequests, s.Name, strconv.Itoa(digit)+"xx")
	}
	return c
}

func (c *counts) note(status, plain, wire int) {
	c.requests[min(status/100, len(c.requests)-1)].Inc()
	c.plain.Add(uint64(plain))
	c.wire.Add(uint64(wire))
}
