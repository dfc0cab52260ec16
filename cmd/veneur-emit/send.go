package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/veneurd/veneur/protocol"
	"github.com/veneurd/veneur/ssf"
)

// sendTimeout bounds connecting and sending together. A script must not hang because nobody reads the socket.
const sendTimeout = 5 * time.Second

// sender takes what is to be sent to one destination.
type sender interface {
	packet(ctx context.Context, packet []byte) error   // DogStatsD messages, separated by newlines
	span(ctx context.Context, span *ssf.SSFSpan) error // one SSF span
	limit() int                                        // bytes that a packet of many messages should have at most
	close() error
}

func (o *options) dial(ctx context.Context) (sender, error) {
	target := o.hostport
	if target == "" {
		if o.grpc {
			return nil, errors.New("-grpc needs -hostport: no daemon listens for gRPC unless its configuration says so")
		}
		target = defaultStatsd
		if o.ssf {
			target = defaultSSF
		}
	}
	if o.grpc {
		address, err := protocol.ParseGRPCAddress(target)
		if err != nil {
			return nil, fmt.Errorf("-hostport %q: %w", target, err)
		}
		return dialGRPC(address, o.proxy)
	}
	address, err := protocol.ParseAddress(target)
	if err != nil {
		return nil, fmt.Errorf("-hostport %q: %w", target, err)
	}
	if address.Network == "grpc" {
		return dialGRPC(address, o.proxy)
	}
	if o.proxy != "" {
		return nil, errors.New("-proxy is for gRPC: add -grpc")
	}
	network, where := address.NetAddress()
	if o.ssf && network == "unixgram" {
		return nil, fmt.Errorf("-hostport %q: SSF goes over udp, tcp, unix or grpc", target)
	}
	dialer := net.Dialer{Timeout: sendTimeout}
	conn, err := dialer.DialContext(ctx, network, where)
	if err != nil {
		return nil, err
	}
	return &socket{conn: conn, network: address.Network}, nil
}

// socket sends over a datagram or stream socket.
type socket struct {
	conn    net.Conn
	network string
}

func (s *socket) datagrams() bool { return s.network == "udp" || s.network == "unixgram" }

// limit keeps UDP within one Ethernet frame and unix datagrams within what clients commonly use.
func (s *socket) limit() int {
	switch s.network {
	case "udp":
		return 1432
	case "unixgram":
		return 8192
	default:
		return 64 << 10
	}
}

func (s *socket) packet(_ context.Context, packet []byte) error {
	if !s.datagrams() {
		packet = append(packet, '\n')
	}
	return s.write(packet)
}

func (s *socket) write(b []byte) error {
	if err := s.conn.SetWriteDeadline(time.Now().Add(sendTimeout)); err != nil {
		return err
	}
	_, err := s.conn.Write(b)
	return err
}

func (s *socket) span(_ context.Context, span *ssf.SSFSpan) error {
	if s.datagrams() {
		return s.write(ssf.AppendSpan(nil, span))
	}
	frame, err := protocol.AppendFrame(nil, span)
	if err != nil {
		return err
	}
	return s.write(frame)
}

// close lets a stream end properly: with data unsent in its buffer, the system sends that first.
func (s *socket) close() error { return s.conn.Close() }
