package ingest

import (
	"runtime"
	"strings"
	"time"

	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/server/derive"
)

// Config says where metrics and spans are received.
type Config struct {
	// StatsdListenAddresses are where DogStatsD lines are received: udp://, tcp://, unix:// (a stream) and unixgram:// addresses;
	// host:port alone is udp, and unix addresses that begin with @ are abstract names. An element is an address, or a mapping of an
	// address and options.
	StatsdListenAddresses []Listener `yaml:"statsd_listen_addresses"`
	// SSFListenAddresses are where SSF is received: one span a datagram on udp:// and unixgram://, framed spans on tcp:// and unix://.
	SSFListenAddresses []Listener `yaml:"ssf_listen_addresses"`
	// GRPCListenAddresses are where spans and DogStatsD packets are received by gRPC: host:port, or grpc://host:port.
	GRPCListenAddresses []Listener `yaml:"grpc_listen_addresses"`

	// NumReaders is how many sockets share each udp address, each with a reader and tables of its own. 0 means half as many as there
	// are cores, at least 1 and at most 4.
	NumReaders int `yaml:"num_readers"`
	// ReadBufferSizeBytes is the receive buffer asked of the system for each udp socket. What it grants is logged when it is less. 0
	// leaves it to the system.
	ReadBufferSizeBytes int `yaml:"read_buffer_size_bytes"`
	// MetricMaxLength is the most bytes a line on a stream may have; a longer one is passed over and counted. Datagrams are taken
	// up to 65,535 bytes whatever it says.
	MetricMaxLength int `yaml:"metric_max_length"`
	// MaxConnections is how many connections each tcp, unix and grpc address may have open; one more is closed at once. Where the limit on open
	// files of the process (ulimit -n) leaves room for fewer, it is that many, which is logged at the start.
	MaxConnections int `yaml:"max_connections"`
	// MaxStreamBufferBytes is how much memory all connections together, tcp, unix and grpc, may take for messages that are not whole yet,
	// beyond what each of them costs anyway: up to 10 KiB, of grpc up to 90 KiB, with TLS 20 KiB more. A connection that needs more when all of it is
	// taken is closed; so is one on which a message of more than 4 KiB is not whole 30 seconds after its first byte, and a call of grpc ends that takes longer.
	// While it arrives a message takes up to three times its size.
	MaxStreamBufferBytes int `yaml:"max_stream_buffer_bytes"`
	// GRPCMaxConnectionAge is after how long clients of gRPC are asked to connect anew, so that they find daemons that are new. 0
	// means never.
	GRPCMaxConnectionAge time.Duration `yaml:"grpc_max_connection_age"`

	// TLSKey is the private key for all tcp and grpc addresses, as PEM text or the path of a file; with it they speak TLS only. The files
	// of this and the following keys are read once, at the start: a renewed certificate needs a restart.
	TLSKey config.Secret `yaml:"tls_key"`
	// TLSCertificate is the certificate for TLSKey, as PEM text or the path of a file.
	TLSCertificate string `yaml:"tls_certificate"`
	// TLSAuthorityCertificate, PEM text or the path of a file, is what the certificates of clients must be signed by. With it clients
	// must have one.
	TLSAuthorityCertificate string `yaml:"tls_authority_certificate"`

	Derive derive.Config `yaml:",inline"`
}

const (
	defaultReadBuffer  = 4 << 20
	defaultMaxLine     = 64 << 10
	defaultConnections = 10_000
	defaultBuffers     = 256 << 20
	defaultIdleTimeout = 10 * time.Minute
	defaultGRPCAge     = 10 * time.Minute
	defaultMode        = 0o666

	maxReaders    = 256
	maxReadBuffer = 1 << 30
	minMaxLine    = 64
	maxMaxLine    = 16 << 20
	minBuffers    = 1 << 20
	minTimeout    = 10 * time.Millisecond
)

// DefaultConfig returns a configuration that listens nowhere.
func DefaultConfig() Config {
	return Config{
		ReadBufferSizeBytes:  defaultReadBuffer,
		MetricMaxLength:      defaultMaxLine,
		MaxConnections:       defaultConnections,
		MaxStreamBufferBytes: defaultBuffers,
		GRPCMaxConnectionAge: defaultGRPCAge,
	}
}

// readers returns how many readers a udp address has.
func (c *Config) readers() int {
	if c.NumReaders > 0 {
		return c.NumReaders
	}
	return max(1, min(4, runtime.NumCPU()/2))
}

// Validate reports every fault of the configuration. It opens nothing, and reads nothing but the files that the TLS keys name.
func (c *Config) Validate() error {
	var faults config.Faults
	taken := map[endpoint]string{}
	_ = c.each(func(path string, service service, l *Listener) error {
		l.validate(&faults, path, service, taken)
		if strings.HasPrefix(l.Address, "https:") && c.TLSKey == "" {
			faults.Add(path, "%s asks for TLS, which needs tls_key and tls_certificate", l.Address)
		}
		return nil
	})
	bound(&faults, "num_readers", c.NumReaders, 0, maxReaders)
	bound(&faults, "read_buffer_size_bytes", c.ReadBufferSizeBytes, 0, maxReadBuffer)
	bound(&faults, "metric_max_length", c.MetricMaxLength, minMaxLine, maxMaxLine)
	faults.AtLeast("max_connections", c.MaxConnections, 1)
	faults.AtLeast("max_stream_buffer_bytes", c.MaxStreamBufferBytes, minBuffers)
	if age := c.GRPCMaxConnectionAge; age != 0 && age < time.Second {
		faults.Add("grpc_max_connection_age", "%s is neither 0 nor at least 1s", age)
	}
	_, err := c.tlsConfig()
	faults.AddIn("", err)
	return faults.Err()
}

// each calls f with every listener and its path, until f returns an error.
func (c *Config) each(f func(path string, service service, l *Listener) error) error {
	for _, list := range []struct {
		key       string
		service   service
		listeners []Listener
	}{
		{"statsd_listen_addresses", serviceStatsd, c.StatsdListenAddresses},
		{"ssf_listen_addresses", serviceSSF, c.SSFListenAddresses},
		{"grpc_listen_addresses", serviceGRPC, c.GRPCListenAddresses},
	} {
		for i := range list.listeners {
			if err := f(config.Index(list.key, i), list.service, &list.listeners[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func bound(faults *config.Faults, path string, value, least, most int) {
	if value < least || value > most {
		faults.Add(path, "%d is not between %d and %d", value, least, most)
	}
}
