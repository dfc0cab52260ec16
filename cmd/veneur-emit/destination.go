package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"syscall"

	"github.com/veneurd/veneur/protocol"
)

// Where things go unless -hostport says so: where a daemon without a configuration file listens.
const (
	defaultStatsd = "udp://127.0.0.1:8126"
	defaultSSF    = "udp://127.0.0.1:8128"
)

// destination is where to send.
type destination struct {
	protocol.Address
	proxy *url.URL // through which to reach a gRPC server; nil for directly
}

// destination reads -hostport, -grpc and -proxy. It opens nothing.
func (o *options) destination() (destination, error) {
	target, parse := o.hostport, protocol.ParseAddress
	switch {
	case o.grpc && target == "":
		return destination{}, errors.New("-grpc needs -hostport: no daemon listens for gRPC unless its configuration says so")
	case o.grpc:
		parse = protocol.ParseGRPCAddress
	case target == "" && o.ssf:
		target = defaultSSF
	case target == "":
		target = defaultStatsd
	}
	address, err := parse(target)
	if err != nil {
		return destination{}, fmt.Errorf("-hostport: %w", err)
	}
	if address.Port == 0 && address.Path == "" {
		return destination{}, fmt.Errorf("-hostport: address %q: nothing can be sent to port 0", target)
	}
	to := destination{Address: address}
	if o.proxy != "" {
		if address.Network != "grpc" {
			return destination{}, errors.New("-proxy is for gRPC: add -grpc")
		}
		to.proxy, err = parseProxy(o.proxy)
	}
	return to, err
}

// connect opens a connection to the destination itself. Where a name stands for several addresses, the first one that answers is taken;
// since none ever does over UDP, IPv4 goes first there: a daemon listens at 127.0.0.1, and not at the ::1 that is localhost as well.
func (d destination) connect(ctx context.Context) (net.Conn, error) {
	network, where := d.NetAddress()
	var dialer net.Dialer
	if _, err := netip.ParseAddr(d.Host); network == "udp" && err != nil {
		if conn, err := dialer.DialContext(ctx, "udp4", where); err == nil {
			return conn, nil
		}
	}
	conn, err := dialer.DialContext(ctx, network, where)
	if errors.Is(err, syscall.EPROTOTYPE) {
		other := map[string]string{"unix": "unixgram", "unixgram": "unix"}[network]
		return nil, fmt.Errorf("%s is a socket of another type: write %s://%s", where, other, where)
	}
	return conn, err
}
