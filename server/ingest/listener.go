package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/protocol"
)

// Listener is one address with its options. In a file it is a text, the address alone, or a mapping.
type Listener struct {
	// Address is where to listen. Port 0 lets the system choose one.
	Address string `yaml:"address"`
	// Framing of a unix:// stream of lines: "newline", each line ends with one, or "length", each block of lines stands behind its length,
	// 32 bits in little endian, as clients of Datadog send it.
	Framing string `yaml:"framing"`
	// Mode is that of the file of a unix socket: who may write may send.
	Mode FileMode `yaml:"mode"`
	// GaugeDeltas gives gauges the rule of statsd: a sign makes the value a change of the gauge.
	GaugeDeltas bool `yaml:"gauge_deltas"`
	// MaxLineBytes is metric_max_length for this address alone; 0 leaves it at that.
	MaxLineBytes int `yaml:"max_line_bytes"`
	// IdleTimeout is after how long a connection on which nothing arrives is closed. 0 means never.
	IdleTimeout time.Duration `yaml:"idle_timeout"`
}

// Framings.
const (
	framingNewline = "newline"
	framingLength  = "length"
)

// NewListener returns the address with the default options.
func NewListener(address string) Listener {
	var l Listener
	l.SetDefaults()
	l.Address = address
	return l
}

// SetDefaults sets the options that are not zero by default.
func (l *Listener) SetDefaults() {
	l.Framing = framingNewline
	l.Mode = defaultMode
	l.IdleTimeout = defaultIdleTimeout
}

// UnmarshalText reads the short form, an address without options.
func (l *Listener) UnmarshalText(text []byte) error {
	l.Address = string(text)
	return nil
}

// FileMode is the permission bits of a file, written in octal.
type FileMode fs.FileMode

// UnmarshalText reads "0666" or "666".
func (m *FileMode) UnmarshalText(text []byte) error {
	bits, err := strconv.ParseUint(string(text), 8, 32)
	if err != nil || bits > 0o777 {
		return fmt.Errorf("%.32q is not an octal mode such as 0666", text)
	}
	*m = FileMode(bits)
	return nil
}

// MarshalText writes "0666".
func (m FileMode) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%#o", uint32(m)), nil }

// service is what is spoken on an address.
type service uint8

const (
	serviceStatsd service = iota
	serviceSSF
	serviceGRPC
)

// String returns what people call it.
func (s service) String() string { return [...]string{"DogStatsD", "SSF", "gRPC"}[s] }

// endpoint is an address as package net wants it.
type endpoint struct{ network, address string }

func (e endpoint) datagrams() bool {
	return strings.HasPrefix(e.network, "udp") || e.network == "unixgram"
}
func (e endpoint) unix() bool { return strings.HasPrefix(e.network, "unix") }

// endpoint returns where the service is to be found.
func (l *Listener) endpoint(s service) (endpoint, error) {
	parse := protocol.ParseAddress
	if s == serviceGRPC {
		parse = protocol.ParseGRPCAddress
	}
	a, err := parse(l.Address)
	switch {
	case err != nil:
		return endpoint{}, err
	case a.Path != "":
		if strings.HasPrefix(a.Path, "@") && runtime.GOOS != "linux" {
			return endpoint{}, errors.New("abstract names exist on Linux only")
		}
		return endpoint{a.Network, a.Path}, nil
	case a.Network == "grpc" && s != serviceGRPC:
		return endpoint{}, errors.New("grpc is served by grpc_listen_addresses only")
	case a.Network == "grpc":
		a.Network = "tcp"
	}
	if a.Family == "" {
		a.Family = family(a.Host)
	}
	return endpoint{a.Network + a.Family, net.JoinHostPort(a.Host, strconv.Itoa(int(a.Port)))}, nil
}

// family is the suffix of the network for a host that says which IP version it means. Package net would listen on 0.0.0.0 for both; [::]
// and no host at all do mean both.
func family(host string) string {
	addr, err := netip.ParseAddr(host)
	switch {
	case err != nil:
		return ""
	case addr.Is4():
		return "4"
	case addr.IsUnspecified():
		return ""
	default:
		return "6"
	}
}

// validate adds the faults of a listener. taken holds the endpoints of those before it.
func (l *Listener) validate(faults *config.Faults, path string, s service, taken map[endpoint]string) {
	e, err := l.endpoint(s)
	if err != nil {
		faults.Add(path, "%v", err)
		return
	}
	if first, ok := taken[e]; ok {
		faults.Add(path, "%s is taken by %s", l.Address, first)
	} else if e.unix() || !strings.HasSuffix(e.address, ":0") {
		taken[e] = path
	}
	switch l.Framing {
	case framingNewline:
	case framingLength:
		if s != serviceStatsd || e.network != "unix" {
			faults.Add(config.Join(path, "framing"), "length is for unix:// addresses of statsd_listen_addresses only")
		}
	default:
		faults.Add(config.Join(path, "framing"), "%q is neither newline nor length", l.Framing)
	}
	if l.GaugeDeltas && s != serviceStatsd {
		faults.Add(config.Join(path, "gauge_deltas"), "is for statsd_listen_addresses only")
	}
	if l.MaxLineBytes != 0 {
		bound(faults, config.Join(path, "max_line_bytes"), l.MaxLineBytes, minMaxLine, maxMaxLine)
	}
	if l.IdleTimeout != 0 && l.IdleTimeout < minTimeout {
		faults.Add(config.Join(path, "idle_timeout"), "%s is neither 0 nor at least %s", l.IdleTimeout, minTimeout)
	}
}
