package ingest

import "github.com/veneurd/veneur/internal/telemetry"

// maxDatagram is the most a datagram may hold: more than UDP's 65,507 bytes, and the 65,535 that a unix datagram may have here.
const maxDatagram = 65_536

// packet is one datagram, lent until the next receive.
type packet struct {
	data      []byte
	truncated bool // its end did not fit
}

// source is a listener as a lane sees it: what its bytes are and what they are counted under.
type source struct {
	id          uint16 // names it to the table, which counts who offends against its limits
	name        string
	ssf         bool // spans, not lines
	gaugeDeltas bool

	packets, bytes, truncated *telemetry.Metric
}

func newSource(id uint16, name string, ssf, gaugeDeltas bool, r *telemetry.Registry) *source {
	return &source{
		id: id, name: name, ssf: ssf, gaugeDeltas: gaugeDeltas,
		packets:   r.Counter(&descPackets, name),
		bytes:     r.Counter(&descBytes, name),
		truncated: r.Counter(&descTruncated, name),
	}
}
