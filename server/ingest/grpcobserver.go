package ingest

import (
	"context"

	"google.golang.org/grpc/codes"
	grpcstats "google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	"github.com/veneurd/veneur/internal/telemetry"
)

// grpcObserver is a stats.Handler. It gives each connection the lane that all its calls go to, so that of two calls of which the first
// was answered before the second began, the second sets a gauge last; and it counts the calls that do not get as far as to be read as spans
// or lines.
type grpcObserver struct {
	intakes          *intakePool
	message, tooLong *telemetry.Metric
}

func newGRPCObserver(intakes *intakePool, r *telemetry.Registry) grpcObserver {
	return grpcObserver{
		intakes: intakes,
		message: r.Counter(&descRefused, protocolGRPC, "message"),
		tooLong: r.Counter(&descRefused, protocolGRPC, "too_long"),
	}
}

// intakeKey finds the intake of a connection in the contexts of its calls.
type intakeKey struct{}

func intakeOf(ctx context.Context) *intake { return ctx.Value(intakeKey{}).(*intake) }

// TagConn returns ctx with an intake.
func (g *grpcObserver) TagConn(ctx context.Context, _ *grpcstats.ConnTagInfo) context.Context {
	return context.WithValue(ctx, intakeKey{}, g.intakes.next())
}

// HandleConn does nothing.
func (*grpcObserver) HandleConn(context.Context, grpcstats.ConnStats) {}

// TagRPC returns ctx.
func (*grpcObserver) TagRPC(ctx context.Context, _ *grpcstats.RPCTagInfo) context.Context { return ctx }

// HandleRPC counts calls that ended because they were too large.
func (g *grpcObserver) HandleRPC(_ context.Context, s grpcstats.RPCStats) {
	if end, ok := s.(*grpcstats.End); ok && status.Code(end.Error) == codes.ResourceExhausted {
		g.tooLong.Inc()
	}
}
