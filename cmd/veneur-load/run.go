package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/veneurd/veneur/internal/spantree"
)

// Exit codes.
const (
	exitOK      = 0
	exitFailure = 1 // something does not add up, or went wrong
	exitUsage   = 2
)

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		tell(stderr, err)
		fmt.Fprintln(stderr, "veneur-load: -help lists the flags")
		return exitUsage
	}
	work := o.single
	if o.ladder {
		work = o.climb
	}
	exact, err := work(ctx, stdout, stderr)
	switch {
	case err != nil:
		tell(stderr, err)
		return exitFailure
	case !exact:
		return exitFailure
	}
	return exitOK
}

func tell(stderr io.Writer, err error) {
	for line := range strings.Lines(err.Error() + "\n") {
		fmt.Fprint(stderr, "veneur-load: "+line)
	}
}

// single runs one load and reports on it.
func (o *options) single(ctx context.Context, stdout, _ io.Writer) (exact bool, err error) {
	l := o.load()
	e := endpoint{to: o.to, pid: o.pid}
	var d *daemon
	if o.daemon.program != "" {
		if d, err = startDaemon(ctx, o.daemon); err != nil {
			return false, err
		}
		defer d.remove()
		e = d.endpoint
	} else {
		e.admin = newAdmin(o.admin)
		defer e.admin.close()
	}
	l.wire.to = e.to
	j := o.judge(l)
	m, err := measure(ctx, e, l, &j)
	if err != nil {
		return false, err
	}
	r := newReport(&m, e.to.String(), o.describe(), o.unit())
	if o.stalls {
		r.Stalls = newStalls(&m)
	}
	if err := o.settled(ctx, &e, r); err != nil {
		return false, err
	}
	if d != nil {
		stop := d.stop
		if o.sums {
			stop = d.finish
		}
		if err := stop(ctx); err != nil {
			return false, err
		}
		if o.sums {
			s, err := d.sums()
			if err != nil {
				return false, err
			}
			r.Sums = &s
			r.Problems = append(r.Problems, j.summed(&m.sent.tally, m.got, s)...)
		}
	}
	r.Exact = len(r.Problems) == 0
	if o.json {
		return r.Exact, writeIndented(stdout, r)
	}
	r.writeText(stdout)
	return r.Exact, nil
}

// settled waits as long as it was asked to, and looks at the daemon's memory once more.
func (o *options) settled(ctx context.Context, e *endpoint, r *report) error {
	if o.settle == 0 {
		return nil
	}
	if err := wait(ctx, o.settle); err != nil {
		return err
	}
	if u := e.usage(); u != nil && r.Daemon != nil {
		r.Daemon.RSSSettled = u.resident
	}
	return nil
}

// load makes what is to be sent. Where to is not known yet.
func (o *options) load() *load {
	l := &load{
		senders: o.senders, batch: o.batch, rate: float64(o.rate), count: uint64(o.count), duration: o.duration, holds: o.stalls, tail: o.scale.tail,
		wire: wire{gso: o.gso},
	}
	if o.stalls {
		l.wire.buffer = stallBuffer
	}
	switch o.span.chosen {
	case tree:
		l.corpus = treeCorpus(o.limits())
	case typical, heavy:
		l.corpus = spanLoad{shapeOf(o.span.chosen), int(o.series), o.mix}.corpus(o.limits())
	default:
		l.corpus = lineLoad{int(o.series), o.tags, o.mix}.corpus(o.limits())
	}
	return l
}

// stallBuffer is a send buffer, in bytes, that is full soon after the daemon has stopped reading.
const stallBuffer = 16 << 10

func (o *options) judge(l *load) judge {
	return judge{
		corpus: l.corpus, mix: o.mix, gso: l.wire.gso,
		mayDrop: l.wire.to.Network == "udp", framed: o.span.chosen != "" && !isDatagram(l.wire.to),
	}
}

func (o *options) unit() string {
	if o.span.chosen != "" {
		return "spans"
	}
	return "lines"
}

// describe says what the load is, in words.
func (o *options) describe() string {
	s := fmt.Sprintf("%d series of %s, ", o.series, o.mix.String())
	switch {
	case o.span.chosen == tree:
		s = fmt.Sprintf("%d traces of %d spans", treeTraces, spantree.SpansPerTrace)
	case o.span.chosen != "":
		s += o.span.chosen + " spans"
	case o.bytes > 0:
		s += fmt.Sprintf("%d tags, packets of %d bytes", o.tags, o.bytes)
	default:
		s += fmt.Sprintf("%d tags, %d lines a packet", o.tags, o.lines)
	}
	return s + fmt.Sprintf(", %d senders at %s/s", o.senders, o.rate.String())
}
