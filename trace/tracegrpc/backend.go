package tracegrpc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"

	"github.com/veneurd/veneur/protocol"
	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
)

// methodSpan is under the name that the original gave it.
const methodSpan = "/ssf.SSFGRPC/SendSpan"

// callTimeout is how long the daemon may take for a span.
const callTimeout = 10 * time.Second

// maxReconnect is the longest pause between two attempts to connect. gRPC's own two minutes are for thousands of clients of one server; a
// daemon that is back is found within a second, the client's own pauses included.
const maxReconnect = 200 * time.Millisecond

// NewClient returns a client of the daemon at address: host:port, grpc://host:port, or https://host:port, which asks for TLS. It connects
// when there is something to send. Of the options WithTLS is not taken: use Dial for TLS with a configuration of one's own.
func NewClient(address string, opts ...trace.Option) (*trace.Client, error) {
	backend, err := Dial(address, nil)
	if err != nil {
		return nil, err
	}
	client, err := trace.NewBackendClient(backend, opts...)
	if err != nil {
		_ = backend.Close()
		return nil, err
	}
	return client, nil
}

// Backend sends spans by gRPC. It is one for trace.NewBackendClient.
type Backend struct {
	conn *grpc.ClientConn
}

// Dial returns a backend for the daemon at address, with TLS if the address is one of https or there is a config.
func Dial(address string, config *tls.Config) (*Backend, error) {
	a, err := protocol.ParseGRPCAddress(address)
	if err != nil {
		return nil, err
	}
	transport := insecure.NewCredentials()
	if config != nil {
		transport = credentials.NewTLS(config)
	} else if a.TLS {
		transport = credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})
	}
	network, where := a.NetAddress()
	host, _, _ := strings.Cut(a.Host, "%")
	// The connection is made here: in a target the zone of an IPv6 address would be lost.
	conn, err := grpc.NewClient("passthrough:///veneur",
		grpc.WithTransportCredentials(transport),
		grpc.WithAuthority(net.JoinHostPort(host, strconv.Itoa(int(a.Port)))),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, where)
		}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 2, Jitter: 0.2, MaxDelay: maxReconnect},
			MinConnectTimeout: 5 * time.Second,
		}),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{})))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return &Backend{conn}, nil
}

// SendSync sends one span. It is called only outside of a client, which has SendPackets.
func (b *Backend) SendSync(ctx context.Context, span *ssf.SSFSpan) error {
	return b.call(ctx, ssf.AppendSpan(nil, span))
}

// SendPackets sends the packets all at once, and waits for the answers.
func (b *Backend) SendPackets(ctx context.Context, packets [][]byte, errs []error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var calls sync.WaitGroup
	for i, packet := range packets {
		calls.Go(func() { errs[i] = b.call(ctx, packet) })
	}
	calls.Wait()
}

// call sends one packet. The error is a trace.ReasonRefused unless the connection is missing or broke: what was too slow may have arrived, and
// must not be counted twice. (Of what was under way when a connection breaks nobody knows; it is sent again, since the daemon most often has gone.)
func (b *Backend) call(ctx context.Context, packet []byte) error {
	err := b.conn.Invoke(ctx, methodSpan, &packet, new([]byte))
	switch status.Code(err) {
	case codes.OK:
		return nil
	case codes.Unavailable, codes.Canceled:
		return err
	}
	return errors.Join(trace.ReasonRefused, err)
}

// Close closes the connection.
func (b *Backend) Close() error { return b.conn.Close() }

// rawCodec sends messages that are encoded already. It is passed with each call rather than registered, since registered codecs belong to
// the whole process.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

// Marshal copies: gRPC may still read a message when the call has been given up, and the client uses its memory again.
func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(append([]byte(nil), *v.(*[]byte)...))}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}
