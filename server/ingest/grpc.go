package ingest

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
)

const (
	// maxMessage is the most bytes of a call, as it was with the original.
	maxMessage = 4 << 20
	// maxCalls is how many calls a connection may have under way. With maxMessage it bounds what one client can make the daemon hold.
	maxCalls = 64
	// grpcGrace is how long, at a stop, calls under way may take to end.
	grpcGrace = time.Second
)

// grpcServer serves both services, for spans and for DogStatsD packets, and the standard one for health, on one port.
type grpcServer struct {
	*binding
	tls      *tls.Config // nil without TLS
	lines    *source     // what DogStatsD packets are counted under; spans under binding's
	observer grpcObserver

	acceptor *acceptor
}

// Start binds the listener.
func (g *grpcServer) Start(ctx context.Context) error {
	listener, _, err := g.listen(ctx)
	if err != nil {
		return err
	}
	g.acceptor = newAcceptor(listener, g.src.name, g.maxConnections, g.registry)
	g.setAddr(listener.Addr())
	return nil
}

// Close lets go of what Start bound.
func (g *grpcServer) Close() error { return g.acceptor.Close() }

// Run serves until ctx is done, and then lets the calls under way end.
func (g *grpcServer) Run(ctx context.Context) error {
	server := grpc.NewServer(g.options()...)
	server.RegisterService(&spanService, g)
	server.RegisterService(&packetService, g)
	healthServer := health.NewServer()
	grpc_health_v1.RegisterHealthServer(server, healthServer)

	var group sync.WaitGroup
	served := make(chan error, 1)
	group.Go(func() { served <- server.Serve(g.acceptor) })
	var err error
	select {
	case <-ctx.Done():
		healthServer.Shutdown()
		graceful := make(chan struct{})
		group.Go(func() {
			server.GracefulStop()
			close(graceful)
		})
		grace := time.NewTimer(grpcGrace)
		select {
		case <-graceful:
		case <-grace.C:
		}
		grace.Stop()
	case err = <-served:
		err = fmt.Errorf("%s: %w", g.src.name, err)
	}
	server.Stop()
	_ = g.Close()
	group.Wait()
	return err
}

func (g *grpcServer) options() []grpc.ServerOption {
	options := []grpc.ServerOption{
		grpc.ForceServerCodecV2(newGRPCCodec()),
		grpc.MaxRecvMsgSize(maxMessage),
		grpc.MaxConcurrentStreams(maxCalls),
		grpc.ConnectionTimeout(g.handshakeTime),
		grpc.WaitForHandlers(true),
		grpc.StatsHandler(&g.observer),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle:     g.idleTimeout,
			MaxConnectionAge:      g.maxConnectionAge,
			MaxConnectionAgeGrace: handshakeTime,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
	}
	if g.tls != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(g.tls)))
	}
	return options
}

// The services stand here by hand, under the names that clients of the original know. Generated ones would register their messages
// under names that a program which also links the original would register again, and panic.
var (
	spanService   = unaryService("ssf.SSFGRPC", "SendSpan", (*grpcServer).sendSpan)
	packetService = unaryService("dogstatsd.DogstatsdGRPC", "SendPacket", (*grpcServer).sendPacket)
)

// unaryService describes a service with one method, which takes a message as it came and answers with an empty one.
func unaryService(service, method string, handle func(*grpcServer, *intake, []byte) error) grpc.ServiceDesc {
	return grpc.ServiceDesc{
		ServiceName: service,
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{
			MethodName: method,
			Handler: func(server any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				var m message
				if err := decode(&m); err != nil {
					return nil, err
				}
				defer m.free()
				return &message{}, handle(server.(*grpcServer), intakeOf(ctx), m.bytes())
			},
		}},
	}
}

// sendSpan takes one span. The caller is told when it is refused.
func (g *grpcServer) sendSpan(in *intake, data []byte) error {
	in.begin(g.src, time.Now())
	defer in.end()
	if err := in.span(data); err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	return nil
}

// sendPacket takes a packet of DogStatsD lines. As in a datagram, some may be refused while others are not; the caller is not told.
func (g *grpcServer) sendPacket(in *intake, data []byte) error {
	lines, err := packetBytes(data)
	if err != nil {
		g.observer.message.Inc()
		g.log.Note("grpc call refused: not a DogstatsdPacket", data)
		return status.Error(codes.InvalidArgument, err.Error())
	}
	in.begin(g.lines, time.Now())
	defer in.end()
	in.block(lines, false)
	return nil
}
