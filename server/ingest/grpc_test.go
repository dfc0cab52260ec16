package ingest

import (
	"context"
	"crypto/tls"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"

	"github.com/veneurd/veneur/ssf"
)

// rawCodec sends and receives strings as messages, so that a test says what the bytes are.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*string))}, nil
}

func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*string) = string(data.Materialize())
	return nil
}

const (
	sendSpan   = "/ssf.SSFGRPC/SendSpan"
	sendPacket = "/dogstatsd.DogstatsdGRPC/SendPacket"
)

func (r *rig) client(n int, transport credentials.TransportCredentials) *grpc.ClientConn {
	r.t.Helper()
	_, address := r.addr(n)
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(transport))
	require.NoError(r.t, err)
	r.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func call(t *testing.T, conn *grpc.ClientConn, method, message string, options ...grpc.CallOption) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var answer string
	err := conn.Invoke(ctx, method, &message, &answer, append(options, grpc.ForceCodecV2(rawCodec{}))...)
	require.Empty(t, answer)
	return err
}

func packetMessage(lines string) string { return "\x0a" + string(rune(len(lines))) + lines }

func TestGRPC(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "grpc://[::1]:0"} {
		r := start(t, grpcAt(address))
		conn := r.client(0, insecure.NewCredentials())
		require.NoError(t, call(t, conn, sendSpan, packetOf(traceSpan(1))))
		require.NoError(t, call(t, conn, sendPacket, packetMessage("a:1|c\nbad\nb:2|g")))
		require.NoError(t, call(t, conn, sendPacket, ""))
		require.NoError(t, call(t, conn, sendPacket, packetMessage("not this")+packetMessage("a:1|c")+"\x10\x01"), "the last counts")
		r.requireValue(1, "ingest.spans")
		r.requireValue(4, "ingest.lines")
		r.requireValue(4, "ingest.packets", "listener:"+address)
		r.requireValue(1, "ingest.connections")
		r.stop()
		require.Equal(t, map[string]float64{"a": 2, "b": 2, "carried{k:v}": 4}, r.flush().values)
		require.Len(t, r.spans.spans(), 1)
		r.requireLaws()
	}
}

func TestGRPCRefuses(t *testing.T) {
	r := start(t, grpcAt("127.0.0.1:0"))
	conn := r.client(0, insecure.NewCredentials())
	tests := []struct {
		name, method, message string
		code                  codes.Code
		text                  string
	}{
		{"B142 length", sendSpan, "\x42\xff\xff\xff\xff\x07", codes.InvalidArgument, "ssf: truncated"},
		{"B143 groups", sendSpan, strings.Repeat("\xa3\x06", 1<<20), codes.InvalidArgument, "ssf: depth"},
		{"empty span", sendSpan, "", codes.InvalidArgument, "ssf: empty"},
		{"no span of a trace", sendSpan, packetOf(&ssf.SSFSpan{TraceId: 1}), codes.InvalidArgument, "ssf: no_id"},
		{"B142 length of a packet", sendPacket, "\x0a\xff\xff\xff\xff\x07", codes.InvalidArgument, "not a DogstatsdPacket"},
		{"B143 groups in a packet", sendPacket, strings.Repeat("\xa3\x06", 1<<20), codes.InvalidArgument, "not a DogstatsdPacket"},
		{"too large", sendSpan, strings.Repeat("x", maxMessage+1), codes.ResourceExhausted, "larger than max"},
		{"unknown method", "/ssf.SSFGRPC/Nothing", "", codes.Unimplemented, "unknown method"},
		{"unknown service", "/No.Service/Nothing", "", codes.Unimplemented, "unknown method"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := call(t, conn, tt.method, tt.message)
			require.Equal(t, tt.code, status.Code(err), "%v", err)
			require.ErrorContains(t, err, tt.text)
		})
	}
	require.NoError(t, call(t, conn, sendSpan, packetOf(traceSpan(1))), "still serving")
	half := traceSpan(1)
	half.TraceId = 0
	require.NoError(t, call(t, conn, sendSpan, packetOf(half)), "its sample was taken")
	r.requireValue(2, "ingest.span_samples")
	r.requireValue(2, "ingest.refused", "protocol:grpc", "reason:message")
	r.wait(1, "ingest.refused", "protocol:grpc", "reason:too_long")
	r.wait(2, "ingest.refused", "protocol:grpc", "reason:unimplemented")
	r.stop()
	r.requireValue(2, "ingest.refused", "protocol:grpc", "reason:unimplemented")
	r.requireValue(0, "ingest.refused", "protocol:grpc", "reason:malformed")
	r.requireLaws()
}

