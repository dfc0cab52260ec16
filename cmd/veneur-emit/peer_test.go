package main

import (
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol"
	"github.com/veneurd/veneur/protocol/dogstatsd"
	"github.com/veneurd/veneur/ssf"
)

// peer is the other side of a socket.
type peer struct {
	t        *testing.T
	hostport string
	datagram net.PacketConn
	stream   net.Listener
}

// listen opens a socket of the network at an address that the system chooses.
func listen(t *testing.T, network string) *peer {
	t.Helper()
	address := "127.0.0.1:0"
	if strings.HasPrefix(network, "unix") {
		address = filepath.Join(t.TempDir(), "s")
	}
	p := &peer{t: t}
	var err error
	if network == "udp" || network == "unixgram" {
		p.datagram, err = net.ListenPacket(network, address)
		require.NoError(t, err)
		t.Cleanup(func() { p.datagram.Close() })
		p.hostport = network + "://" + p.datagram.LocalAddr().String()
		return p
	}
	p.stream, err = net.Listen(network, address)
	require.NoError(t, err)
	t.Cleanup(func() { p.stream.Close() })
	p.hostport = network + "://" + p.stream.Addr().String()
	return p
}

// bytes returns the next datagram, or what came over the next connection.
func (p *peer) bytes() []byte {
	p.t.Helper()
	if p.datagram != nil {
		require.NoError(p.t, p.datagram.SetReadDeadline(time.Now().Add(patience)))
		buf := make([]byte, 1<<17)
		n, _, err := p.datagram.ReadFrom(buf)
		require.NoError(p.t, err)
		return buf[:n]
	}
	conn, err := p.stream.Accept()
	require.NoError(p.t, err)
	defer conn.Close()
	require.NoError(p.t, conn.SetReadDeadline(time.Now().Add(patience)))
	data, err := io.ReadAll(conn)
	require.NoError(p.t, err)
	return data
}

// packet returns the next packet of DogStatsD, without the line end of a stream. Every message of it must be a good one, whole.
func (p *peer) packet() string {
	p.t.Helper()
	data := p.bytes()
	if p.stream != nil {
		require.Equal(p.t, byte('\n'), data[len(data)-1])
		data = data[:len(data)-1]
	}
	requireParses(p.t, data)
	return string(data)
}

func requireParses(t *testing.T, packet []byte) {
	t.Helper()
	var parser dogstatsd.Parser
	parser.Reset(packet, time.Now().Unix())
	messages := 0
	for line := parser.Next(); line != nil; line = parser.Next() {
		require.Equal(t, dogstatsd.ReasonNone, line.Reason, "%q", line.Raw)
		require.Zero(t, line.Ignored, "%q", line.Raw)
		messages++
	}
	require.Equal(t, strings.Count(string(packet), "\n")+1, messages)
}

// span returns the next span. It and its samples must be valid.
func (p *peer) span() *ssf.SSFSpan {
	p.t.Helper()
	data := p.bytes()
	if p.stream != nil {
		var whole bool
		var rest []byte
		var err error
		data, rest, whole, err = protocol.CutFrame(data)
		require.NoError(p.t, err)
		require.True(p.t, whole)
		require.Empty(p.t, rest)
	}
	span, err := protocol.ParseSSF(data)
	require.NoError(p.t, err)
	require.NoError(p.t, ssf.ValidateSpan(span))
	for i := range span.Metrics {
		require.NoError(p.t, ssf.ValidateSample(&span.Metrics[i]))
	}
	return span
}

// empty requires that nothing more has arrived. Nothing may be on its way any more.
func (p *peer) empty() {
	p.t.Helper()
	require.NoError(p.t, p.datagram.SetReadDeadline(time.Now().Add(time.Millisecond)))
	_, _, err := p.datagram.ReadFrom(make([]byte, 1))
	require.Error(p.t, err)
}
