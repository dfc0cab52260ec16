package ingest

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// rawClient is a client of gRPC that does what no proper one would.
type rawClient struct {
	t      *testing.T
	conn   net.Conn
	framer *http2.Framer
	hpack  *hpack.Encoder
	fields bytes.Buffer
	stream uint32
}

func (r *rig) rawClient(conn net.Conn) *rawClient {
	c := &rawClient{t: r.t.(*testing.T), conn: conn, framer: http2.NewFramer(conn, conn)}
	c.hpack = hpack.NewEncoder(&c.fields)
	write(r.t, conn, clientPreface)
	require.NoError(r.t, c.framer.WriteSettings())
	return c
}

// open begins a call and returns its stream. more are pairs of headers.
func (c *rawClient) open(method string, more ...string) (uint32, error) {
	c.stream += 2
	c.fields.Reset()
	fields := append([]string{
		":method", "POST", ":scheme", "http", ":path", method, ":authority", "x", "content-type", "application/grpc", "te", "trailers",
	}, more...)
	for i := 0; i < len(fields); i += 2 {
		require.NoError(c.t, c.hpack.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}))
	}
	stream, block := c.stream-1, c.fields.Bytes()
	first := block[:min(len(block), 16<<10)]
	err := c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: first, EndHeaders: len(first) == len(block)})
	for block = block[len(first):]; err == nil && len(block) > 0; block = block[len(first):] {
		first = block[:min(len(block), 16<<10)]
		err = c.framer.WriteContinuation(stream, len(first) == len(block), first)
	}
	return stream, err
}

