package trace

import (
	"bytes"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// bufferOf holds packets of the given sizes, each filled with its number.
func bufferOf(sizes []int) *buffer {
	b := newBuffer()
	for i, size := range sizes {
		b.data = append(b.data, bytes.Repeat([]byte{byte(i)}, size)...)
		b.ends = append(b.ends, len(b.data))
	}
	return b
}

func listenUDP(t *testing.T) (*net.UDPConn, *batcher) {
	t.Helper()
	listener, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	conn, err := net.Dial("udp", listener.LocalAddr().String())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	m, err := newBatcher(conn)
	require.NoError(t, err)
	return listener, m
}

// Whatever goes together, each packet arrives as a datagram of its own.
func TestTrains(t *testing.T) {
	for _, tt := range []struct {
		name   string
		sizes  []int
		trains []int // packets of each message
	}{
		{"one", []int{100}, []int{1}},
		{"equal ones", []int{100, 100, 100}, []int{3}},
		{"a smaller one at the end", []int{100, 100, 80, 80}, []int{3, 1}},
		{"a larger one", []int{100, 101, 101}, []int{1, 2}},
		{"falling", []int{5, 4, 3, 2, 1}, []int{2, 2, 1}},
		{"empty ones", []int{0, 0, 10, 10, 0}, []int{1, 1, 2, 1}},
		{"more than a train takes", slices.Repeat([]int{10}, 130), []int{64, 64, 2}},
		{"larger than a datagram can be", []int{40000, 25507, 1}, []int{2, 1}},
		{"too large together", []int{40000, 25508}, []int{1, 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			listener, m := listenUDP(t)
			b := bufferOf(tt.sizes)
			n, err := m.send(b)
			require.NoError(t, err)
			require.Equal(t, len(tt.sizes), n)
			require.Equal(t, tt.trains, m.packets[:m.count])
			require.NoError(t, listener.SetReadDeadline(time.Now().Add(time.Minute)))
			buf := make([]byte, 1<<16)
			for i := range tt.sizes {
				n, err := listener.Read(buf)
				require.NoError(t, err)
				require.Equal(t, b.packet(i, format{}), buf[:n:n], "%d", i)
			}
		})
	}
}

// A way that takes no trains gets single datagrams, and no packet is lost for it.
func TestTrainsThatAreRefused(t *testing.T) {
	for _, errno := range []unix.Errno{unix.EIO, unix.EINVAL, unix.EMSGSIZE} {
		_, m := listenUDP(t)
		m.sender = func(fd uintptr) bool {
			if m.packets[0] > 1 {
				m.errno = errno
				return true
			}
			return m.sendNow(fd)
		}
		b := bufferOf([]int{100, 100, 100})
		n, err := m.send(b)
		require.NoError(t, err)
		require.Zero(t, n)
		n, err = m.send(b)
		require.NoError(t, err)
		require.Equal(t, 3, n)
		require.Equal(t, []int{1, 1, 1}, m.packets[:m.count])
	}
	_, m := listenUDP(t)
	m.sender = func(uintptr) bool {
		m.errno = unix.ECONNREFUSED
		return true
	}
	_, err := m.send(bufferOf([]int{100, 100}))
	require.ErrorIs(t, err, unix.ECONNREFUSED)
	require.True(t, m.trains)
}