// What package grpc refuses is counted once each, and a client that goes away is not.
func TestGRPCRefusalsBeforeTheHandler(t *testing.T) {
	whole := append(prefix(len(packetMessage("a:1|c"))), packetMessage("a:1|c")...)
	tests := []struct {
		name, method string
		headers      []string
		data         []byte
		reason       string // empty where nothing is refused
	}{
		{"compressed", sendPacket, []string{"grpc-encoding", "zippy"}, append([]byte{1}, whole[1:]...), "unimplemented"},
		{"unknown method", "/ssf.SSFGRPC/Nothing", nil, whole, "unimplemented"},
		{"unknown service", "/No.Service/Nothing", nil, whole, "unimplemented"},
		{"no method", "/nothing", nil, whole, "unimplemented"},
		{"too large", sendPacket, nil, prefix(maxMessage + 1), "too_long"},
		{"compressed with nothing", sendPacket, nil, append([]byte{1}, whole[1:]...), "malformed"},
		{"unknown flag", sendPacket, nil, append([]byte{7}, whole[1:]...), "malformed"},
		{"half a message", sendPacket, nil, whole[:len(whole)-1], "malformed"},
		{"half a prefix", sendPacket, nil, whole[:3], "malformed"},
		{"no message", sendPacket, nil, nil, "malformed"},
		{"two messages", sendPacket, nil, append(whole[:len(whole):len(whole)], whole...), "malformed"},
		{"good", sendPacket, nil, whole, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, grpcAt("127.0.0.1:0"))
			client := r.rawClient(r.dial(0))
			stream, err := client.open(tt.method, tt.headers...)
			require.NoError(t, err)
			require.NoError(t, client.framer.WriteData(stream, true, tt.data))
			_, err = client.next(http2.FrameHeaders, stream)
			require.NoError(t, err)
			r.stop()
			if tt.reason == "" {
				r.requireValue(0, "ingest.refused")
				return
			}
			r.requireValue(1, "ingest.refused", "protocol:grpc", "reason:"+tt.reason)
			r.requireValue(1, "ingest.refused")
		})
	}
}

// Clients that go away in the midst of a call are not refused.
func TestGRPCClientsThatGoAway(t *testing.T) {
	for _, reset := range []bool{false, true} {
		r := start(t, grpcAt("127.0.0.1:0"))
		conn := r.dial(0)
		client := r.rawClient(conn)
		stream, err := client.open(sendPacket)
		require.NoError(t, err)
		require.NoError(t, client.send(stream, append(prefix(1000), "some"...), 100))
		if reset {
			require.NoError(t, client.framer.WriteRSTStream(stream, http2.ErrCodeCancel))
			require.NoError(t, client.framer.WritePing(false, [8]byte{}))
		}
		require.NoError(t, conn.Close())
		r.wait(1, "ingest.connections_accepted")
		eventually(t, func() bool { return r.reg.Value("ingest.connections") == 0 }, "the connection stays")
		r.stop()
		r.requireValue(0, "ingest.refused")
	}
}

// Each handshake that fails is counted, and none that succeeds.
func TestGRPCHandshakesThatFail(t *testing.T) {
	a := newAuthority(t)
	c := grpcAt("127.0.0.1:0")
	a.serve(&c, true)
	r := start(t, c)
	require.NoError(t, call(t, r.client(0, credentials.NewTLS(a.client(true))), sendPacket, packetMessage("a:1|c"), grpc.WaitForReady(true)))
	r.requireValue(0, "ingest.connections_closed", "reason:handshake")
	write(t, r.dial(0), "GET / HTTP/1.0\r\n\r\n")
	r.wait(1, "ingest.connections_closed", "reason:handshake")
	r.requireValue(1, "ingest.connections_closed", "reason:handshake")
	require.Error(t, call(t, r.client(0, credentials.NewTLS(a.client(false))), sendPacket, ""))
	r.wait(2, "ingest.connections_closed", "reason:handshake")
}

// A handshake that a stop ends has not failed.
func TestGRPCHandshakesEndWithTheServer(t *testing.T) {
	a := newAuthority(t)
	c := grpcAt("127.0.0.1:0")
	a.serve(&c, false)
	r := start(t, c)
	r.dial(0)
	r.wait(1, "ingest.connections_accepted")
	r.stop()
	r.requireValue(0, "ingest.connections_closed", "reason:handshake")
}

