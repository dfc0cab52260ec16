package ingest

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
)

// What one client, and all of them, can make package grpc hold. The bytes of calls come out of the budget, as meter says. Beside it each
// connection holds callAllowance and some 40 KiB for its goroutines, its buffers and the frame that it is reading, all of
// max_connections together some 900 MB; and a message that came in several frames is copied once, which at worst doubles what is in the
// budget for as long as the copy waits for its lane. Floods of resets, pings and settings are left to package grpc, which stops to read from who
// does not read the answers, and has no more handlers at work for a connection than calls.
const (
	// maxMessage is the most bytes of a call, as it was with the original.
	maxMessage = 4 << 20
	// maxCalls is how many calls a connection may have under way.
	maxCalls = 16
	// maxHeaders is the most bytes of the headers of a call, 32 more counted for each of them. Package grpc would take 16 MiB.
	maxHeaders = 8 << 10
	// callWindow is how many bytes of a call may arrive before its size is known, and connWindow those of all calls of a connection that the
	// sender need not be told to have arrived. Package grpc would let the first grow to 16 MiB with what a client sends fast.
	callWindow = 64 << 10
	connWindow = 1 << 20
	// connBuffer is what package grpc reads into, and each connection has one.
	connBuffer = 8 << 10
	// grpcAlive is after how long a client from which nothing comes is asked to answer, in grpcAnswer. One that does not read is found so.
	grpcAlive  = 2 * time.Minute
	grpcAnswer = 20 * time.Second
	// grpcGrace is how long, at a stop, calls under way may take to end.
	grpcGrace = 500 * time.Millisecond
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
	g.acceptor = newAcceptor(listener, g.src.name, g.connectionLimit(), g.registry)
	g.setAddr(listener.Addr())
	return nil
}

// Close lets go of what Start bound.
func (g *grpcServer) Close() error { return g.acceptor.Close() }

// Run serves until ctx is done, and then lets the calls under way end.
func (g *grpcServer) Run(ctx context.Context) error {
	server := grpc.NewServer(g.options(ctx)...)
	server.RegisterService(&spanService, g)
	server.RegisterService(&packetService, g)
	healthServer := health.NewServer()
	grpc_health_v1.RegisterHealthServer(server, healthServer)

	var group sync.WaitGroup
	served := make(chan error, 1)
	listener := newTrackedListener(g.acceptor)
	group.Go(func() { served <- server.Serve(listener) })
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
		listener.closeConns()
	case err = <-served:
		err = fmt.Errorf("%s: %w", g.src.name, err)
	}
	server.Stop()
	_ = g.Close()
	group.Wait()
	return err
}

func (g *grpcServer) options(ctx context.Context) []grpc.ServerOption {
	transport := insecure.NewCredentials()
	if g.tls != nil {
		transport = credentials.NewTLS(g.tls)
	}
	return []grpc.ServerOption{
		grpc.Creds(meteredCredentials{transport, ctx, g.meter, g.handshakeFailed}),
		grpc.ForceServerCodecV2(newGRPCCodec()),
		grpc.MaxRecvMsgSize(maxMessage),
		grpc.MaxConcurrentStreams(maxCalls),
		grpc.MaxHeaderListSize(maxHeaders),
		grpc.StaticStreamWindowSize(callWindow),
		grpc.StaticConnWindowSize(connWindow),
		grpc.ReadBufferSize(connBuffer),
		grpc.ConnectionTimeout(g.handshakeTime),
		grpc.WaitForHandlers(true),
		grpc.StatsHandler(&g.observer),
		grpc.InTapHandle(g.begin),
		grpc.UnknownServiceHandler(unknownMethod), // without one its calls would not be observed
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle:     g.idleTimeout,
			MaxConnectionAge:      g.maxConnectionAge,
			MaxConnectionAgeGrace: handshakeTime,
			Time:                  grpcAlive,
			Timeout:               grpcAnswer,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
	}
}

// meter returns conn with the bytes of its calls taken from the budget.
func (g *grpcServer) meter(conn net.Conn) net.Conn {
	return newMeter(conn, g.budget, func() {
		g.acceptor.closed[closedMemory].Inc()
		g.observer.memory.Inc()
	}, g.observer.reset)
}

// handshakeFailed counts a connection that did not come about.
func (g *grpcServer) handshakeFailed(err error) {
	g.acceptor.closed[closedHandshake].Inc()
	g.log.Note("TLS handshake failed", []byte(err.Error()))
}

func unknownMethod(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	return status.Errorf(codes.Unimplemented, "unknown method %s", method)
}

// begin ends a call whose message does not arrive in time. A watch of the health service goes on for as long as its client likes. What does
// not name a service and a method is refused here, since package grpc would refuse it without a word to the observer.
func (g *grpcServer) begin(ctx context.Context, call *tap.Info) (context.Context, error) {
	if !strings.HasPrefix(call.FullMethodName, "/") || strings.LastIndexByte(call.FullMethodName, '/') == 0 {
		err := status.Errorf(codes.Unimplemented, "malformed method name %q", call.FullMethodName)
		g.observer.refuse(g.observer.unimplemented, "grpc call refused: unimplemented", err)
		return ctx, err
	}
	if call.FullMethodName == grpc_health_v1.Health_Watch_FullMethodName {
		return ctx, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, g.messageTime, errSlow)
	return context.WithValue(ctx, cancelKey{}, cancel), nil
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
