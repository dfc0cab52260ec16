package main

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
)

var countOverGRPC = append([]string{"-grpc"}, count...)

// Whatever is wrong with a gRPC server is told, in time.
func TestNoGRPCServer(t *testing.T) {
	t.Parallel()
	other := listen(t, "tcp")
	server := grpc.NewServer()
	go server.Serve(other.stream)
	t.Cleanup(server.Stop)
	silent, dead := listen(t, "tcp"), closedPort(t, "tcp")
	refusing := startProxy(t, "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
	babbling := startProxy(t, "220 mail ready\r\n")
	for _, tt := range []struct {
		name string
		args []string
		why  string
		time time.Duration // that it is given where nothing comes
	}{
		{"absent", []string{"-hostport", dead}, "connect: connection refused", patience},
		{"silent", []string{"-hostport", silent.hostport}, "no answer: ", silence},
		{"of other services", []string{"-hostport", other.hostport}, "Unimplemented: unknown service", patience},
		{"without TLS", []string{"-hostport", "https://" + other.stream.Addr().String()}, "tls: first record does not look like a TLS handshake", patience},
		{"no proxy", []string{"-hostport", dead, "-proxy", closedPort(t, "tcp")[len("tcp://"):]}, "proxy: dial tcp", patience},
		{"a proxy that says no", []string{"-hostport", dead, "-proxy", refusing.Addr().String()}, "407 Proxy Authentication Required for 127.0.0.1", patience},
		{"a proxy that is none", []string{"-hostport", dead, "-proxy", babbling.Addr().String()}, "malformed HTTP", patience},
		{"a proxy that says nothing", []string{"-hostport", dead, "-proxy", silent.stream.Addr().String()}, "no answer: ", silence},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, ssf := range [][]string{nil, {"-ssf"}} {
				ctx, cancel := context.WithTimeout(t.Context(), tt.time)
				defer cancel()
				r := emitIn(ctx, "", nil, append(append(ssf, tt.args...), countOverGRPC...)...)
				requireRefused(t, r, tt.why)
				if tt.time == silence {
					require.Error(t, ctx.Err())
					continue
				}
				require.NoError(t, ctx.Err(), "it is told at once")
			}
		})
	}
}

// silence is for how long nothing comes before a test has seen it.
const silence = 500 * time.Millisecond

// B091: the address may be written in all the ways that people do, IPv6 and its zone included.
func TestB091GRPCAddresses(t *testing.T) {
	d := startDaemon(t)
	_, port, err := net.SplitHostPort(d.hostports("SSF")["grpc"][len("grpc://"):])
	require.NoError(t, err)
	_, port6, err := net.SplitHostPort(d.hostports("SSF")["grpc.v6"][len("grpc://"):])
	require.NoError(t, err)
	for _, hostport := range []string{
		"127.0.0.1:" + port, "http://127.0.0.1:" + port, "http://127.0.0.1:" + port + "/", "grpc://localhost:" + port, "tcp://127.0.0.1:" + port,
		"tcp4://127.0.0.1:" + port, "[::1]:" + port6, "http://[::1]:" + port6, "tcp6://[::1]:" + port6, "grpc://[::1%lo]:" + port6,
	} {
		t.Run(hostport, func(t *testing.T) {
			requireSent(t, emit(t, append([]string{"-hostport", hostport}, countOverGRPC...)...))
		})
	}
	require.NoError(t, d.Stop())
	require.Equal(t, 10.0, d.Value("ingest.samples"))
}
