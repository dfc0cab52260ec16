package protocol

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// maxPath is how long the path of a unix socket may be: what Linux takes, without the byte that ends it.
const maxPath = 107

// Address is where something listens or is sent to. The zero value is none. Addresses are comparable.
type Address struct {
	Network string // "udp", "tcp", "unix", "unixgram" or "grpc"
	Family  string // "4" or "6" when an internet address was written as udp4, tcp6 …, otherwise ""
	Host    string // name or address without brackets, with its zone; "" for all addresses of this machine
	Port    uint16 // 0 lets the system choose one to listen at
	Path    string // of a unix socket; starts with @ when it is in the abstract namespace
	TLS     bool   // a gRPC address that was written as https
}

// ParseAddress reads an address of the configuration or the command line:
//
//	udp://host:port  tcp://host:port  grpc://host:port  host:port (udp)
//	unix:///path  unixgram:///path  unix://@name (abstract)
//
// udp4, udp6, tcp4 and tcp6 are taken too. An IPv6 address stands in brackets and may have a zone: udp://[fe80::1%eth0]:8125. Names are not
// resolved. An error says what to write instead.
func ParseAddress(s string) (Address, error) {
	a, err := parseAddress(s)
	if err != nil {
		return Address{}, fmt.Errorf("address %q: %w", s, err)
	}
	return a, nil
}

// ParseGRPCAddress reads an address at which gRPC is spoken: host:port, grpc://host:port, tcp://host:port, http://host:port, or https://host:port,
// which asks for TLS. The result's Network is "grpc".
func ParseGRPCAddress(s string) (Address, error) {
	a, err := parseGRPCAddress(s)
	if err != nil {
		return Address{}, fmt.Errorf("address %q: %w", s, err)
	}
	return a, nil
}

func parseAddress(s string) (Address, error) {
	scheme, rest, found := strings.Cut(s, "://")
	if !found {
		return parseBare(s)
	}
	switch scheme = strings.ToLower(scheme); scheme {
	case "udp", "tcp", "grpc":
		return parseInternet(scheme, "", rest)
	case "udp4", "udp6", "tcp4", "tcp6":
		return parseInternet(scheme[:3], scheme[3:], rest)
	case "unix", "unixgram":
		return parsePath(scheme, rest)
	case "http", "https":
		return Address{}, fmt.Errorf("%s is for addresses of gRPC only: write udp://%s or tcp://%s", scheme, rest, rest)
	default:
		return Address{}, fmt.Errorf("unknown scheme %q: write one of udp, tcp, unix, unixgram and grpc", scheme)
	}
}

func parseGRPCAddress(s string) (Address, error) {
	scheme, rest, found := strings.Cut(s, "://")
	if !found {
		return parseInternet("grpc", "", s)
	}
	switch scheme = strings.ToLower(scheme); scheme {
	case "grpc", "tcp", "http":
		return parseInternet("grpc", "", rest)
	case "tcp4", "tcp6":
		return parseInternet("grpc", scheme[3:], rest)
	case "https":
		a, err := parseInternet("grpc", "", rest)
		a.TLS = true
		return a, err
	default:
		return Address{}, fmt.Errorf("gRPC does not go over %s: write host:port or grpc://host:port", scheme)
	}
}

// parseBare reads an address without a scheme.
func parseBare(s string) (Address, error) {
	switch scheme, rest, _ := strings.Cut(s, ":"); {
	case s == "":
		return Address{}, errors.New("is empty: write for example udp://127.0.0.1:8126")
	case s[0] == '/' || s[0] == '@' || s[0] == '.':
		return Address{}, fmt.Errorf("has no scheme: write unix://%s for a stream or unixgram://%s for datagrams", s, s)
	case scheme == "unix" || scheme == "unixgram":
		return Address{}, fmt.Errorf("has no slashes after the scheme: write %s://%s", scheme, rest)
	}
	return parseInternet("udp", "", s)
}

