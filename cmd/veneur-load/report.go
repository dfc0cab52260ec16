package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// report is what is told in the end.
type report struct {
	Target   string       `json:"target"`
	Load     string       `json:"load"`
	Seconds  float64      `json:"seconds"` // from the first send to the last
	Rate     float64      `json:"messages_per_second"`
	Sent     sentFigures  `json:"sent"`
	Received counters     `json:"received"`
	Lost     uint64       `json:"lost_messages"`
	Sums     *sums        `json:"sums,omitempty"`
	Daemon   *daemonUsage `json:"daemon,omitempty"`
	Stalls   *stalls      `json:"stalls,omitempty"`
	Problems verdict      `json:"problems"`
	Exact    bool         `json:"exact"` // everything sent is accounted for, kernel drops included

	unit string // of messages
}

type sentFigures struct {
	Messages uint64 `json:"messages"`
	Samples  uint64 `json:"samples"`
	Packets  uint64 `json:"packets"`
	Bytes    uint64 `json:"bytes"`
}

// daemonUsage is what the load cost the daemon; memory in bytes.
type daemonUsage struct {
	CPU        float64 `json:"cpu_seconds"`
	PerMillion float64 `json:"cpu_seconds_per_million_samples"` // of those that arrived; 0 when none did
	PerMessage float64 `json:"cpu_seconds_per_million_messages"`
	RSSBefore  int64   `json:"rss_before"`
	RSS        int64   `json:"rss"`
	RSSPeak    int64   `json:"rss_peak"` // since it started
	RSSSettled int64   `json:"rss_settled,omitempty"`
}

// stalls are the longest times that a sender was held up.
type stalls struct {
	Flushes   int     `json:"flushes"`
	InFlush   float64 `json:"longest_in_flush_ms"`
	Median    float64 `json:"median_in_flush_ms"` // of the longest in each flush, which one slip of the machine does not move
	Otherwise float64 `json:"longest_otherwise_ms"`
	Machine   float64 `json:"machine_ms"` // the longest that the machine made the sender itself wait; what is not above it says nothing
}

func newReport(m *measured, target, what, unit string) *report {
	r := &report{
		Target: target, Load: what, unit: unit,
		Seconds:  m.sent.took.Seconds(),
		Rate:     float64(m.sent.Messages) / m.sent.took.Seconds(),
		Sent:     sentFigures{m.sent.Messages, m.sent.samples(), m.sent.Packets, m.sent.Bytes},
		Received: m.got,
		Lost:     m.sent.Messages - min(m.sent.Messages, m.got.messages()),
		Daemon:   newDaemonUsage(m),
		Problems: append(verdict{}, m.problems...),
	}
	return r
}

func newDaemonUsage(m *measured) *daemonUsage {
	if m.before == nil || m.after == nil {
		return nil
	}
	cpu := (m.after.cpu - m.before.cpu).Seconds()
	return &daemonUsage{
		CPU:        cpu,
		PerMillion: perMillion(cpu, m.got.Samples),
		PerMessage: perMillion(cpu, m.got.messages()),
		RSSBefore:  m.before.resident,
		RSS:        m.after.resident,
		RSSPeak:    m.after.top,
	}
}

func perMillion(v float64, n uint64) float64 {
	if n == 0 {
		return 0
	}
	return v / float64(n) * 1e6
}

func newStalls(m *measured) *stalls {
	in, out := m.sent.holds.longest(m.flushes)
	s := &stalls{Flushes: len(in), Otherwise: milliseconds(out), Machine: milliseconds(m.sent.holds.late)}
	if len(in) > 0 {
		slices.Sort(in)
		s.InFlush, s.Median = milliseconds(in[len(in)-1]), milliseconds(in[len(in)/2])
	}
	return s
}

func milliseconds(d time.Duration) float64 { return float64(d.Round(10*time.Microsecond)) / 1e6 }

func writeIndented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func (r *report) writeText(w io.Writer) {
	row := func(title, format string, args ...any) {
		fmt.Fprintf(w, "%-9s %s\n", title, fmt.Sprintf(format, args...))
	}
	row("load", "%s, to %s", r.Load, r.Target)
	row("sent", "%s %s, %s samples, %s packets, %s in %.2f s: %s %s/s", grouped(r.Sent.Messages), r.unit, grouped(r.Sent.Samples),
		grouped(r.Sent.Packets), megabytes(int64(r.Sent.Bytes)), r.Seconds, grouped(uint64(r.Rate)), r.unit)
	row("received", "%s %s, %s samples, %s packets, %s", grouped(r.Received.messages()), r.unit, grouped(r.Received.Samples),
		grouped(r.Received.Packets), megabytes(int64(r.Received.Bytes)))
	row("lost", "%s %s; the kernel dropped %s packets; %s refused; %s over a limit of series", grouped(r.Lost), r.unit,
		grouped(r.Received.KernelDrops), grouped(r.Received.Refused), grouped(r.Received.Overflowed))
	if d := r.Daemon; d != nil {
		row("cpu", "%.2f s: %.3f a million samples, %.3f a million %s", d.CPU, d.PerMillion, d.PerMessage, r.unit)
		row("memory", "%s, %s at most, %s before%s", megabytes(d.RSS), megabytes(d.RSSPeak), megabytes(d.RSSBefore), d.settled())
	}
	if s := r.Stalls; s != nil {
		row("stalls", "%.2f ms at most in %d flushes, %.2f ms in the median one, %.2f ms otherwise; the machine alone makes %.2f ms",
			s.InFlush, s.Flushes, s.Median, s.Otherwise, s.Machine)
	}
	if s := r.Sums; s != nil {
		row("sums", "counters %.0f, timings %.0f; %d points of gauges, %d of sets", s.Counters, s.Timings, s.Gauges, s.Sets)
	}
	if r.Exact {
		row("exact", "everything sent is accounted for")
	}
	for _, p := range r.Problems {
		row("WRONG", "%s", p)
	}
}

func (d *daemonUsage) settled() string {
	if d.RSSSettled == 0 {
		return ""
	}
	return ", " + megabytes(d.RSSSettled) + " when it had settled"
}

// grouped writes 1234567 as 1,234,567.
func grouped(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func megabytes(n int64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1e6), ".0") + " MB"
}
