package ingest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol"
)

// pour writes what it can of a message that is not whole, and leaves the connection open.
func (r *rig) pour(n int, text []byte) {
	conn := r.dial(n)
	go func() { _, _ = conn.Write(text) }() // ends at the latest when the connection is closed at the end of the test
}

// However many clients send as much as a message may have and never end it, they hold no more than the budget together, and those who send
// little are heard.
func TestBuffersOfAllConnectionsAreBounded(t *testing.T) {
	const limit, clients, size = 24 << 20, 12, 9 << 20
	tests := []struct {
		name, unfinished, finished, arrived, protocol string
		config                                        Config
	}{
		{
			"frames", "\x00\x01\x00\x00\x00" + strings.Repeat("x", size), frame(packetOf(traceSpan(1))), "ingest.spans", "protocol:ssf",
			ssfAt(tcp),
		},
		{"lines", strings.Repeat("x", size), "a:1|c\n", "ingest.samples", "protocol:dogstatsd", statsd(tcp)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := tt.config
			c.MaxStreamBufferBytes = limit
			c.MetricMaxLength = maxMaxLine
			r := start(t, c, func(b *binding) { b.messageTime = time.Hour })
			unfinished := []byte(tt.unfinished)
			before := heap()
			quiet := r.send(0, tt.finished)
			for range clients {
				r.pour(0, unfinished)
			}
			r.wait(clients-limit/size, "ingest.connections_closed", "reason:memory")
			require.Less(t, heap()-before, int64(2*limit), "what was let go since the last collection counts too")
			require.LessOrEqual(t, r.reg.Value("ingest.stream_buffer_bytes"), float64(limit))
			eventually(t, func() bool { // the two are not counted at once
				return r.reg.Value("ingest.connections_closed", "reason:memory") == r.reg.Value("ingest.refused", tt.protocol, "reason:memory")
			}, "closed and not refused")
			write(t, quiet, tt.finished)
			r.send(0, tt.finished)
			r.wait(3, tt.arrived)
			r.stop()
			r.requireValue(0, "ingest.stream_buffer_bytes")
			r.requireLaws()
		})
	}
}

// inBubble serves one connection in a bubble of fake time, on a pipe, since sockets are outside of it.
func inBubble(t *testing.T, c Config, f func(t *testing.T, r *rig, conn *connection, client net.Conn, done chan error)) {
	r := build(t, c)
	b := r.in.bindings[0]
	in := r.in.newIntake()
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		conn := &connection{
			conn: server, in: in, src: b.src, codec: b.newCodec(), idle: b.idleTimeout, messageTime: b.messageTime, budget: b.budget,
			stopping: new(atomic.Bool),
		}
		done := make(chan error, 1)
		go func() { done <- conn.serve() }()
		f(t, r, conn, client, done)
		_ = client.Close()
		<-done
		require.Zero(t, b.budget.used.Load())
	})
}

func TestLargeMessagesMayNotTakeLong(t *testing.T) {
	tests := []struct {
		name, began, more string
		pause             time.Duration // between one piece and the next
		least, most       time.Duration // when it is given up
	}{
		{"nothing comes any more", strings.Repeat("x", 100_000), "", time.Hour, messageTime, messageTime * 5 / 4},
		{"one byte a second", strings.Repeat("x", 100_000), "x", time.Second, messageTime, messageTime + 2*time.Second},
		{"one byte just in time", strings.Repeat("x", 100_000), "x", messageTime - time.Second, messageTime, 2 * messageTime},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, ssfAt(tcp), func(t *testing.T, r *rig, _ *connection, client net.Conn, done chan error) {
				begin := time.Now()
				var sender sync.WaitGroup
				write(t, client, frame(packetOf(traceSpan(1)))+"\x00\x00\x10\x00\x00"+tt.began)
				sender.Go(func() {
					for {
						time.Sleep(tt.pause)
						if _, err := io.WriteString(client, tt.more); err != nil {
							return
						}
					}
				})
				err := <-done
				require.ErrorIs(t, err, errSlow)
				require.GreaterOrEqual(t, time.Since(begin), tt.least)
				require.LessOrEqual(t, time.Since(begin), tt.most)
				r.requireValue(1, "ingest.spans")
				r.requireValue(1, "ingest.refused", "protocol:ssf", "reason:slow")
				done <- err
				_ = client.Close()
				sender.Wait()
			})
		})
	}
}

