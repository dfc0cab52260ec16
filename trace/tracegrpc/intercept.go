package tracegrpc

import (
	"context"
	"io"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/veneurd/veneur/trace"
	"github.com/veneurd/veneur/trace/propagation"
)

// The tags of spans.
const (
	tagKind = "span.kind"
	tagCode = "grpc.code"
)

// UnaryServer starts a span for each call that a server gets, with the caller's as its parent. It is named by the method, such as
// /package.Service/Method, and is an indicator. formats are those that are looked for, all that are known if there are none.
func UnaryServer(client *trace.Client, formats ...propagation.Format) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		if client == nil {
			return handler(ctx, request)
		}
		span := startServer(ctx, client, info.FullMethod, formats)
		defer endPanic(span)
		answer, err := handler(span.Attach(ctx), request)
		end(span, err, serverFailed)
		return answer, err
	}
}

// StreamServer is UnaryServer for streams: the span ends with the stream.
func StreamServer(client *trace.Client, formats ...propagation.Format) grpc.StreamServerInterceptor {
	return func(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		if client == nil {
			return handler(server, stream)
		}
		ctx := stream.Context()
		span := startServer(ctx, client, info.FullMethod, formats)
		defer endPanic(span)
		err := handler(server, &serverStream{stream, span.Attach(ctx)})
		end(span, err, serverFailed)
		return err
	}
}

type serverStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s *serverStream) Context() context.Context { return s.ctx }

func startServer(ctx context.Context, client *trace.Client, method string, formats []propagation.Format) trace.Span {
	md, _ := metadata.FromIncomingContext(ctx)
	parent, _ := propagation.Extract(md.Get, formats...)
	span := client.StartFrom(parent, method)
	span.SetIndicator(true)
	span.SetTag(tagKind, "server")
	return span
}

// UnaryClient starts a span for each call that a client makes, a child of the one in the call's context, and writes it into the call's
// metadata in the formats given, those of propagation.Written if there are none. A call without a span in its context is not traced,
// unless there is a client in it.
func UnaryClient(formats ...propagation.Format) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, request, answer any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		span, ctx := startClient(ctx, method, formats)
		err := invoke(ctx, method, request, answer, conn, opts...)
		end(span, err, clientFailed)
		return err
	}
}

// StreamClient is UnaryClient for streams: the span ends when the stream has been read to its end, fails, or its context ends.
func StreamClient(formats ...propagation.Format) grpc.StreamClientInterceptor {
	return func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
		span, ctx := startClient(ctx, method, formats)
		if span.TraceID() == 0 {
			return open(ctx, desc, conn, method, opts...)
		}
		stream, err := open(ctx, desc, conn, method, opts...)
		if err != nil {
			end(span, err, clientFailed)
			return stream, err
		}
		s := &clientStream{ClientStream: stream, desc: desc, span: span}
		// Who gives a stream up ends the context he gave: gRPC demands that, or reading to the end.
		s.stop = context.AfterFunc(ctx, func() { s.end(status.FromContextError(ctx.Err()).Err()) })
		return s, nil
	}
}

type clientStream struct {
	grpc.ClientStream
	desc *grpc.StreamDesc
	span trace.Span
	stop func() bool
	once sync.Once
}

func (s *clientStream) end(err error) {
	s.once.Do(func() {
		if err == io.EOF { //nolint:errorlint // gRPC returns it as it is, and wraps nothing in it
			err = nil
		}
		end(s.span, err, clientFailed)
	})
}

func (s *clientStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if err != nil || !s.desc.ServerStreams {
		s.stop()
		s.end(err)
	}
	return err
}

func startClient(ctx context.Context, method string, formats []propagation.Format) (trace.Span, context.Context) {
	parent := trace.FromContext(ctx)
	if parent.TraceID() == 0 && parent.Client() == nil {
		return trace.Span{}, ctx
	}
	span, ctx := trace.StartSpanFromContext(ctx, method)
	span.SetTag(tagKind, "client")
	md, ok := metadata.FromOutgoingContext(ctx)
	if !ok {
		md = metadata.MD{}
	}
	propagation.Inject(func(key, value string) { md.Set(strings.ToLower(key), value) }, span.Context(), formats...)
	return span, metadata.NewOutgoingContext(ctx, md)
}

func end(span trace.Span, err error, failed func(codes.Code) bool) {
	code := status.Code(err)
	span.SetTag(tagCode, code.String())
	if failed(code) {
		span.Error(err)
	}
	span.Finish()
}

// endPanic finishes the span of a handler that panics.
func endPanic(span trace.Span) {
	if span.Recording() {
		span.SetError(true)
		span.Finish()
	}
}

func clientFailed(code codes.Code) bool { return code != codes.OK }

// serverFailed leaves out what is the caller's mistake, as a status below 500 is over HTTP.
func serverFailed(code codes.Code) bool {
	switch code {
	case codes.Unknown, codes.DeadlineExceeded, codes.Unimplemented, codes.Internal, codes.Unavailable, codes.DataLoss:
		return true
	}
	return false
}
