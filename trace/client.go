package trace

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/veneurd/veneur/protocol"
	"github.com/veneurd/veneur/ssf"
)

// DefaultAddress is where a daemon without configuration takes spans.
const DefaultAddress = "udp://127.0.0.1:8128"

// maxShards bounds the memory of a client on a machine with many cores.
const maxShards = 64

// closeGrace is how long Close tries when its context has no deadline.
const closeGrace = 5 * time.Second

// Client sends spans and samples. Recording encodes into memory and never waits for the network. All methods may be called by any
// number of goroutines, and on a nil client, which drops everything at no cost and is what a service uses where tracing is off.
//
// A client owns one goroutine, its sender, from NewClient until Close: a service would have to start it anyway, and would have to do so
// before its first span. Over a stream there is one more, which learns that the daemon is gone. After Close has returned nil there are none.
type Client struct {
	options   options
	format    format
	transport transport
	shards    []shard // a power of two of them
	queue     queue
	metrics   registry
	clock     clock
	origin    origin // of the spans that begin a trace here

	flushMu  sync.Mutex
	flushers []flusher

	closeOnce sync.Once
	closing   chan struct{} // closed when nothing new is taken and the rest is to be sent
	abort     context.CancelFunc
	done      chan struct{} // closed when the sender has ended
	lost      uint64        // packets dropped at the end; written before done is closed
}

// NewClient returns a client of the daemon at address, which is written as for the daemon's own listeners: udp://host:port,
// unixgram:///path, unix:///path or tcp://host:port. gRPC is in package tracegrpc. It does not connect before something is to be sent, so
// that a service starts whether or not its daemon runs; an error means that the address or an option is wrong.
func NewClient(address string, opts ...Option) (*Client, error) {
	a, err := protocol.ParseAddress(address)
	if err != nil {
		return nil, err
	}
	if a.Network == "grpc" {
		return nil, fmt.Errorf("address %q: gRPC is spoken by the backend of package tracegrpc", address)
	}
	o := defaults()
	if err := o.apply(a.Network, opts); err != nil {
		return nil, err
	}
	d := &dialer{address: a, tls: o.tls, timeout: o.connectTimeout}
	if a.Network == "udp" || a.Network == "unixgram" {
		return start(o, 0, &datagrams{dial: d}), nil
	}
	return start(o, frameHeader, &stream{dial: d}), nil
}

// NewBackendClient returns a client that gives everything to the backend, which it owns from then on and closes in the end.
func NewBackendClient(backend ClientBackend, opts ...Option) (*Client, error) {
	if backend == nil {
		return nil, errors.New("trace: no backend")
	}
	o := defaults()
	if err := o.apply("", opts); err != nil {
		return nil, err
	}
	return start(o, 0, newBackendTransport(backend)), nil
}

func start(o options, header int, t transport) *Client {
	c := &Client{
		options:   o,
		format:    format{header, o.maxSpan},
		transport: t,
		shards:    make([]shard, shardCount(runtime.GOMAXPROCS(0))),
		closing:   make(chan struct{}),
		done:      make(chan struct{}),
	}
	c.origin.client = c
	c.queue.limit = o.memory
	c.queue.wake = make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(context.Background())
	c.abort = cancel
	go c.run(ctx)
	return c
}

// shardCount is twice the number of cores, as a power of two: two goroutines that record at once then seldom meet.
func shardCount(cores int) int { return min(1<<bits.Len(uint(2*cores-1)), maxShards) }

// Record records a span that the caller has made, or only samples in a span without ids, as it is: without WithService. It is encoded before
// Record returns, and stays the caller's. The error is nil or the Reason why it was dropped, which is also counted. A nil span is none.
func (c *Client) Record(span *ssf.SSFSpan) error {
	if c == nil || span == nil {
		return nil
	}
	return c.record(span, uint64(span.Id), true)
}

// MaxSpan is how many bytes a span may take on the wire, see WithMaxSpan.
func (c *Client) MaxSpan() int {
	if c == nil {
		return 0
	}
	return c.format.limit
}

// Report sends samples that belong to no span. Those that do not fit into one packet go in several. They stay the caller's. The error is
// nil or a Reason why some were dropped. What is counted often is better counted by a handle such as Counter.
func (c *Client) Report(samples ...ssf.SSFSample) error {
	if c == nil || len(samples) == 0 {
		return nil
	}
	span := ssf.SSFSpan{Metrics: samples}
	err := c.record(&span, rand.Uint64(), len(samples) == 1)
	if half := len(samples) / 2; half > 0 && errors.Is(err, ReasonTooLarge) {
		first := c.Report(samples[:half]...)
		if err = c.Report(samples[half:]...); err == nil {
			err = first
		}
	}
	return err
}

// Flush sends everything that was recorded before the call, handles included, and waits until it has been sent: until the kernel, or the
// backend, has it. While the daemon is away it waits for it. The error is that of ctx, or of a backend that refused something.
func (c *Client) Flush(ctx context.Context) error {
	if c == nil {
		return nil
	}
	answer := make(chan error, 1)
	c.flushMu.Lock()
	c.flushers = append(c.flushers, flusher{answer, ctx.Done()})
	c.flushMu.Unlock()
	defer c.forget(answer)
	select {
	case c.queue.wake <- struct{}{}:
	default:
	}
	select {
	case err := <-answer:
		return err
	case <-c.done:
		select {
		case err := <-answer:
			return err
		default:
			return ReasonClosed
		}
	case <-ctx.Done():
		return fmt.Errorf("trace: flush: %w", ctx.Err())
	}
}

// Close takes nothing new, sends what waits, and ends the client's goroutines. It returns by the deadline of ctx, and tries for 5 seconds if
// there is none; what has not been sent by then is dropped and counted as shutdown, and the error says how many. Spans may still be
// recorded afterwards: they are counted as closed. Further calls wait for the first.
func (c *Client) Close(ctx context.Context) error {
	if c == nil {
		return nil
	}
	c.closeOnce.Do(func() {
		for i := range c.shards {
			s := &c.shards[i]
			s.mu.Lock()
			s.closed = true
			s.mu.Unlock()
		}
		close(c.closing)
	})
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(closeGrace)
	}
	// The sender is stopped a little before, so that it has the time to count what is left.
	left := time.Until(deadline)
	early := time.NewTimer(left - min(left/10, 100*time.Millisecond))
	defer early.Stop()
	select {
	case <-c.done:
		return c.closeError()
	case <-early.C:
	case <-ctx.Done():
	}
	c.abort()
	if !ok {
		// Only a backend that does not heed its context can take longer.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, closeGrace/10)
		defer cancel()
	}
	select {
	case <-c.done:
		return c.closeError()
	case <-ctx.Done():
		return fmt.Errorf("trace: close: %w", ctx.Err())
	}
}

func (c *Client) closeError() error {
	if c.lost > 0 {
		return fmt.Errorf("trace: close: %d packets were not sent in time", c.lost)
	}
	return nil
}
