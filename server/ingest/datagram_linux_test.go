package ingest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A sender may hand the kernel many datagrams at once, and the kernel hand them on as one: each is still a datagram of its own, whose last
// line has no line end.
func TestCoalescedDatagramsAreCutApart(t *testing.T) {
	r := start(t, statsd(loopback))
	conn := r.dial(0).(*net.UDPConn)
	raw, err := conn.SyscallConn()
	require.NoError(t, err)
	const size, segments = 20, 40
	require.NoError(t, onDescriptor(raw, func(fd int) error { return unix.SetsockoptInt(fd, unix.SOL_UDP, unix.UDP_SEGMENT, size) }))
	var train strings.Builder
	for i := range segments {
		fmt.Fprintf(&train, "a:1|c\nb:1|c|#n:%05d", i) // no line end
	}
	train.WriteString("short:1|c")
	write(t, conn, train.String())
	r.wait(segments+1, "ingest.packets")
	r.stop()
	got := r.flush().values
	require.EqualValues(t, segments, got["a"])
	require.EqualValues(t, 1, got["b{n:00000}"])
	require.EqualValues(t, 1, got["b{n:00039}"])
	require.EqualValues(t, 1, got["short"])
	require.Len(t, got, segments+2)
	r.requireValue(segments+1, "ingest.packets")
	r.requireLaws()
}

func TestReceiveDoesNotAllocate(t *testing.T) {
	unixgram := "unixgram://" + filepath.Join(t.TempDir(), "d.sock")
	for _, address := range []string{loopback, unixgram} {
		r := build(t, statsd(address))
		d := r.in.datagrams[0]
		require.NoError(t, d.Start(t.Context()))
		conn, err := net.Dial(d.boundAddr().Network(), d.boundAddr().String())
		require.NoError(t, err)
		line := []byte("a:1|c|#x:y")
		allocs := testing.AllocsPerRun(100, func() {
			for range 5 {
				_, _ = conn.Write(line)
			}
			packets, err := d.sockets[0].receive()
			if err != nil || len(packets) != 5 {
				t.Fatal(len(packets), err)
			}
			d.take(d.intakes[0], packets)
		})
		if exactAllocs {
			require.Zero(t, allocs, address)
		}
		require.NoError(t, conn.Close())
		require.NoError(t, d.Close())
	}
}

// Who is allowed to gets a buffer past net.core.rmem_max, everybody else as much as that.
func TestReceiveBufferIsForced(t *testing.T) {
	text, err := os.ReadFile("/proc/sys/net/core/rmem_max")
	require.NoError(t, err)
	most, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	sockets, granted, err := openUDP(t.Context(), "udp4", "127.0.0.1:0", 2, most+4096)
	require.NoError(t, err)
	for _, s := range sockets {
		defer s.close()
		require.NoError(t, onDescriptor(s.raw, func(fd int) error {
			// What asks for privileges fails without, on any socket.
			forced := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, most+4096) == nil
			if forced {
				require.Equal(t, most+4096, granted)
			} else {
				require.Equal(t, most, granted)
			}
			return nil
		}))
	}
}

func TestB151SharingSocketOfAnotherProgram(t *testing.T) {
	sockets, _, err := openUDP(t.Context(), "udp4", "127.0.0.1:0", 1, 0)
	require.NoError(t, err)
	defer sockets[0].close()
	require.NoError(t, onDescriptor(sockets[0].raw, func(fd int) error {
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	}))
	_, _, err = openUDP(t.Context(), "udp4", sockets[0].conn.LocalAddr().String(), 2, 0)
	require.ErrorIs(t, err, unix.EADDRINUSE)
}
