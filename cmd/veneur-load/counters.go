package main

import (
	"context"
	"time"
)

// counters are what a daemon counted of what it got, since it started or between two readings.
type counters struct {
	Lines       uint64 `json:"lines"`
	Spans       uint64 `json:"spans"`
	Samples     uint64 `json:"samples"` // of lines and of spans
	Packets     uint64 `json:"packets"` // reads, on a stream of lines
	Bytes       uint64 `json:"bytes"`
	KernelDrops uint64 `json:"kernel_drops"` // trains, when datagrams were sent as such
	Refused     uint64 `json:"refused"`
	Truncated   uint64 `json:"truncated"`
	Overflowed  uint64 `json:"overflowed"` // samples beyond a limit of series
	Flushes     uint64 `json:"flushes"`
}

func countersOf(m metrics) counters {
	n := func(name string, labels ...string) uint64 { return uint64(m.sum(name, labels...)) }
	return counters{
		Lines:       n("veneur_ingest_lines_total"),
		Spans:       n("veneur_ingest_spans_total"),
		Samples:     n("veneur_ingest_samples_total") + n("veneur_ingest_span_samples_total"),
		Packets:     n("veneur_ingest_packets_total"),
		Bytes:       n("veneur_ingest_bytes_total"),
		KernelDrops: n("veneur_ingest_kernel_drops_total"),
		Refused:     n("veneur_ingest_refused_total"),
		Truncated:   n("veneur_ingest_truncated_total"),
		Overflowed:  n("veneur_ingest_outcomes_total", "outcome", "overflowed"),
		Flushes:     n("veneur_flush_flushes_total"),
	}
}

// since is what was counted since an earlier reading.
func (c counters) since(o counters) counters {
	return counters{
		Lines: c.Lines - o.Lines, Spans: c.Spans - o.Spans, Samples: c.Samples - o.Samples, Packets: c.Packets - o.Packets,
		Bytes: c.Bytes - o.Bytes, KernelDrops: c.KernelDrops - o.KernelDrops, Refused: c.Refused - o.Refused,
		Truncated: c.Truncated - o.Truncated, Overflowed: c.Overflowed - o.Overflowed, Flushes: c.Flushes - o.Flushes,
	}
}

// messages are lines and spans. A load has but one of them.
func (c counters) messages() uint64 { return c.Lines + c.Spans }

const (
	settlePoll = 10 * time.Millisecond
	settleTime = time.Second      // without any change: what is missing will not come
	settleMost = 30 * time.Second // of a daemon that has much to catch up with
)

// settle waits until the daemon has accounted for what was sent, or counts no further, and returns what it counted since before. A page that
// is read in the middle of a batch may have part of it only.
func settle(ctx context.Context, a *admin, before counters, s *tally, j *judge) (counters, error) {
	var last counters
	begin := time.Now()
	changed := begin
	for {
		now, err := a.counters(ctx)
		if err != nil {
			return last, err
		}
		now = now.since(before)
		// How many datagrams were in a train that was dropped, and how many may still come, nobody knows.
		if guess := j.gso && now.KernelDrops > 0; !guess && len(j.received(s, now)) == 0 {
			return now, nil
		}
		if now.messages() > s.Messages {
			return now, nil // somebody else sends, and may do so for ever
		}
		if now != last {
			last, changed = now, time.Now()
		}
		if time.Since(changed) > settleTime || time.Since(begin) > settleMost {
			return now, nil
		}
		time.Sleep(settlePoll)
	}
}
