package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/veneurd/veneur/protocol"
	"github.com/veneurd/veneur/ssf"
)

// The methods, under the names the original gave them.
const (
	methodSpan   = "/ssf.SSFGRPC/SendSpan"
	methodPacket = "/dogstatsd.DogstatsdGRPC/SendPacket"
)

// grpcSender sends by unary calls.
type grpcSender struct{ conn *grpc.ClientConn }

func dialGRPC(address protocol.Address, proxy string) (sender, error) {
	transport := insecure.NewCredentials()
	if address.TLS {
		transport = credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})
	}
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{}), grpc.WaitForReady(true)),
	}
	if proxy != "" {
		proxyAddress, err := parseProxy(proxy)
		if err != nil {
			return nil, err
		}
		options = append(options, grpc.WithContextDialer(func(ctx context.Context, target string) (net.Conn, error) {
			return dialThrough(ctx, proxyAddress, target)
		}))
	}
	_, where := address.NetAddress()
	scheme := "dns:///"
	if proxy != "" {
		scheme = "passthrough:///" // the proxy looks the name up
	}
	conn, err := grpc.NewClient(scheme+where, options...)
	if err != nil {
		return nil, err
	}
	return &grpcSender{conn}, nil
}

func (s *grpcSender) packet(ctx context.Context, packet []byte) error {
	message := protowire.AppendTag(nil, 1, protowire.BytesType)
	return s.call(ctx, methodPacket, protowire.AppendBytes(message, packet))
}

func (s *grpcSender) span(ctx context.Context, span *ssf.SSFSpan) error {
	return s.call(ctx, methodSpan, ssf.AppendSpan(nil, span))
}

func (s *grpcSender) call(ctx context.Context, method string, message []byte) error {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	var reply []byte
	return s.conn.Invoke(ctx, method, message, &reply)
}

func (s *grpcSender) limit() int { return 64 << 10 }

func (s *grpcSender) close() error { return s.conn.Close() }

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

func parseProxy(s string) (string, error) {
	if _, _, err := net.SplitHostPort(s); err == nil {
		return s, nil
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" || u.Port() == "" {
		return "", fmt.Errorf("-proxy %q is neither host:port nor http://host:port", s)
	}
	return u.Host, nil
}

// dialThrough connects to target by the proxy's CONNECT method (RFC 9110, section 9.3.6).
func dialThrough(ctx context.Context, proxy, target string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", proxy)
	if err != nil {
		return nil, err
	}
	request := (&http.Request{Method: http.MethodConnect, URL: &url.URL{Host: target}, Host: target, Header: http.Header{}}).WithContext(ctx)
	if err := request.Write(conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, request)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("proxy %s: %w", proxy, err), conn.Close())
	}
	if response.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("proxy %s answers %s", proxy, response.Status), conn.Close())
	}
	return &buffered{conn, reader}, nil
}

// buffered reads first what came right behind the proxy's answer.
type buffered struct {
	net.Conn
	reader *bufio.Reader
}

func (b *buffered) Read(p []byte) (int, error) { return b.reader.Read(p) }