// A message that came in time is taken however many came before it, and nothing is held once it is done with and the client is silent.
func TestMemoryIsLetGoWhenNothingComes(t *testing.T) {
	inBubble(t, ssfAt(tcp), func(t *testing.T, r *rig, conn *connection, client net.Conn, done chan error) {
		span := traceSpan(1)
		span.SetTag("big", strings.Repeat("x", 300_000))
		message := frame(packetOf(span))
		for range 10 {
			for half := range 2 {
				time.Sleep(messageTime * 2 / 5)
				write(t, client, message[half*len(message)/2:(half+1)*len(message)/2])
			}
		}
		synctest.Wait()
		r.requireValue(10, "ingest.spans")
		require.Greater(t, conn.budget.used.Load(), int64(300_000))
		time.Sleep(messageTime * 5 / 4)
		synctest.Wait()
		require.Zero(t, conn.budget.used.Load())
		require.Equal(t, minBuffer, cap(conn.buf))
		write(t, client, message)
		synctest.Wait()
		r.requireValue(11, "ingest.spans")
		silent := time.Now()
		err := <-done
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.GreaterOrEqual(t, time.Since(silent), defaultIdleTimeout)
		done <- err
	})
}

// Whoever writes a stream in pieces of equal size ends them in the middle of a line, and may be silent then.
func TestSmallMessagesMayTakeLong(t *testing.T) {
	inBubble(t, statsd(tcp), func(t *testing.T, r *rig, conn *connection, client net.Conn, _ chan error) {
		for n := range 5 {
			write(t, client, strings.Repeat(fmt.Sprintf("a%d:1|c\n", n), 10_000)+"last:")
			time.Sleep(defaultIdleTimeout - time.Second)
			require.Zero(t, conn.budget.used.Load())
			write(t, client, "1|c\n")
			synctest.Wait()
			r.requireValue(float64(n+1)*10_001, "ingest.samples")
		}
		r.requireValue(0, "ingest.refused")
	})
}

func TestIdleTimeoutZeroMeansNever(t *testing.T) {
	c := statsd(tcp)
	c.StatsdListenAddresses[0].IdleTimeout = 0
	inBubble(t, c, func(t *testing.T, r *rig, _ *connection, client net.Conn, _ chan error) {
		for n := range 3 {
			time.Sleep(1000 * time.Hour)
			write(t, client, strings.Repeat("a:1|c\n", 10_000))
			synctest.Wait()
			r.requireValue(float64(n+1)*10_000, "ingest.samples")
		}
	})
}

// The largest frame, and the longest line, fit a budget of one and a half times their size, and half a budget is left to those who need
// it.
func TestBudget(t *testing.T) {
	for _, room := range []int{65, 4097, 10_000, protocol.MaxFrame + 8} {
		c := &connection{codec: &lineCodec{limit: room - 1}, budget: newBudget(room + room/2 + minBuffer)}
		c.buf = make([]byte, 0, min(minBuffer, room))
		for cap(c.buf) < room {
			require.True(t, c.setCap(2*cap(c.buf)), "%d of %d", cap(c.buf), room)
		}
		require.Equal(t, room, cap(c.buf))
		require.EqualValues(t, c.held(), c.budget.used.Load())
		c.setCap(minBuffer)
		require.Zero(t, c.budget.used.Load())
	}
	b := newBudget(10)
	require.True(t, b.take(4))
	require.True(t, b.ample())
	require.True(t, b.take(6))
	require.False(t, b.ample())
	require.False(t, b.take(1))
	b.give(1)
	require.True(t, b.take(1))
	require.False(t, errors.Is(errSlow, errMemory))
}
