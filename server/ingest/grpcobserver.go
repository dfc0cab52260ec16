package ingest

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	grpcstats "google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	"github.com/veneurd/veneur/internal/telemetry"
)

// grpcObserver is a stats.Handler. It gives each connection the lane that all its calls go to, so that of two calls of which the first
// was answered before the second began, the second sets a gauge last; and it counts the calls that do not get as far as to be read as spans
// or lines.
type grpcObserver struct {
	intakes *intakePool
	log     *telemetry.LogSampler

	message, tooLong, slow, memory, unimplemented, malformed, calls, headers *telemetry.Metric
}

func newGRPCObserver(intakes *intakePool, r *telemetry.Registry, log *telemetry.LogSampler) grpcObserver {
	return grpcObserver{
		intakes:       intakes,
		log:           log,
		message:       r.Counter(&descRefused, protocolGRPC, "message"),
		tooLong:       r.Counter(&descRefused, protocolGRPC, "too_long"),
		slow:          r.Counter(&descRefused, protocolGRPC, string(reasonSlow)),
		memory:        r.Counter(&descRefused, protocolGRPC, string(reasonMemory)),
		unimplemented: r.Counter(&descRefused, protocolGRPC, "unimplemented"),
		malformed:     r.Counter(&descRefused, protocolGRPC, "malformed"),
		calls:         r.Counter(&descRefused, protocolGRPC, "calls"),
		headers:       r.Counter(&descRefused, protocolGRPC, "headers"),
	}
}

// intakeKey finds the intake of a connection in the contexts of its calls, cancelKey what ends the time limit of a call.
type (
	intakeKey struct{}
	cancelKey struct{}
)

func intakeOf(ctx context.Context) *intake { return ctx.Value(intakeKey{}).(*intake) }

// TagConn returns ctx with an intake.
func (g *grpcObserver) TagConn(ctx context.Context, _ *grpcstats.ConnTagInfo) context.Context {
	return context.WithValue(ctx, intakeKey{}, g.intakes.next())
}

// HandleConn does nothing.
func (*grpcObserver) HandleConn(context.Context, grpcstats.ConnStats) {}

// TagRPC returns ctx.
func (*grpcObserver) TagRPC(ctx context.Context, _ *grpcstats.RPCTagInfo) context.Context { return ctx }

// HandleRPC counts calls that package grpc ended before their handler could count them. A client that goes away (Canceled, Unavailable, or
// its own DeadlineExceeded) is not refused, and what a handler answers with, InvalidArgument or the NotFound of a health check, is no news.
func (g *grpcObserver) HandleRPC(ctx context.Context, s grpcstats.RPCStats) {
	end, ok := s.(*grpcstats.End)
	if !ok {
		return
	}
	code := status.Code(end.Error)
	switch {
	case code == codes.OK:
	case code == codes.ResourceExhausted:
		g.refuse(g.tooLong, "grpc call refused: too_long", end.Error)
	case code == codes.Unimplemented: // no such method, or no such compression
		g.refuse(g.unimplemented, "grpc call refused: unimplemented", end.Error)
	case errors.Is(context.Cause(ctx), errSlow):
		g.refuse(g.slow, "grpc call refused: slow", end.Error)
	case code == codes.Internal: // not one whole message, as grpc frames it
		g.refuse(g.malformed, "grpc call refused: malformed", end.Error)
	}
	if cancel, ok := ctx.Value(cancelKey{}).(context.CancelFunc); ok {
		cancel()
	}
}

// reset counts calls that package grpc refuses without a word to a stats.Handler: all that is seen of that is the frame on the wire.
func (g *grpcObserver) reset(code uint32) {
	switch code {
	case codeRefusedStream:
		g.calls.Inc()
	case codeFrameSize:
		g.headers.Inc()
	}
}

func (g *grpcObserver) refuse(reason *telemetry.Metric, message string, err error) {
	reason.Inc()
	g.log.Note(message, []byte(err.Error()))
}
