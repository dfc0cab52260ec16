package main

import (
	"bytes"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol"
)

const patience = time.Minute

// datagramsOf listens, and returns everything that arrives until quiet is called, packet by packet.
func datagramsOf(t *testing.T, network, address string) (protocol.Address, func(n int) [][]byte) {
	t.Helper()
	conn, err := net.ListenPacket(network, address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	to, err := protocol.ParseAddress(network + "://" + conn.LocalAddr().String())
	require.NoError(t, err)
	return to, func(n int) (packets [][]byte) {
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(patience)))
		buf := make([]byte, 1<<16)
		for range n {
			n, _, err := conn.ReadFrom(buf)
			require.NoError(t, err)
			packets = append(packets, bytes.Clone(buf[:n]))
		}
		return packets
	}
}

func TestDatagramsArriveAsTheyAre(t *testing.T) {
	packed := limits{messages: leastMessages, bytes: 1400}
	for _, tt := range []struct {
		name, network string
		wire          wire
		limits        limits
		mix           mix
		n             int
	}{
		{"udp", "udp", wire{}, limits{messages: 1}, mix{1}, 100},
		{"udp, packed", "udp", wire{}, packed, mix{1}, 70},
		{"trains", "udp", wire{gso: true}, limits{messages: 1}, mix{1}, 130},
		{"trains, packed", "udp", wire{gso: true}, packed, mix{1}, 70},
		{"trains of unequal lengths", "udp", wire{gso: true}, limits{messages: 1}, mix{1, 1, 1, 1}, 130},
		{"large trains", "udp", wire{gso: true}, limits{messages: leastMessages, bytes: 30_000}, mix{1}, 5},
		{"unixgram", "unixgram", wire{}, packed, mix{1}, 70},
		{"unixgram, a small buffer", "unixgram", wire{buffer: stallBuffer}, packed, mix{1}, 70},
	} {
		t.Run(tt.name, func(t *testing.T) {
			address := "127.0.0.1:0"
			if tt.network == "unixgram" {
				address = filepath.Join(t.TempDir(), "s")
			}
			to, read := datagramsOf(t, tt.network, address)
			c := lineLoad{1000, 3, tt.mix}.corpus(tt.limits)
			tt.wire.to = to
			conn, out, err := tt.wire.open(t.Context())
			require.NoError(t, err)
			defer conn.Close()
			done := make(chan error, 1)
			go func() {
				for sent := 0; sent < tt.n; {
					n, err := out.send(c, sent, tt.n-sent)
					if err != nil {
						done <- err
						return
					}
					sent += n
				}
				done <- nil
			}()
			for i, packet := range read(tt.n) {
				require.Equal(t, string(c.bytes(i, 1)), string(packet), i)
			}
			require.NoError(t, <-done)
		})
	}
}

func TestThePortableTransport(t *testing.T) {
	to, read := datagramsOf(t, "udp", "127.0.0.1:0")
	network, address := to.NetAddress()
	conn, err := net.Dial(network, address)
	require.NoError(t, err)
	defer conn.Close()
	c := lineLoad{1000, 3, mix{1}}.corpus(limits{messages: 1})
	n, err := plain{conn}.send(c, 5, 20)
	require.NoError(t, err)
	require.Equal(t, 20, n)
	for i, packet := range read(20) {
		require.Equal(t, string(c.bytes(5+i, 1)), string(packet))
	}
}

func TestStreamsArriveAsTheyAre(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	to, err := protocol.ParseAddress("tcp://" + listener.Addr().String())
	require.NoError(t, err)
	c := lineLoad{1000, 3, mix{1}}.corpus(limits{messages: 10, stream: true})
	conn, out, err := wire{to: to}.open(t.Context())
	require.NoError(t, err)
	n, err := out.send(c, 3, 40)
	require.NoError(t, err)
	require.Equal(t, 40, n)
	require.NoError(t, conn.Close())
	peer, err := listener.Accept()
	require.NoError(t, err)
	defer peer.Close()
	got, err := io.ReadAll(peer)
	require.NoError(t, err)
	require.Equal(t, string(c.bytes(3, 40)), string(got))
}

func TestNobodyListens(t *testing.T) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	to, err := protocol.ParseAddress(conn.LocalAddr().String())
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	l := load{
		corpus: lineLoad{1000, 3, mix{1}}.corpus(limits{messages: 1}), wire: wire{to: to},
		senders: 2, batch: 1, duration: time.Second, rate: 10_000,
	}
	s, err := l.run(t.Context())
	require.ErrorContains(t, err, to.String()+": nobody listens there")
	require.Less(t, s.Messages, uint64(1000))

	l.wire.to, err = protocol.ParseAddress("unix://" + filepath.Join(t.TempDir(), "none"))
	require.NoError(t, err)
	_, err = l.run(t.Context())
	require.ErrorContains(t, err, "none")
}

func TestNobodyReads(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	to, err := protocol.ParseAddress("tcp://" + listener.Addr().String())
	require.NoError(t, err)
	conn, out, err := wire{to: to}.open(t.Context())
	require.NoError(t, err)
	defer conn.Close()
	stop := interrupt(t.Context(), conn, 20*time.Millisecond)
	defer stop()
	c := lineLoad{1000, 3, mix{1}}.corpus(limits{messages: 1, stream: true})
	for err == nil {
		_, err = out.send(c, 0, c.packets())
	}
	require.ErrorContains(t, explain(to, err), "nobody reads what is sent")
}
