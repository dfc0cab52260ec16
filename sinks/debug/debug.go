// Package debug is the sink that prints what it gets as tables for people.
package debug

import (
	"context"
	"io"
	"os"

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
type sink struct {
	out     io.Writer
	maxRows int
	paint   painter
	table   table
}

func newSink(c Config, s sinks.Settings) *sink {
	colored := c.Color == colorAlways || c.Color == colorAuto && terminal(s.Stdout) && os.Getenv("NO_COLOR") == ""
	return &sink{out: s.Stdout, maxRows: c.MaxRows, paint: painter(colored)}
}

func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Send prints one table of points, and one each of events and checks where there are any.
func (k *sink) Send(_ context.Context, chunk *sinks.Batch) error {
	k.table.reset(k.paint, k.maxRows)
	k.table.points(chunk)
	k.table.events(chunk)
	k.table.checks(chunk)
	return k.print()
}

// SendSpans prints one table of spans.
func (k *sink) SendSpans(_ context.Context, spans []*ssf.SSFSpan) error {
	k.table.reset(k.paint, k.maxRows)
	k.table.spans(spans)
	return k.print()
}

// print writes all of it at once, so that tables of several sinks do not run into each other.
func (k *sink) print() error {
	_, err := k.out.Write(k.table.buf)
	return err
}
