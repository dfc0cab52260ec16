package tracetest

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/veneurd/veneur/protocol"
	"github.com/veneurd/veneur/ssf"
)

// Collector listens for spans, as a daemon does. It is stopped at the end of the test.
type Collector struct {
	expectations
	network string
	address string

	mu      sync.Mutex
	change  *sync.Cond // whatever below changes
	running bool
	paused  bool
	closer  func()
	open    map[net.Conn]struct{}
	spans   []*ssf.SSFSpan
	wrong   []error // what was no span

	readers sync.WaitGroup
}

// Listen listens on "udp" or "tcp" at a port of this machine, or on "unix" or "unixgram" in a directory of the test.
func Listen(t testing.TB, network string) *Collector {
	t.Helper()
	c := &Collector{network: network, open: map[net.Conn]struct{}{}}
	c.expectations = expectations{t, c.Spans}
	c.change = sync.NewCond(&c.mu)
	c.address = "127.0.0.1:0"
	if network == "unix" || network == "unixgram" {
		// The directory of a test may be too long a path for a socket.
		dir, err := os.MkdirTemp("", "trace")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		c.address = filepath.Join(dir, "ssf.sock")
	}
	c.Start()
	t.Cleanup(func() {
		c.Stop()
		for _, err := range c.wrong {
			t.Errorf("collector: %v", err)
		}
	})
	return c
}

// Address is what a client is given.
func (c *Collector) Address() string { return c.network + "://" + c.address }

// Start listens again after Stop, at the same address.
func (c *Collector) Start() {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	closer, err := c.listen()
	if err != nil {
		c.t.Fatal(err)
	}
	c.closer, c.running, c.paused = closer, true, false
}

func (c *Collector) listen() (closer func(), err error) {
	var lc net.ListenConfig
	if c.network == "unix" || c.network == "unixgram" {
		_ = os.Remove(c.address)
	}
	if c.network == "tcp" || c.network == "unix" {
		l, err := lc.Listen(context.Background(), c.network, c.address)
		if err != nil {
			return nil, err
		}
		c.address = l.Addr().String()
		c.readers.Go(func() { c.accept(l) })
		return func() { _ = l.Close() }, nil
	}
	conn, err := lc.ListenPacket(context.Background(), c.network, c.address)
	if err != nil {
		return nil, err
	}
	c.address = conn.LocalAddr().String()
	c.readers.Go(func() { c.datagrams(conn) })
	return func() { _ = conn.Close() }, nil
}

// Stop ends the listener and its connections, as a daemon that is killed: what it has not read is lost.
func (c *Collector) Stop() {
	c.mu.Lock()
	if c.running {
		c.closer()
	}
	c.running, c.paused = false, false
	for conn := range c.open {
		_ = conn.Close()
	}
	c.change.Broadcast()
	c.mu.Unlock()
	c.readers.Wait()
}

// Pause stops reading, as a daemon that hangs does, until Resume. What arrives stays in the sockets, as far as it fits.
func (c *Collector) Pause() { c.pause(true) }

// Resume reads on.
func (c *Collector) Resume() { c.pause(false) }

func (c *Collector) pause(paused bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused = paused
	c.change.Broadcast()
}

// Spans returns every span so far, in the order in which they came.
func (c *Collector) Spans() []*ssf.SSFSpan {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*ssf.SSFSpan(nil), c.spans...)
}

// Wait waits until there are at least n spans, and returns all there are.
func (c *Collector) Wait(n int) []*ssf.SSFSpan {
	c.t.Helper()
	late := false
	timer := time.AfterFunc(patience, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		late = true
		c.change.Broadcast()
	})
	defer timer.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.spans) < n && !late {
		c.change.Wait()
	}
	if len(c.spans) < n {
		c.t.Fatalf("gave up waiting for %d spans with %d", n, len(c.spans))
	}
	return append([]*ssf.SSFSpan(nil), c.spans...)
}

// gate waits while the collector is paused.
func (c *Collector) gate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.paused {
		c.change.Wait()
	}
}

func (c *Collector) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		c.mu.Lock()
		if c.running {
			c.open[conn] = struct{}{}
			c.readers.Go(func() { c.frames(conn) })
		} else {
			_ = conn.Close()
		}
		c.mu.Unlock()
	}
}

func (c *Collector) frames(conn net.Conn) {
	defer func() {
		c.mu.Lock()
		delete(c.open, conn)
		c.mu.Unlock()
		_ = conn.Close()
	}()
	in := bufio.NewReader(conn)
	var buf []byte
	for {
		c.gate()
		var err error
		if buf, err = protocol.ReadFrame(in, buf); err != nil {
			var framing *protocol.FramingError
			// A client that is killed, or given up, leaves part of a frame.
			if errors.As(err, &framing) && framing.Reason != protocol.ReasonFrameTruncated && !errors.Is(err, io.EOF) {
				c.add(nil, err)
			}
			return
		}
		c.add(protocol.ParseSSF(buf))
	}
}

func (c *Collector) datagrams(conn net.PacketConn) {
	buf := make([]byte, 1<<16)
	for {
		c.gate()
		n, _, err := conn.ReadFrom(buf)
		if err != nil {
			return
		}
		c.add(protocol.ParseSSF(buf[:n]))
	}
}

func (c *Collector) add(span *ssf.SSFSpan, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.wrong = append(c.wrong, err)
		return
	}
	c.spans = append(c.spans, span)
	c.change.Broadcast()
}
