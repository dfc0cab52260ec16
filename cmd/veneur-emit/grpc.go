package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/veneurd/veneur/ssf"
)

// The methods, under the names the original gave them.
const (
	methodSpan   = "/ssf.SSFGRPC/SendSpan"
	methodPacket = "/dogstatsd.DogstatsdGRPC/SendPacket"
)

// grpcSender sends by unary calls.
type grpcSender struct {
	conn *grpc.ClientConn
	to   destination
}

// newGRPCSender connects only when it is first used.
func newGRPCSender(to destination) (sender, error) {
	transport := insecure.NewCredentials()
	if to.TLS {
		transport = credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})
	}
	host, _, _ := strings.Cut(to.Host, "%") // a zone means nothing to anybody else
	// The connection is made by us, as for every other transport: from the target in the form of an URL a zone would be lost, and a proxy
	// for the web, named by the environment, is no way to a daemon.
	conn, err := grpc.NewClient("passthrough:///veneur",
		grpc.WithTransportCredentials(transport),
		grpc.WithAuthority(net.JoinHostPort(host, strconv.Itoa(int(to.Port)))),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			if to.proxy != nil {
				_, where := to.NetAddress()
				return dialThrough(ctx, to.proxy, where)
			}
			return to.connect(ctx)
		}),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{})))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", to.Address, err)
	}
	return &grpcSender{conn, to}, nil
}

func (s *grpcSender) packet(ctx context.Context, packet []byte) error {
	message := protowire.AppendTag(nil, 1, protowire.BytesType)
	return s.call(ctx, methodPacket, protowire.AppendBytes(message, packet))
}

func (s *grpcSender) span(ctx context.Context, span *ssf.SSFSpan) error {
	return s.call(ctx, methodSpan, ssf.AppendSpan(nil, span))
}

// call gives up as soon as connecting fails.
func (s *grpcSender) call(ctx context.Context, method string, message []byte) error {
	var reply []byte
	err := s.conn.Invoke(ctx, method, message, &reply)
	switch answer := status.Convert(err); answer.Code() {
	case codes.OK:
		return nil
	case codes.DeadlineExceeded:
		return fmt.Errorf("%s: no answer: %s", s.to.Address, answer.Message())
	case codes.Unavailable:
		return fmt.Errorf("%s: %s", s.to.Address, answer.Message())
	default:
		return fmt.Errorf("%s: %s: %s", s.to.Address, answer.Code(), answer.Message())
	}
}

func (s *grpcSender) limit() int { return maxMessage }

func (s *grpcSender) finish(context.Context) error { return s.conn.Close() }

// rawCodec sends messages that are encoded already. It is passed with each call rather than registered, since registered codecs belong to
// the whole process.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}