func parseInternet(network, family, s string) (Address, error) {
	// URLs are often given a last slash, and the original took it.
	host, port, err := splitHostPort(strings.TrimSuffix(s, "/"))
	if err != nil {
		return Address{}, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return Address{}, fmt.Errorf("port %q is not a number from 0 to 65535", port)
	}
	return Address{Network: network, Family: family, Host: host, Port: uint16(n)}, nil
}

// splitHostPort is stricter than net.SplitHostPort and says what to write.
func splitHostPort(s string) (host, port string, err error) {
	if strings.HasPrefix(s, "[") {
		inside, after, found := strings.Cut(s[1:], "]")
		if !found {
			return "", "", errors.New("has no closing bracket: write [::1]:8126")
		}
		// RFC 6874 writes the percent sign of a zone as %25.
		ip, zone, hasZone := strings.Cut(inside, "%")
		if escaped, found := strings.CutPrefix(zone, "25"); found && escaped != "" {
			zone = escaped
		}
		if hasZone {
			inside = ip + "%" + zone
		}
		if parsed, err := netip.ParseAddr(inside); err != nil || !parsed.Is6() || strings.ContainsAny(zone, hostless) {
			return "", "", fmt.Errorf("%q is not an IPv6 address: brackets hold nothing else", inside)
		}
		port, found := strings.CutPrefix(after, ":")
		if !found {
			return "", "", fmt.Errorf("has no port: write [%s]:8126", inside)
		}
		return inside, port, nil
	}
	switch strings.Count(s, ":") {
	case 0:
		if s == "" {
			return "", "", errors.New("has neither host nor port: write for example 127.0.0.1:8126")
		}
		return "", "", fmt.Errorf("has no port: write %s:8126, or :8126 for every address of this machine", s)
	case 1:
		host, port, _ = strings.Cut(s, ":")
	default:
		return "", "", errors.New("has more than one colon: an IPv6 address stands in brackets, as in [::1]:8126")
	}
	if strings.ContainsAny(host, hostless+"%") {
		return "", "", fmt.Errorf("%q is not a host", host)
	}
	return host, port, nil
}

// hostless are characters that stand in no host and in no zone.
const hostless = "/?#@[]\\\"'*,; \t\r\n\x00"

func parsePath(network, path string) (Address, error) {
	switch {
	case path == "" || path == "/" || path == "@":
		return Address{}, fmt.Errorf("has no path: write for example %s:///run/veneur/statsd.sock", network)
	case path[0] != '/' && path[0] != '@' && !strings.HasPrefix(path, "./") && !strings.HasPrefix(path, "../"):
		return Address{}, fmt.Errorf("is a path without its first slash: write %s:///%s, or %s://./%s for one in the working directory",
			network, path, network, path)
	case strings.IndexByte(path, 0) >= 0:
		return Address{}, errors.New("has a zero byte in its path")
	case len(path) > maxPath:
		return Address{}, fmt.Errorf("has a path of %d bytes, and a unix socket takes %d at most: choose a shorter one", len(path), maxPath)
	}
	return Address{Network: network, Path: path}, nil
}

// NetAddress returns the network and the address that package net takes to listen or to dial: "tcp" for gRPC, and the zone of an
// IPv6 address in its brackets.
func (a Address) NetAddress() (network, address string) {
	switch a.Network {
	case "unix", "unixgram":
		return a.Network, a.Path
	case "grpc":
		network = "tcp"
	default:
		network = a.Network
	}
	return network + a.Family, net.JoinHostPort(a.Host, strconv.Itoa(int(a.Port)))
}

// String returns the address as it is written, an IPv6 address in brackets. The function that parsed it reads the same from it.
func (a Address) String() string {
	if a.Network == "unix" || a.Network == "unixgram" {
		return a.Network + "://" + a.Path
	}
	scheme := a.Network + a.Family
	switch {
	case a.TLS:
		scheme = "https"
	case a.Network == "grpc" && a.Family != "":
		scheme = "tcp" + a.Family
	}
	host := a.Host
	if ip, zone, _ := strings.Cut(host, "%"); strings.HasPrefix(zone, "25") {
		host = ip + "%25" + zone
	}
	return scheme + "://" + net.JoinHostPort(host, strconv.Itoa(int(a.Port)))
}