// send sends a part of a call's bytes, in frames of size bytes, without regard to windows.
func (c *rawClient) send(stream uint32, data []byte, size int) error {
	for len(data) > 0 {
		n := min(size, len(data))
		if err := c.framer.WriteData(stream, false, data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// next returns the next frame of the kind about the stream.
func (c *rawClient) next(kind http2.FrameType, stream uint32) (http2.Frame, error) {
	if err := c.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	for {
		f, err := c.framer.ReadFrame()
		if err != nil || f.Header().Type == kind && f.Header().StreamID == stream {
			return f, err
		}
	}
}

// answer waits until a call is answered, or taken back by the server.
func (c *rawClient) answer(stream uint32) error {
	if err := c.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	for {
		f, err := c.framer.ReadFrame()
		if err != nil {
			return err
		}
		h := f.Header()
		if h.StreamID == stream && (h.Type == http2.FrameRSTStream || h.Flags.Has(http2.FlagDataEndStream)) {
			return nil
		}
	}
}

// window waits until the server wants all of the message whose prefix it has been sent.
func (c *rawClient) window(stream uint32, size int) error {
	for open := callWindow; open < size; {
		f, err := c.next(http2.FrameWindowUpdate, stream)
		if err != nil {
			return err
		}
		open += int(f.(*http2.WindowUpdateFrame).Increment)
	}
	return nil
}

func prefix(length int) []byte { return binary.BigEndian.AppendUint32([]byte{0}, uint32(length)) }

// However many calls never end, they hold no more than the budget together, however small their frames are, and small calls get through.
func TestCallsOfAllConnectionsAreBounded(t *testing.T) {
	const limit, clients, calls, size = 12 << 20, 10, 4, 1 << 20
	a := newAuthority(t)
	for _, tt := range []struct {
		name      string
		secure    bool
		frameSize int
	}{{"large frames", false, 16 << 10}, {"large frames over TLS", true, 16 << 10}, {"small frames", false, 40}} {
		t.Run(tt.name, func(t *testing.T) {
			c := grpcAt("127.0.0.1:0")
			c.MaxStreamBufferBytes = limit
			dial := func(r *rig) net.Conn { return r.dial(0) }
			transport := insecure.NewCredentials()
			if tt.secure {
				a.serve(&c, false)
				transport = credentials.NewTLS(a.client(false))
				dial = func(r *rig) net.Conn {
					config := a.client(false)
					config.NextProtos, config.ServerName = []string{"h2"}, "127.0.0.1"
					conn := tls.Client(r.dial(0), config)
					require.NoError(t, conn.Handshake())
					return conn
				}
			}
			r := start(t, c, func(b *binding) { b.messageTime = time.Hour })
			quiet := r.client(0, transport)
			require.NoError(t, call(t, quiet, sendPacket, packetMessage("a:1|c")))
			before := heap()
			data := make([]byte, size-1)
			for range clients {
				client := r.rawClient(dial(r))
				go func() {
					for range calls {
						stream, err := client.open(sendSpan)
						if err != nil || client.send(stream, prefix(size), size) != nil || client.window(stream, size) != nil ||
							client.send(stream, data, tt.frameSize) != nil {
							return
						}
					}
				}()
			}
			r.wait(clients-limit/(calls*size), "ingest.connections_closed", "reason:memory")
			require.LessOrEqual(t, r.reg.Value("ingest.stream_buffer_bytes"), float64(limit))
			grown := heap() - before
			t.Logf("%d KiB held, %v KiB of the budget", grown>>10, r.reg.Value("ingest.stream_buffer_bytes")/1024)
			require.Less(t, grown, int64(2*limit))
			eventually(t, func() bool { // the two are not counted at once
				return r.reg.Value("ingest.connections_closed", "reason:memory") == r.reg.Value("ingest.refused", "protocol:grpc", "reason:memory")
			}, "closed and not refused")
			require.NoError(t, call(t, quiet, sendPacket, packetMessage("a:1|c")))
			require.NoError(t, call(t, r.client(0, transport), sendPacket, packetMessage("a:1|c")))
			r.stop()
			r.requireValue(0, "ingest.stream_buffer_bytes")
		})
	}
}

// A call has as much time for its message as a frame on a stream.
func TestCallsMayNotTakeLong(t *testing.T) {
	r := start(t, grpcAt("127.0.0.1:0"), func(b *binding) { b.messageTime = 200 * time.Millisecond })
	client := r.rawClient(r.dial(0))
	watch, err := client.open("/grpc.health.v1.Health/Watch")
	require.NoError(t, err)
	require.NoError(t, client.framer.WriteData(watch, true, prefix(0)))
	stream, err := client.open(sendSpan)
	require.NoError(t, err)
	require.NoError(t, client.send(stream, append(prefix(1000), "some"...), 100))
	_, err = client.next(http2.FrameRSTStream, stream)
	require.NoError(t, err)
	r.wait(1, "ingest.refused", "protocol:grpc", "reason:slow")
	message := packetOf(traceSpan(1))
	slow := 0.0
	for r.reg.Value("ingest.spans") == 0 { // on a busy machine a whole one may be slow, too
		slow++
		stream, err = client.open(sendSpan)
		require.NoError(t, err)
		require.NoError(t, client.framer.WriteData(stream, true, append(prefix(len(message)), message...)))
		require.NoError(t, client.answer(stream))
	}
	r.requireValue(1, "ingest.connections")
	r.stop()
	r.requireValue(slow, "ingest.refused")
}

// Headers are bounded, and a call with too many of them harms no other.
func TestCallsMayNotHaveLargeHeaders(t *testing.T) {
	r := start(t, grpcAt("127.0.0.1:0"))
	client := r.rawClient(r.dial(0))
	stream, err := client.open(sendSpan, "x-large", strings.Repeat("x", maxHeaders))
	require.NoError(t, err)
	_, err = client.next(http2.FrameRSTStream, stream)
	require.NoError(t, err)
	stream, err = client.open(sendSpan, "x-small", strings.Repeat("x", maxHeaders/2))
	require.NoError(t, err)
	message := packetOf(traceSpan(1))
	require.NoError(t, client.framer.WriteData(stream, true, append(prefix(len(message)), message...)))
	r.wait(1, "ingest.spans")
	r.wait(1, "ingest.refused", "protocol:grpc", "reason:headers")
	r.requireValue(1, "ingest.refused")
}

// A connection has so many calls under way; further ones are refused, and counted.
func TestCallsOfAConnectionAreBounded(t *testing.T) {
	const more = 5
	r := start(t, grpcAt("127.0.0.1:0"))
	client := r.rawClient(r.dial(0))
	var streams []uint32
	for range maxCalls {
		stream, err := client.open(sendSpan)
		require.NoError(t, err)
		streams = append(streams, stream)
	}
	for range more {
		stream, err := client.open(sendSpan)
		require.NoError(t, err)
		f, err := client.next(http2.FrameRSTStream, stream)
		require.NoError(t, err)
		require.Equal(t, http2.ErrCodeRefusedStream, f.(*http2.RSTStreamFrame).ErrCode)
	}
	message := packetOf(traceSpan(1))
	for _, stream := range streams {
		require.NoError(t, client.framer.WriteData(stream, true, append(prefix(len(message)), message...)))
		require.NoError(t, client.answer(stream))
	}
	r.stop()
	r.requireValue(maxCalls, "ingest.spans")
	r.requireValue(more, "ingest.refused", "protocol:grpc", "reason:calls")
	r.requireValue(more, "ingest.refused")
}

// Floods make nothing grow: of calls that are taken back at once, of settings and pings whose answers nobody reads.
func TestFloodsOfFrames(t *testing.T) {
	const frames = 20_000
	tests := []struct {
		name  string
		flood func(c *rawClient) error
	}{
		{"reset calls", func(c *rawClient) error {
			stream, err := c.open(sendSpan)
			if err != nil {
				return err
			}
			return c.framer.WriteRSTStream(stream, http2.ErrCodeCancel)
		}},
		{"calls beyond the limit", func(c *rawClient) error {
			_, err := c.open(sendSpan)
			return err
		}},
		{"settings", func(c *rawClient) error { return c.framer.WriteSettings() }},
		{"pings", func(c *rawClient) error { return c.framer.WritePing(false, [8]byte{}) }},
		{"window updates", func(c *rawClient) error { return c.framer.WriteWindowUpdate(0, 1) }},
		{"empty data", func(c *rawClient) error {
			if c.stream == 0 {
				if _, err := c.open(sendSpan); err != nil {
					return err
				}
			}
			return c.framer.WriteData(c.stream-1, false, nil)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, grpcAt("127.0.0.1:0"))
			quiet := r.client(0, insecure.NewCredentials())
			require.NoError(t, call(t, quiet, sendPacket, packetMessage("a:1|c")))
			goroutines, before := runtime.NumGoroutine(), heap()
			conn := r.dial(0)
			client := r.rawClient(conn)
			done := make(chan struct{})
			go func() {
				defer close(done)
				for range frames {
					_ = conn.SetWriteDeadline(time.Now().Add(time.Second)) // where nobody reads any more
					if tt.flood(client) != nil {
						return
					}
				}
			}()
			<-done
			require.NoError(t, call(t, quiet, sendPacket, packetMessage("a:1|c")))
			require.LessOrEqual(t, runtime.NumGoroutine(), goroutines+maxCalls+10)
			require.Less(t, heap()-before, int64(8<<20))
			require.Less(t, r.reg.Value("ingest.stream_buffer_bytes"), float64(1<<20))
			require.NoError(t, conn.Close())
			eventually(t, func() bool { return r.reg.Value("ingest.connections") == 1 }, "the connection stays")
			r.requireValue(0, "ingest.stream_buffer_bytes")
		})
	}
}

// However a stream of frames is cut, the headers are found.
func TestFrameScanner(t *testing.T) {
	var stream bytes.Buffer
	framer := http2.NewFramer(&stream, nil)
	stream.WriteString(clientPreface)
	require.NoError(t, framer.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1}))
	require.NoError(t, framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: make([]byte, 300), EndHeaders: true}))
	require.NoError(t, framer.WriteData(1, false, make([]byte, 70_000)))
	require.NoError(t, framer.WriteData(1<<31-1, true, nil))
	require.NoError(t, framer.WriteRSTStream(3, http2.ErrCodeRefusedStream))
	require.NoError(t, framer.WriteRawFrame(http2.FrameRSTStream, 0, 3, []byte{1, 2})) // shorter than it may be
	require.NoError(t, framer.WriteData(5, true, nil))
	want := []frameHeader{
		{6, 4, 0, 0, 0},
		{300, frameHeaders, 4, 1, 0},
		{70_000, frameData, 0, 1, 0},
		{0, frameData, 1, 1<<31 - 1, 0},
		{4, frameReset, 0, 3, codeRefusedStream},
		{2, frameReset, 0, 3, 0},
		{0, frameData, 1, 5, 0},
	}
	for _, cut := range []int{1, 2, 3, 7, 8, 9, 10, 100, stream.Len()} {
		s := frameScanner{skip: len(clientPreface)}
		var got []frameHeader
		for rest := stream.Bytes(); len(rest) > 0; rest = rest[min(cut, len(rest)):] {
			s.scan(rest[:min(cut, len(rest))], func(f frameHeader) { got = append(got, f) })
		}
		require.Equal(t, want, got, cut)
	}
	require.True(t, want[3].ends())
	require.False(t, want[2].ends())
}
