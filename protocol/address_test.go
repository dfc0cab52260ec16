package protocol

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseAddress(t *testing.T) {
	tests := []struct {
		name, in string
		want     Address
		str      string // of String; "" when it is in
	}{
		{"udp", "udp://127.0.0.1:8126", Address{Network: "udp", Host: "127.0.0.1", Port: 8126}, ""},
		{"tcp", "tcp://localhost:8126", Address{Network: "tcp", Host: "localhost", Port: 8126}, ""},
		{"grpc", "grpc://global.example:8128", Address{Network: "grpc", Host: "global.example", Port: 8128}, ""},
		{"B118 no scheme is udp", "127.0.0.1:8126", Address{Network: "udp", Host: "127.0.0.1", Port: 8126}, "udp://127.0.0.1:8126"},
		{"B118 no scheme, a name", "localhost:8126", Address{Network: "udp", Host: "localhost", Port: 8126}, "udp://localhost:8126"},
		{"every address of the machine", ":8126", Address{Network: "udp", Port: 8126}, "udp://:8126"},
		{"every address, tcp", "tcp://:0", Address{Network: "tcp"}, ""},
		{"one family", "udp6://[::]:8126", Address{Network: "udp", Family: "6", Host: "::", Port: 8126}, ""},
		{"tcp4", "tcp4://:1", Address{Network: "tcp", Family: "4", Port: 1}, ""},
		{"upper case and a last slash", "UDP://127.0.0.1:8126/", Address{Network: "udp", Host: "127.0.0.1", Port: 8126}, "udp://127.0.0.1:8126"},
		{"B092 IPv6", "udp://[::1]:8125", Address{Network: "udp", Host: "::1", Port: 8125}, ""},
		{"B092 IPv6 without a scheme", "[::1]:8125", Address{Network: "udp", Host: "::1", Port: 8125}, "udp://[::1]:8125"},
		{"B092 zone", "[fe80::1%lo]:8125", Address{Network: "udp", Host: "fe80::1%lo", Port: 8125}, "udp://[fe80::1%lo]:8125"},
		{"B092 zone as URLs write it", "tcp://[fe80::1%25eth0]:1", Address{Network: "tcp", Host: "fe80::1%eth0", Port: 1}, "tcp://[fe80::1%eth0]:1"},
		{"zone that looks like an escape", "tcp://[fe80::1%2525]:1", Address{Network: "tcp", Host: "fe80::1%25", Port: 1}, ""},
		{"unix", "unix:///run/veneur/statsd.sock", Address{Network: "unix", Path: "/run/veneur/statsd.sock"}, ""},
		{"unixgram", "unixgram:///tmp/a b?c=%20.sock", Address{Network: "unixgram", Path: "/tmp/a b?c=%20.sock"}, ""},
		{"abstract", "unixgram://@veneur", Address{Network: "unixgram", Path: "@veneur"}, ""},
		{"working directory", "unix://./statsd.sock", Address{Network: "unix", Path: "./statsd.sock"}, ""},
		{"longest path", "unix:///" + strings.Repeat("x", 106), Address{Network: "unix", Path: "/" + strings.Repeat("x", 106)}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseAddress(tt.in)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
			if tt.str == "" {
				tt.str = tt.in
			}
			require.Equal(t, tt.str, got.String())
		})
	}
}

// Each refusal says what is wrong or what to write.
func TestParseAddressRefuses(t *testing.T) {
	tests := []struct{ name, in, err string }{
		{"empty", "", "write for example udp://127.0.0.1:8126"},
		{"only a scheme", "udp://", "neither host nor port"},
		{"no port", "udp://localhost", "has no port: write localhost:8126"},
		{"only a port", "8126", "or :8126 for every address"},
		{"empty port", "udp://localhost:", `port "" is not a number`},
		{"port too large", "udp://localhost:99999", `port "99999" is not a number from 0 to 65535`},
		{"named port", "udp://localhost:statsd", `port "statsd" is not a number`},
		{"signed port", "udp://localhost:+1", `port "+1"`},
		{"negative port", "udp://localhost:-1", `port "-1"`},
		{"path after the port", "udp://localhost:8126/x", `port "8126/x"`},
		{"user", "udp://me@localhost:8126", "is not a host"},
		{"star", "udp://*:8126", "is not a host"},
		{"blank", "udp://local host:8126", "is not a host"},
		{"zone without brackets", "udp://fe80%lo:8126", "is not a host"},
		{"B092 IPv6 without brackets", "udp://::1:8126", "stands in brackets"},
		{"B092 IPv6 without brackets or scheme", "fe80::1:8126", "stands in brackets"},
		{"IPv6 without a port", "[::1]", "write [::1]:8126"},
		{"IPv6, something between", "[::1]x:8126", "write [::1]:8126"},
		{"bracket left open", "[::1:8126", "closing bracket"},
		{"brackets around a name", "[localhost]:8126", "not an IPv6 address"},
		{"brackets around IPv4", "[127.0.0.1]:8126", "not an IPv6 address"},
		{"empty zone", "[fe80::1%]:8126", "not an IPv6 address"},
		{"unknown scheme", "sctp://127.0.0.1:1", `unknown scheme "sctp": write one of udp, tcp, unix, unixgram and grpc`},
		{"no scheme but a mark", "://127.0.0.1:1", `unknown scheme ""`},
		{"B091 http", "http://10.0.0.1:8128", "gRPC only: write udp://10.0.0.1:8128"},
		{"B091 https", "https://10.0.0.1:8128", "gRPC only"},
		{"unix without a path", "unix://", "write for example unix:///run"},
		{"unixgram without a path", "unixgram:///", "write for example unixgram:///run"},
		{"abstract without a name", "unix://@", "has no path"},
		{"two slashes too few", "unix://var/run/x.sock", "write unix:///var/run/x.sock"},
		{"no slashes", "unix:/run/x.sock", "write unix:///run/x.sock"},
		{"bare path", "/run/x.sock", "write unix:///run/x.sock for a stream or unixgram:///run/x.sock"},
		{"bare abstract name", "@veneur", "write unix://@veneur"},
		{"zero byte", "unix:///a\x00b", "zero byte"},
		{"path too long", "unix:///" + strings.Repeat("x", 107), "path of 108 bytes, and a unix socket takes 107 at most"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseAddress(tt.in)
			require.ErrorContains(t, err, tt.err)
			require.ErrorContains(t, err, "address \"")
			require.Zero(t, got)
		})
	}
}

