package ingest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/config"
)

func load(text string) (Config, error) {
	c := DefaultConfig()
	doc, err := config.Parse("test.yaml", []byte(text))
	if err != nil {
		return c, err
	}
	if err := doc.Decode(&c); err != nil {
		return c, err
	}
	var faults config.Faults
	faults.AddIn("", c.Validate())
	return c, doc.Locate(faults).Err()
}

func TestListenersAreAddressesOrMappings(t *testing.T) {
	c, err := load(`
statsd_listen_addresses:
  - 127.0.0.1:8126
  - {address: "unix:///run/v.sock", framing: length, mode: 0660, max_line_bytes: 1000, idle_timeout: 1m}
  - {address: "udp://[::1]:8126", gauge_deltas: true}
ssf_listen_addresses: ["udp://127.0.0.1:8128", "tcp://127.0.0.1:8128", "unix:///run/ssf.sock"]
grpc_listen_addresses: [127.0.0.1:8129, "grpc://[::1]:8129"]
`)
	require.NoError(t, err)
	require.Equal(t, []Listener{
		{Address: "127.0.0.1:8126", Framing: "newline", Mode: 0o666, IdleTimeout: 10 * time.Minute},
		{Address: "unix:///run/v.sock", Framing: "length", Mode: 0o660, MaxLineBytes: 1000, IdleTimeout: time.Minute},
		{Address: "udp://[::1]:8126", Framing: "newline", Mode: 0o666, GaugeDeltas: true, IdleTimeout: 10 * time.Minute},
	}, c.StatsdListenAddresses)
	require.Len(t, c.SSFListenAddresses, 3)
	require.Len(t, c.GRPCListenAddresses, 2)
}

func TestEndpoints(t *testing.T) {
	tests := []struct {
		address string
		service service
		want    endpoint
	}{
		{"127.0.0.1:8126", serviceStatsd, endpoint{"udp4", "127.0.0.1:8126"}},
		{"127.0.0.1:8129", serviceGRPC, endpoint{"tcp4", "127.0.0.1:8129"}},
		{"udp://:8126", serviceStatsd, endpoint{"udp", ":8126"}},
		{"udp://0.0.0.0:8126", serviceStatsd, endpoint{"udp4", "0.0.0.0:8126"}},
		{"udp://[::]:8126", serviceStatsd, endpoint{"udp", "[::]:8126"}},
		{"udp6://:8126", serviceStatsd, endpoint{"udp6", ":8126"}},
		{"tcp://[::1]:8126", serviceStatsd, endpoint{"tcp6", "[::1]:8126"}},
		{"udp://localhost:8126", serviceStatsd, endpoint{"udp", "localhost:8126"}},
		{"udp://[fe80::1%eth0]:8126", serviceStatsd, endpoint{"udp6", "[fe80::1%eth0]:8126"}},
		{"unix:///run/v.sock", serviceSSF, endpoint{"unix", "/run/v.sock"}},
		{"unixgram://@veneur", serviceStatsd, endpoint{"unixgram", "@veneur"}},
	}
	for _, tt := range tests {
		l := NewListener(tt.address)
		got, err := l.endpoint(tt.service)
		require.NoError(t, err, tt.address)
		require.Equal(t, tt.want, got, tt.address)
	}
}

func TestFaults(t *testing.T) {
	tests := []struct{ name, yaml, want string }{
		{"no address", `statsd_listen_addresses: [{}]`, "statsd_listen_addresses[0]"},
		{"scheme", `statsd_listen_addresses: ["ftp://x:1"]`, "unknown scheme"},
		{"no port", `ssf_listen_addresses: [udp://127.0.0.1]`, "ssf_listen_addresses[0]"},
		{"gRPC elsewhere", `statsd_listen_addresses: [grpc://127.0.0.1:1]`, "grpc_listen_addresses only"},
		{"gRPC over udp", `grpc_listen_addresses: [udp://127.0.0.1:1]`, "gRPC does not go over udp"},
		{
			"twice", `{statsd_listen_addresses: [udp://127.0.0.1:1], ssf_listen_addresses: ["127.0.0.1:1"]}`,
			"ssf_listen_addresses[0]: 127.0.0.1:1 is taken by statsd_listen_addresses[0]",
		},
		{"framing", `statsd_listen_addresses: [{address: "unix:///x", framing: lines}]`, "statsd_listen_addresses[0].framing: \"lines\" is neither"},
		{"framing of tcp", `statsd_listen_addresses: [{address: "tcp://:1", framing: length}]`, "is for unix:// addresses"},
		{"deltas of spans", `ssf_listen_addresses: [{address: ":1", gauge_deltas: true}]`, "ssf_listen_addresses[0].gauge_deltas"},
		{"mode", `statsd_listen_addresses: [{address: "unix:///x", mode: 0999}]`, "octal"},
		{"line", `statsd_listen_addresses: [{address: "tcp://:1", max_line_bytes: 1}]`, "1 is not between 64 and"},
		{"idle", `statsd_listen_addresses: [{address: "tcp://:1", idle_timeout: 1ns}]`, "idle_timeout: 1ns"},
		{"unknown option", `statsd_listen_addresses: [{address: "tcp://:1", framming: length}]`, "did you mean framing?"},
		{"readers", `num_readers: -1`, "num_readers: -1 is not between 0 and 256"},
		{"buffer", `read_buffer_size_bytes: -1`, "read_buffer_size_bytes"},
		{"line length", `metric_max_length: 1`, "metric_max_length"},
		{"connections", `max_connections: 0`, "max_connections: 0 is less than 1"},
		{"buffers", `max_stream_buffer_bytes: 1000`, "max_stream_buffer_bytes: 1000 is less than 1048576"},
		{"age", `grpc_max_connection_age: 1ms`, "grpc_max_connection_age"},
		{"https without a key", `grpc_listen_addresses: [https://127.0.0.1:1]`, "tls_key"},
		{"key without certificate", `tls_key: "-----BEGIN x"`, "tls_certificate"},
		{"key file", `tls_key: /no/such/file`, "neither PEM text nor a file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load(tt.yaml)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	_, err := load("num_readers: -1\nmax_connections: 0\nstatsd_listen_addresses: [nothing]\ntls_key: /no/such/file\n")
	require.Len(t, strings.Split(err.Error(), "\n"), 4, "%v", err)
	require.ErrorContains(t, err, "line 3")
}

func TestTLSFromFiles(t *testing.T) {
	a := newAuthority(t)
	certificate, key := a.issue()
	dir := t.TempDir()
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, content, 0o600))
		return path
	}
	c := DefaultConfig()
	c.TLSCertificate = file("cert.pem", certificate)
	c.TLSKey = config.Secret(file("key.pem", key))
	c.TLSAuthorityCertificate = file("authority.pem", a.pem)
	require.NoError(t, c.Validate())
	loaded, err := c.tlsConfig()
	require.NoError(t, err)
	require.Len(t, loaded.Certificates, 1)
	c.TLSAuthorityCertificate = file("empty.pem", []byte("nothing"))
	require.ErrorContains(t, c.Validate(), "holds no certificate")
	_, other := a.issue()
	c.TLSKey = config.Secret(other)
	require.ErrorContains(t, c.Validate(), "does not fit tls_key")
	require.NotContains(t, c.Validate().Error(), "BEGIN")
}

func TestDefaultReaders(t *testing.T) {
	c := DefaultConfig()
	require.GreaterOrEqual(t, c.readers(), 1)
	require.LessOrEqual(t, c.readers(), 4)
	c.NumReaders = 7
	require.Equal(t, 7, c.readers())
}
