package ingest

import (
	"context"

	"google.golang.org/grpc/codes"
	grpcstats "google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	"github.com/veneurd/veneur/internal/telemetry"
)

// grpcRefusals counts the calls that do not get as far as to be read as spans or lines. It is a stats.Handler for the sake of those that
// no handler sees, because they are too large.
type grpcRefusals struct{ message, tooLong *telemetry.Metric }

func newGRPCRefusals(r *telemetry.Registry) grpcRefusals {
	return grpcRefusals{
		message: r.Counter(&descRefused, protocolGRPC, "message"),
		tooLong: r.Counter(&descRefused, protocolGRPC, "too_long"),
	}
}

// TagRPC returns ctx.
func (*grpcRefusals) TagRPC(ctx context.Context, _ *grpcstats.RPCTagInfo) context.Context { return ctx }

// HandleRPC counts calls that ended because they were too large.
func (g *grpcRefusals) HandleRPC(_ context.Context, s grpcstats.RPCStats) {
	if end, ok := s.(*grpcstats.End); ok && status.Code(end.Error) == codes.ResourceExhausted {
		g.tooLong.Inc()
	}
}

// TagConn returns ctx.
func (*grpcRefusals) TagConn(ctx context.Context, _ *grpcstats.ConnTagInfo) context.Context {
	return ctx
}

// HandleConn does nothing.
func (*grpcRefusals) HandleConn(context.Context, grpcstats.ConnStats) {}
