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

	message, tooLong, slow, memory *telemetry.Metric
}

func newGRPCObserver(intakes *intakePool, r *telemetry.Registry) grpcObserver {
	return grpcObserver{
		intakes: intakes,
		message: r.Counter(&descRefused, protocolGRPC, "message"),
		tooLong: r.Counter(&descRefused, protocolGRPC, "too_long"),
		slow:    r.Counter(&descRefused, protocolGRPC, string(reasonSlow)),
		memory:  r.Counter(&descRefused, protocolGRPC, string(reasonMemory)),
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

// HandleRPC counts calls that ended because they were too large or took too long.
func (g *grpcObserver) HandleRPC(ctx context.Context, s grpcstats.RPCStats) {
	end, ok := s.(*grpcstats.End)
	if !ok {
		return
	}
	switch {
	case end.Error == nil:
	case status.Code(end.Error) == codes.ResourceExhausted:
		g.tooLong.Inc()
	case errors.Is(context.Cause(ctx), errSlow):
		g.slow.Inc()
	}
	if cancel, ok := ctx.Value(cancelKey{}).(context.CancelFunc); ok {
		cancel()
	}
}