// Clients that say nothing, with and without TLS, are not waited for at a stop.
func TestGRPCSilentClientsDoNotHoldUpAStop(t *testing.T) {
	a := newAuthority(t)
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("tls %v", secure), func(t *testing.T) {
			c := grpcAt("127.0.0.1:0")
			if secure {
				a.serve(&c, false)
			}
			r := start(t, c, func(b *binding) { b.handshakeTime = time.Hour })
			for range 3 {
				r.dial(0)
			}
			r.wait(3, "ingest.connections_accepted")
			r.stop()
		})
	}
}

// All that one connection brings goes to one lane, where the last line wins even if no clock can tell it from the one before.
func TestConnectionStaysOnItsLane(t *testing.T) {
	c := configured(func(c *Config) {
		c.StatsdListenAddresses = []Listener{NewListener(tcp)}
		c.GRPCListenAddresses = []Listener{NewListener("127.0.0.1:0")}
	})
	const rounds = 100
	stream := func(r *rig) func(int) {
		conn := r.dial(0)
		return func(n int) { write(r.t, conn, fmt.Sprintf("g:%d|g\n", n)) }
	}
	calls := func(r *rig) func(int) {
		conn := r.client(1, insecure.NewCredentials())
		return func(n int) { require.NoError(t, call(t, conn, sendPacket, packetMessage(fmt.Sprintf("g:%d|g", n)))) }
	}
	for _, tt := range []struct {
		name   string
		sender func(*rig) func(int)
	}{{"stream", stream}, {"gRPC", calls}} {
		t.Run(tt.name, func(t *testing.T) {
			r := build(t, c)
			shared := r.in.shared
			for len(shared.intakes) < 4 { // whatever the machine has
				shared.intakes = append(shared.intakes, r.in.newIntake())
			}
			r.run()
			send := tt.sender(r)
			for n := range rounds {
				send(n)
			}
			r.wait(rounds, "ingest.samples")
			r.stop()
			used := 0
			for _, in := range shared.intakes {
				if in.src != nil {
					used++
				}
			}
			require.Equal(t, 1, used, "lanes")
		})
	}
}

func TestGRPCHealth(t *testing.T) {
	r := start(t, grpcAt("127.0.0.1:0"))
	answer, err := grpc_health_v1.NewHealthClient(r.client(0, insecure.NewCredentials())).
		Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	require.NoError(t, err)
	require.Equal(t, grpc_health_v1.HealthCheckResponse_SERVING, answer.GetStatus())
}

func TestGRPCOverTLS(t *testing.T) {
	patient := grpc.WaitForReady(true) // a handshake may take too long on a busy machine
	a := newAuthority(t)
	for _, mutual := range []bool{false, true} {
		c := grpcAt("127.0.0.1:0")
		a.serve(&c, mutual)
		r := start(t, c, func(b *binding) { b.handshakeTime = 2 * time.Second })
		require.NoError(t, call(t, r.client(0, credentials.NewTLS(a.client(mutual))), sendPacket, packetMessage("a:1|c"), patient))
		require.Error(t, call(t, r.client(0, credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})), sendPacket, ""))
		if mutual {
			require.Error(t, call(t, r.client(0, credentials.NewTLS(a.client(false))), sendPacket, ""))
		}
		// B084: nobody waits for those who say nothing.
		before := r.reg.Value("ingest.connections_accepted")
		for range 50 {
			r.dial(0)
		}
		r.wait(before+50, "ingest.connections_accepted")
		require.NoError(t, call(t, r.client(0, credentials.NewTLS(a.client(mutual))), sendPacket, packetMessage("a:1|c"), patient))
		eventually(t, func() bool { return r.reg.Value("ingest.connections") < 10 }, "silent connections stay")
		r.requireValue(2, "ingest.samples")
	}
}

func TestGRPCConnectionsEnd(t *testing.T) {
	c := grpcAt("127.0.0.1:0")
	c.GRPCMaxConnectionAge = time.Second
	base := runtime.NumGoroutine()
	r := start(t, c)
	conn := r.client(0, insecure.NewCredentials())
	calls := 0
	eventually(t, func() bool { // until the client was told to go, and connected anew
		calls++
		return call(t, conn, sendPacket, packetMessage("a:1|c")) == nil && r.reg.Value("ingest.connections_accepted") >= 2
	}, "the connection stays")
	r.requireValue(float64(calls), "ingest.samples")
	r.stop()
	require.NoError(t, conn.Close())
	eventually(t, func() bool { return runtime.NumGoroutine() <= base }, "goroutines stay")
}
