package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
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
	o, err := parse(args, environ, s.err)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.Is(err, errUsage):
		return exitFailure
	case err != nil:
		fmt.Fprintf(s.err, "veneur-emit: %v\n", err)
		return exitFailure
	}
	if o.command {
		return o.emitCommand(ctx, environ, s)
	}
	if err := o.emit(ctx, s); err != nil {
		fmt.Fprintf(s.err, "veneur-emit: %v\n", err)
		return exitFailure
	}
	return exitOK
}

// emitCommand runs the command and reports its time. Whatever becomes of the report, the exit code is the command's: who puts veneur-emit
// before a command wants that command's outcome.
func (o *options) emitCommand(ctx context.Context, environ []string, s streams) int {
	spanID := newSpanID()
	t := o.runCommand(ctx, environ, spanID, s)
	if t.took == 0 {
		return t.code // never ran: there is nothing to report
	}
	if err := o.report(ctx, spanID, t, s); err != nil {
		fmt.Fprintf(s.err, "veneur-emit: %v\n", err)
	}
	return t.code
}

func (o *options) report(ctx context.Context, spanID int64, t timed, s streams) error {
	if !o.ssf {
		return o.sendPacket(ctx, o.metricPacket(t.took), s)
	}
	span, err := o.newSpan(spanID, t.start, t.took, t.code != 0)
	if err != nil {
		return err
	}
	return o.sendSpan(ctx, span, s)
}

func (o *options) emit(ctx context.Context, s streams) error {
	switch {
	case o.stdin:
		return o.emitLines(ctx, s)
	case o.mode == modeEvent:
		packet, err := o.eventPacket()
		if err != nil {
			return err
		}
		return o.sendPacket(ctx, packet, s)
	case o.mode == modeCheck:
		packet, err := o.checkPacket()
		if err != nil {
			return err
		}
		return o.sendPacket(ctx, packet, s)
	case o.ssf:
		span, err := o.newSpan(newSpanID(), time.Time{}, o.timing, false)
		if err != nil {
			return err
		}
		return o.sendSpan(ctx, span, s)
	default:
		return o.sendPacket(ctx, o.metricPacket(o.timing), s)
	}
}

func (o *options) emitLines(ctx context.Context, s streams) error {
	to, err := o.dial(ctx)
	if err != nil {
		return err
	}
	lines := lineSender{to: to, stderr: s.err}
	err = lines.send(ctx, s.in)
	o.tell(s, "%d lines sent", lines.sent)
	return errors.Join(err, to.close())
}

func (o *options) sendPacket(ctx context.Context, packet []byte, s streams) error {
	to, err := o.dial(ctx)
	if err != nil {
		return err
	}
	o.tell(s, "sending %q", packet)
	return errors.Join(to.packet(ctx, packet), to.close())
}

func (o *options) sendSpan(ctx context.Context, span *ssf.SSFSpan, s streams) error {
	to, err := o.dial(ctx)
	if err != nil {
		return err
	}
	o.tell(s, "sending span %+v", *span)
	return errors.Join(to.span(ctx, span), to.close())
}

func (o *options) tell(s streams, format string, args ...any) {
	if o.debug {
		fmt.Fprintf(s.err, "veneur-emit: "+format+"\n", args...)
	}
}
