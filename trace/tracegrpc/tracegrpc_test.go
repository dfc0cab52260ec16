package tracegrpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/veneurd/veneur/internal/leaktest"
	"github.com/veneurd/veneur/server/servertest"
	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
	"github.com/veneurd/veneur/trace/propagation"
	"github.com/veneurd/veneur/trace/tracegrpc"
	"github.com/veneurd/veneur/trace/tracetest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const patience = time.Minute

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func requireLaw(t *testing.T, c *trace.Client) trace.Stats {
	t.Helper()
	s := c.Stats()
	require.Equal(t, s.Recorded, s.Sent+s.Lost()+s.Waiting, "%+v", s)
	return s
}

func TestDaemonGetsEverything(t *testing.T) {
	spans := filepath.Join(t.TempDir(), "spans")
	d := servertest.Start(t, `
interval: 1h
grpc_listen_addresses: ["127.0.0.1:0"]
span_sinks: [{kind: localfile, name: out, config: {path: `+spans+`}}]`)
	address := ""
	for _, a := range d.Server.Addrs() {
		if a.Protocol == "gRPC" {
			address = a.Address
		}
	}
	c, err := tracegrpc.NewClient(address, trace.WithService("api"))
	require.NoError(t, err)
	for i := range 200 {
		span := c.StartTrace(fmt.Sprint(i))
		span.Add(ssf.Count("n", 1, nil))
		span.Finish()
	}
	c.StartTrace("").Finish() // carries nothing: the daemon refuses it
	require.ErrorIs(t, c.Flush(within(t)), trace.ReasonRefused)
	require.NoError(t, c.Close(within(t)))
	stats := requireLaw(t, c)
	require.EqualValues(t, 200, stats.Sent)
	require.EqualValues(t, 1, stats.Dropped[trace.ReasonRefused])
	require.NoError(t, d.Stop())
	names := map[string]bool{}
	for _, r := range servertest.Records(t, spans) {
		names[r.Name] = true
	}
	require.Len(t, names, 200)
}

func TestDaemonIsAway(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	c, err := tracegrpc.NewClient(address)
	require.NoError(t, err)
	c.StartTrace("a").Finish()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, c.Flush(ctx), context.DeadlineExceeded)
	ctx, cancel = context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	require.Error(t, c.Close(ctx))
	require.Less(t, time.Since(start), 20*time.Second)
	require.ErrorContains(t, c.Close(within(t)), "1 packets")
	require.EqualValues(t, 1, requireLaw(t, c).Dropped[trace.ReasonShutdown])
}

// However long the daemon is away, it is looked for several times a second: gRPC by itself would come to two minutes between attempts, and these
// ten take it three.
func TestLooksForTheDaemonOften(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	c, err := tracegrpc.NewClient(l.Addr().String())
	require.NoError(t, err)
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		require.Error(t, c.Close(ctx))
		_ = c.Close(within(t)) // its goroutines have ended then
	}()
	c.StartTrace("a").Finish()
	require.NoError(t, l.(*net.TCPListener).SetDeadline(time.Now().Add(patience)))
	for range 10 {
		conn, err := l.Accept()
		require.NoError(t, err)
		require.NoError(t, conn.Close())
	}
}

func TestWrongAddresses(t *testing.T) {
	_, err := tracegrpc.NewClient("udp://127.0.0.1:1")
	require.ErrorContains(t, err, "does not go over udp")
	_, err = tracegrpc.NewClient("127.0.0.1:1", trace.WithMemory(1))
	require.ErrorContains(t, err, "WithMemory")
}

// echo is a service of two methods: Unary answers once, Stream answers each message.
var echo = grpc.ServiceDesc{
	ServiceName: "test.Echo",
	HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Unary", Handler: func(_ any, ctx context.Context, decode func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
		in := new(wrapperspb.StringValue)
		if err := decode(in); err != nil {
			return nil, err
		}
		return intercept(ctx, in, &grpc.UnaryServerInfo{FullMethod: "/test.Echo/Unary"}, func(ctx context.Context, _ any) (any, error) {
			return in, answer(ctx, in.Value)
		})
	}}},
	Streams: []grpc.StreamDesc{{StreamName: "Stream", ServerStreams: true, ClientStreams: true, Handler: func(_ any, stream grpc.ServerStream) error {
		for {
			in := new(wrapperspb.StringValue)
			if err := stream.RecvMsg(in); err != nil {
				if errors.Is(err, io.EOF) {
					return nil
				}
				return err
			}
			if err := answer(stream.Context(), in.Value); err != nil {
				return err
			}
			if err := stream.SendMsg(in); err != nil {
				return err
			}
		}
	}}},
}

func answer(ctx context.Context, want string) error {
	inner, _ := trace.StartSpanFromContext(ctx, "inner")
	inner.Finish()
	switch want {
	case "missing":
		return status.Error(codes.NotFound, "missing")
	case "broken":
		return status.Error(codes.Internal, "broken")
	}
	return nil
}

// serve runs a traced service and returns a traced connection to it.
func serve(t *testing.T, client *trace.Client, formats ...propagation.Format) *grpc.ClientConn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := grpc.NewServer(grpc.UnaryInterceptor(tracegrpc.UnaryServer(client, formats...)), grpc.StreamInterceptor(tracegrpc.StreamServer(client, formats...)))
	s.RegisterService(&echo, nil)
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithUnaryInterceptor(tracegrpc.UnaryClient(formats...)), grpc.WithStreamInterceptor(tracegrpc.StreamClient(formats...)))
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = conn.Close()
		s.Stop()
		<-served
	})
	return conn
}

