package main

import (
	"context"
	"fmt"
	"io"
	"strings"
)

const (
	stallBytes = 1400
	// stallShare of what the daemon takes at most is what it gets: a sender that is always held up sees nothing else.
	stallShare = 0.5
)

// climbStalls measures for how long a daemon does not read while it flushes a million series, and while it does not. It goes over a unix
// datagram socket: that holds its sender up when some ten datagrams wait.
func (o *options) climbStalls(ctx context.Context, out *ladder, stderr io.Writer) error {
	c := climber{rung: rung{name: stallRung, series: o.scale.series, bytes: stallBytes, mix: onlyCounters}, options: o}
	l := c.load()
	l.wire.buffer = stallBuffer
	d, err := startDaemon(ctx, c.daemon("unixgram", o.scale.flushes, false))
	if err != nil {
		return err
	}
	defer d.remove()
	l.wire.to = d.to
	if out.Revision, err = d.revision(ctx); err != nil {
		return err
	}
	if _, err := measure(ctx, d.endpoint, c.warm(l), c.judge(l)); err != nil {
		return err
	}
	fastest, err := measure(ctx, d.endpoint, l.at(0), c.judge(l))
	if err != nil {
		return err
	}
	paced := l.at(stallShare * float64(fastest.sent.Messages) / fastest.sent.took.Seconds())
	paced.duration, paced.holds, paced.tail = o.scale.stalls, true, o.scale.tail
	m, err := measure(ctx, d.endpoint, paced, c.judge(l))
	if err != nil {
		return err
	}
	if len(m.problems) > 0 {
		return fmt.Errorf("totals are not exact: %s", strings.Join(m.problems, "; "))
	}
	out.Stalls, out.StallRate = newStalls(&m), float64(m.sent.Messages)/m.sent.took.Seconds()
	fmt.Fprintf(stderr, "%-12s %11s lines/s, held up %.2f ms at most in %d flushes, %.2f ms in the median one, %.2f ms otherwise, %.2f ms by the machine\n",
		stallRung, grouped(uint64(out.StallRate)), out.Stalls.InFlush, out.Stalls.Flushes, out.Stalls.Median, out.Stalls.Otherwise, out.Stalls.Machine)
	return d.stop(ctx)
}
