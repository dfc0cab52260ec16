// Package debug is the sink that prints what it gets as tables for people.
package debug

import (
	"context"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/ssf"
)

// Kind returns the kind "debug".
func Kind() sinks.Kind {
	return sinks.Define("debug", DefaultConfig,
		func(c Config, s sinks.Settings) (sinks.MetricSink, error) { return newSink(c, s), nil },
		func(c Config, s sinks.Settings) (sinks.SpanSink, error) { return newSink(c, s), nil })
}

// sink is used by one goroutine at a time, as every sink is.
//
// A write to standard output that nobody reads hangs, and there is no portable way to give up on one. So Send can hang; delivery then lets this
// sink's queue overflow and says that it fails, the rest of the daemon goes on, and what waits is printed when somebody reads again.
type sink struct {
	out     io.Writer
	maxRows int
	table   table

	end     time.Time // of the interval that was printed last
	printed [numSections]int
}

// section is what has tables of its own.
type section int

const (
	points section = iota
	events
	checks
	numSections
)

func newSink(c Config, s sinks.Settings) *sink {
	colored := c.Color == colorAlways || c.Color == colorAuto && terminal(s.Stdout) && os.Getenv("NO_COLOR") == ""
	return &sink{out: s.Stdout, maxRows: c.MaxRows, table: table{paint: painter(colored)}}
}

func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Send prints a table each of points, events and checks, where there are any.
func (k *sink) Send(_ context.Context, chunk *sinks.Batch) error {
	if !chunk.End.Equal(k.end) {
		k.end, k.printed = chunk.End, [numSections]int{}
	}
	rows := [numSections]int{
		points: k.room(points, len(chunk.Points)),
		events: k.room(events, len(chunk.Events)),
		checks: k.room(checks, len(chunk.Checks)),
	}
	k.table.points(chunk, rows[points])
	k.table.events(chunk, rows[events])
	k.table.checks(chunk, rows[checks])
	if err := k.print(); err != nil {
		return err // the chunk comes again, and needs the rows then
	}
	for s, n := range rows {
		k.printed[s] += n
	}
	return nil
}

// room returns how many of n further items of the interval may be printed.
func (k *sink) room(s section, n int) int {
	if k.maxRows == 0 {
		return n
	}
	return min(n, k.maxRows-k.printed[s])
}

// SendSpans prints one table of spans.
func (k *sink) SendSpans(_ context.Context, spans []*ssf.SSFSpan) error {
	rows := len(spans)
	if k.maxRows > 0 {
		rows = min(rows, k.maxRows)
	}
	k.table.spans(spans, rows)
	return k.print()
}

// print writes all of it at once, so that tables of several sinks do not run into each other.
func (k *sink) print() error {
	b := k.table.take()
	if len(b) == 0 {
		return nil
	}
	_, err := k.out.Write(b)
	return err
}
