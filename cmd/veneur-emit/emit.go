package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/veneurd/veneur/ssf"
)

// streams are the standard streams.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// Exit codes of our own; those of a timed command go before them.
const (
	exitOK      = 0
	exitFailure = 1
)

// run does what the command line says and returns the exit code.
func run(ctx context.Context, args, environ []string, s streams) int {
	o, err := parse(args, environ, s.out)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		tell(s, err)
		return exitFailure
	case o.command:
		return o.emitCommand(ctx, environ, s)
	}
	if err := o.emit(ctx, s); err != nil {
		tell(s, err)
		return exitFailure
	}
	return exitOK
}

func tell(s streams, err error) {
	for line := range strings.Lines(err.Error() + "\n") {
		fmt.Fprint(s.err, "veneur-emit: "+line)
	}
}

// emitCommand runs the command and reports its time. Whatever becomes of the report, the exit code is the command's: who puts veneur-emit
// before a command wants that command's outcome.
func (o *options) emitCommand(ctx context.Context, environ []string, s streams) int {
	spanID := newSpanID()
	t, err := o.runCommand(ctx, environ, spanID, s)
	if err == nil {
		err = o.report(ctx, spanID, t, s)
	}
	if err != nil {
		tell(s, err)
	}
	return t.code
}

func (o *options) report(ctx context.Context, spanID int64, t timed, s streams) error {
	if o.ssf {
		return o.sendSpan(ctx, o.newSpan(spanID, t), s)
	}
	return o.sendPacket(ctx, o.metricPacket(t.took), s)
}

func (o *options) emit(ctx context.Context, s streams) error {
	switch {
	case o.stdin:
		return o.emitLines(ctx, s)
	case o.trees > 0:
		return o.emitTrees(ctx, s)
	case o.mode.chosen == modeEvent:
		return o.sendPacket(ctx, o.eventPacket(), s)
	case o.mode.chosen == modeCheck:
		return o.sendPacket(ctx, o.checkPacket(), s)
	default:
		return o.report(ctx, newSpanID(), timed{took: time.Duration(o.timing)}, s)
	}
}

func (o *options) emitLines(ctx context.Context, s streams) error {
	timeout, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	to, err := o.to.dial(timeout)
	if err != nil {
		return err
	}
	lines := lineSender{to: to, stderr: s.err}
	err = lines.send(ctx, s.in)
	timeout, cancel = context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	// A second error would be that of the same connection.
	if finished := to.finish(timeout); err == nil || errors.Is(err, errBadLines) {
		err = errors.Join(finished, err)
	}
	o.debugf(s, "%d lines sent to %s", lines.sent, o.to)
	return err
}

func (o *options) sendPacket(ctx context.Context, packet []byte, s streams) error {
	if len(packet) > maxMessage {
		return fmt.Errorf("that makes a message of %d bytes, and daemons take %d", len(packet), maxMessage)
	}
	return o.sendTo(ctx, func(ctx context.Context, to sender) error {
		o.debugf(s, "sending %q to %s", packet, o.to)
		return to.packet(ctx, packet)
	})
}

func (o *options) sendSpan(ctx context.Context, span *ssf.SSFSpan, s streams) error {
	return o.sendTo(ctx, func(ctx context.Context, to sender) error {
		o.debugf(s, "sending span %v to %s", span, o.to)
		return to.span(ctx, span)
	})
}

// sendTo connects, sends one thing and sees it off, all in sendTimeout.
func (o *options) sendTo(ctx context.Context, send func(context.Context, sender) error) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	to, err := o.to.dial(ctx)
	if err != nil {
		return err
	}
	err = send(ctx, to)
	if finished := to.finish(ctx); err == nil {
		err = finished
	}
	return err
}

func (o *options) debugf(s streams, format string, args ...any) {
	if o.debug {
		fmt.Fprintf(s.err, "veneur-emit: "+format+"\n", args...)
	}
}