func call(ctx context.Context, conn *grpc.ClientConn, text string) error {
	return conn.Invoke(ctx, "/test.Echo/Unary", wrapperspb.String(text), new(wrapperspb.StringValue))
}

// sides returns the spans of the client's and the server's side of a method.
func sides(t *testing.T, recorder *tracetest.Recorder, method string) (client, server *ssf.SSFSpan) {
	t.Helper()
	for _, span := range recorder.Spans() {
		if span.Name != method {
			continue
		}
		switch kind, _ := span.Tag("span.kind"); kind {
		case "client":
			client = span
		case "server":
			server = span
		}
	}
	require.NotNil(t, client)
	require.NotNil(t, server)
	return client, server
}

func TestUnaryCalls(t *testing.T) {
	for _, tt := range []struct {
		text                       string
		code                       string
		clientFailed, serverFailed bool
	}{
		{"fine", "OK", false, false},
		{"missing", "NotFound", true, false},
		{"broken", "Internal", true, true},
	} {
		for _, f := range []propagation.Format{propagation.W3C, propagation.B3, propagation.Veneur} {
			t.Run(fmt.Sprint(tt.text, f), func(t *testing.T) {
				c, recorder := tracetest.New(t)
				conn := serve(t, c, f)
				outer, ctx := c.StartSpanFromContext(within(t), "outer")
				ctx = metadata.AppendToOutgoingContext(ctx, "kept", "x")
				require.Equal(t, tt.code, status.Code(call(ctx, conn, tt.text)).String())
				outer.Finish()
				client, server := sides(t, recorder, "/test.Echo/Unary")
				require.Equal(t, outer.ID(), client.ParentId)
				require.Equal(t, client.Id, server.ParentId)
				require.Equal(t, outer.TraceID(), server.TraceId)
				require.Equal(t, []bool{tt.clientFailed, tt.serverFailed}, []bool{client.Error, server.Error})
				require.True(t, server.Indicator)
				code, _ := client.Tag("grpc.code")
				require.Equal(t, tt.code, code)
				require.Equal(t, server.Id, recorder.Span("inner").ParentId)
			})
		}
	}
}

func TestStreams(t *testing.T) {
	desc := &echo.Streams[0]
	for _, tt := range []struct {
		name   string
		use    func(t *testing.T, stream grpc.ClientStream, cancel func())
		code   string
		failed bool
	}{
		{"read to its end", func(t *testing.T, stream grpc.ClientStream, _ func()) {
			require.NoError(t, stream.SendMsg(wrapperspb.String("fine")))
			require.NoError(t, stream.CloseSend())
			require.NoError(t, stream.RecvMsg(new(wrapperspb.StringValue)))
			require.ErrorIs(t, stream.RecvMsg(new(wrapperspb.StringValue)), io.EOF)
		}, "OK", false},
		{"broken", func(t *testing.T, stream grpc.ClientStream, _ func()) {
			require.NoError(t, stream.SendMsg(wrapperspb.String("broken")))
			require.Error(t, stream.RecvMsg(new(wrapperspb.StringValue)))
		}, "Internal", true},
		{"given up", func(t *testing.T, stream grpc.ClientStream, cancel func()) {
			require.NoError(t, stream.SendMsg(wrapperspb.String("fine")))
			require.NoError(t, stream.RecvMsg(new(wrapperspb.StringValue)))
			cancel()
		}, "Canceled", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, recorder := tracetest.New(t)
			conn := serve(t, c)
			outer, ctx := c.StartSpanFromContext(within(t), "outer")
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			stream, err := conn.NewStream(ctx, desc, "/test.Echo/Stream")
			require.NoError(t, err)
			tt.use(t, stream, cancel)
			outer.Finish()
			require.Eventually(t, func() bool {
				n := 0
				for _, s := range recorder.Spans() {
					if s.Name == "/test.Echo/Stream" {
						n++
					}
				}
				return n == 2
			}, patience, time.Millisecond)
			client, server := sides(t, recorder, "/test.Echo/Stream")
			require.Equal(t, outer.ID(), client.ParentId)
			require.Equal(t, client.Id, server.ParentId)
			code, _ := client.Tag("grpc.code")
			require.Equal(t, tt.code, code)
			require.Equal(t, tt.failed, client.Error)
			require.Equal(t, server.Id, recorder.Span("inner").ParentId)
		})
	}
}

func TestUntracedCalls(t *testing.T) {
	conn := serve(t, nil)
	require.NoError(t, call(within(t), conn, "fine"))
	c, recorder := tracetest.New(t)
	require.NoError(t, call(c.Attach(within(t)), conn, "fine"))
	recorder.Span("/test.Echo/Unary").IsRoot().HasTag("span.kind", "client")
	stream, err := conn.NewStream(within(t), &echo.Streams[0], "/test.Echo/Stream")
	require.NoError(t, err)
	require.NoError(t, stream.CloseSend())
	require.ErrorIs(t, stream.RecvMsg(new(wrapperspb.StringValue)), io.EOF)
}

func TestPanicEndsTheSpan(t *testing.T) {
	c, recorder := tracetest.New(t)
	require.Panics(t, func() {
		_, _ = tracegrpc.UnaryServer(c)(t.Context(), nil, &grpc.UnaryServerInfo{FullMethod: "/m"}, func(context.Context, any) (any, error) { panic("x") })
	})
	recorder.Span("/m").Failed()
}
