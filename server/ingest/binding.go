package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/internal/telemetry"
)

// controlFunc is called with a socket before it is bound.
type controlFunc = func(network, address string, raw syscall.RawConn) error

// binding is what listeners of all kinds have: where they listen and under which conditions.
type binding struct {
	src      *source
	protocol string // as people call it
	network  string // one of package net's
	address  string

	mode             fs.FileMode // of a unix socket's file
	framing          string      // of a unix stream of lines
	maxLine          int         // bytes of a line on a stream
	maxConnections   int
	sharers          int // listeners whose connections share the files that the process may open
	idleTimeout      time.Duration
	handshakeTime    time.Duration
	messageTime      time.Duration // of a large message from its first byte to its last
	maxConnectionAge time.Duration

	budget   *budget
	registry *telemetry.Registry
	log      *telemetry.LogSampler
	logger   logrus.FieldLogger

	mu   sync.Mutex
	addr net.Addr // once bound
}

// String names the listener in errors.
func (b *binding) String() string { return b.src.name }

func (b *binding) setAddr(addr net.Addr) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.addr = addr
}

func (b *binding) boundAddr() net.Addr {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.addr
}

// newCodec returns the codec for one connection.
func (b *binding) newCodec() codec {
	switch {
	case b.src.ssf:
		return frameCodec{}
	case b.framing == framingLength:
		return blockCodec{}
	default:
		return &lineCodec{limit: b.maxLine}
	}
}

// listen binds a stream. The file is nil unless it is a unix socket that has one.
func (b *binding) listen(ctx context.Context) (net.Listener, *socketFile, error) {
	var config net.ListenConfig
	if b.network != "unix" {
		listener, err := config.Listen(ctx, b.network, b.address)
		return listener, nil, b.failed(err)
	}
	var listener *net.UnixListener
	file, err := b.bindFile(func(control controlFunc) error {
		config.Control = control
		l, err := config.Listen(ctx, b.network, b.address)
		if err != nil {
			return err
		}
		listener = l.(*net.UnixListener)
		listener.SetUnlinkOnClose(false) // it would remove whatever lies there
		return nil
	})
	if err != nil && listener != nil {
		_ = listener.Close()
	}
	return listener, file, b.failed(err)
}

// listenUnixgram binds a unix datagram socket.
func (b *binding) listenUnixgram(ctx context.Context) (net.PacketConn, *socketFile, error) {
	var conn net.PacketConn
	file, err := b.bindFile(func(control controlFunc) (err error) {
		config := net.ListenConfig{Control: control}
		conn, err = config.ListenPacket(ctx, b.network, b.address)
		return err
	})
	if err != nil && conn != nil {
		_ = conn.Close()
	}
	return conn, file, b.failed(err)
}

// bindFile gets hold of the file of a unix socket, lets bind make it, and gives it its mode. An abstract name has no file.
func (b *binding) bindFile(bind func(controlFunc) error) (*socketFile, error) {
	if strings.HasPrefix(b.address, "@") {
		return nil, bind(nil)
	}
	file, err := takeSocketFile(b.network, b.address)
	if err != nil {
		return nil, err
	}
	if err = bind(beforeBind(b.mode)); err == nil {
		err = file.finish(b.mode)
	}
	if err != nil {
		file.remove()
		return nil, err
	}
	return file, nil
}

// failed says what could not be listened on, once: package net says it too, in other words.
func (b *binding) failed(err error) error {
	if err == nil {
		return nil
	}
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	return fmt.Errorf("listen on %s: %w", b.src.name, err)
}
