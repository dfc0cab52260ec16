package ingest

import (
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPauseIsWhatTheBufferHasRoomFor(t *testing.T) {
	for _, tt := range []struct {
		buffer int
		want   time.Duration
	}{{0, 0}, {212_992, 0}, {1 << 20, time.Millisecond}, {defaultReadBuffer, 4 * time.Millisecond}, {maxReadBuffer, 4 * time.Millisecond}} {
		require.Equal(t, tt.want, pauseFor(tt.buffer), "%d", tt.buffer)
	}
}

// A datagram that comes at any moment of a wait, before it, while the gate is armed, or while the runtime forgets what it heard, ends the wait.
func TestGateForgetsNoDatagram(t *testing.T) {
	for _, pause := range []time.Duration{0, time.Millisecond} {
		sockets, _, err := openUDP(t.Context(), "udp4", "127.0.0.1:0", 1, defaultReadBuffer)
		require.NoError(t, err)
		s := sockets[0]
		s.gate.pause = pause
		sender, err := net.Dial("udp4", s.conn.LocalAddr().String())
		require.NoError(t, err)
		const rounds = 2000
		read := make(chan int, 1)
		go func() {
			for sent := 0; sent < rounds; {
				write(t, sender, "a:1|c")
				sent++
				if sent%3 == 0 { // two on the way at once, else one
					continue
				}
				for got := 0; got < sent; {
					n, ok := <-read
					if !ok {
						return
					}
					got = n
				}
			}
		}()
		for got := 0; got < rounds; {
			require.NoError(t, s.conn.SetReadDeadline(time.Now().Add(patience)))
			packets, err := s.receive()
			require.NoError(t, err, "after %d", got)
			got += len(packets)
			if len(read) == 1 {
				<-read
			}
			read <- got
		}
		require.NoError(t, s.conn.SetReadDeadline(time.Unix(1, 0)))
		_, err = s.receive()
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.NoError(t, sender.Close())
		require.NoError(t, s.close())
		_, err = s.receive()
		require.ErrorIs(t, err, net.ErrClosed)
		close(read)
	}
}

func TestStopUnderAFlood(t *testing.T) {
	r := start(t, statsd(loopback))
	conn := r.dial(0)
	flooding, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-flooding:
				return
			default:
				_, _ = conn.Write([]byte("a:1|c")) // refused once the socket is closed
			}
		}
	}()
	r.wait(1000, "ingest.samples")
	r.stop()
	close(flooding)
	<-done
}