func TestB091ParseGRPCAddress(t *testing.T) {
	for in, want := range map[string]Address{
		"10.0.0.1:8128":         {Network: "grpc", Host: "10.0.0.1", Port: 8128},
		"http://10.0.0.1:8128":  {Network: "grpc", Host: "10.0.0.1", Port: 8128},
		"https://global:443/":   {Network: "grpc", Host: "global", Port: 443, TLS: true},
		"grpc://[::1]:8128":     {Network: "grpc", Host: "::1", Port: 8128},
		"tcp://127.0.0.1:8128":  {Network: "grpc", Host: "127.0.0.1", Port: 8128},
		"tcp6://[::1%lo]:8128/": {Network: "grpc", Family: "6", Host: "::1%lo", Port: 8128},
	} {
		got, err := ParseGRPCAddress(in)
		require.NoError(t, err, in)
		require.Equal(t, want, got, in)
		again, err := ParseGRPCAddress(got.String())
		require.NoError(t, err, got.String())
		require.Equal(t, want, again, got.String())
	}
	for in, text := range map[string]string{
		"udp://10.0.0.1:8128": "gRPC does not go over udp: write host:port",
		"unix:///run/x.sock":  "gRPC does not go over unix",
		"http://10.0.0.1":     "has no port",
		"http://":             "neither host nor port",
		"":                    "neither host nor port",
	} {
		_, err := ParseGRPCAddress(in)
		assert.ErrorContains(t, err, text, in)
	}
}

func TestNetAddress(t *testing.T) {
	for in, want := range map[string][2]string{
		"udp://127.0.0.1:8126":    {"udp", "127.0.0.1:8126"},
		"udp6://:8126":            {"udp6", ":8126"},
		"tcp://[fe80::1%25lo]:1":  {"tcp", "[fe80::1%lo]:1"},
		"grpc://[::1]:8128":       {"tcp", "[::1]:8128"},
		"unix:///run/x.sock":      {"unix", "/run/x.sock"},
		"unixgram://@veneur":      {"unixgram", "@veneur"},
		"tcp://[fe80::1%2525a]:1": {"tcp", "[fe80::1%25a]:1"},
	} {
		a, err := ParseAddress(in)
		require.NoError(t, err, in)
		network, address := a.NetAddress()
		require.Equal(t, want, [2]string{network, address}, in)
	}
}

// Package net listens at what NetAddress says, and dials it.
func TestAddressesWorkWithNet(t *testing.T) {
	for _, in := range []string{"tcp://127.0.0.1:0", "tcp4://localhost:0", "tcp://[::1]:0", "unix://" + filepath.Join(t.TempDir(), "s")} {
		a, err := ParseAddress(in)
		require.NoError(t, err, in)
		l, err := net.Listen(a.NetAddress())
		require.NoError(t, err, in)
		c, err := net.Dial(l.Addr().Network(), l.Addr().String())
		require.NoError(t, err, in)
		require.NoError(t, c.Close())
		require.NoError(t, l.Close())
	}
}

// FuzzParseAddress: no text panics, and what is accepted is read the same from its String.
func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{"udp://127.0.0.1:8126", "[fe80::1%25lo]:1", "unix:///x", "unixgram://@a", "grpc://h:1", "https://h:1/", "tcp6://:0", "::1", "unix:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if a, err := ParseAddress(s); err == nil {
			again, err := ParseAddress(a.String())
			require.NoError(t, err, a.String())
			require.Equal(t, a, again, a.String())
			network, address := a.NetAddress()
			require.NotEmpty(t, network)
			require.NotEmpty(t, address)
		}
		if a, err := ParseGRPCAddress(s); err == nil {
			again, err := ParseGRPCAddress(a.String())
			require.NoError(t, err, a.String())
			require.Equal(t, a, again, a.String())
		}
	})
}
