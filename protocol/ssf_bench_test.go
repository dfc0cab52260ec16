package protocol_test

import (
	"encoding/binary"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol"
	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/ssf/ssftest"
)

func BenchmarkParseSSF(b *testing.B) {
	for _, shape := range ssftest.Shapes() {
		packet := ssf.AppendSpan(nil, shape.Span)
		b.Run(shape.Name+"/ours", func(b *testing.B) {
			var d ssf.Decoder
			b.SetBytes(int64(len(packet)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Decode(packet); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(shape.Name+"/gogofast", func(b *testing.B) {
			b.SetBytes(int64(len(packet)))
			b.ReportAllocs()
			var kept *ssftest.SSFSpan // a span that is handed on lives on the heap
			defer func() { runtime.KeepAlive(kept) }()
			for b.Loop() {
				s := new(ssftest.SSFSpan)
				kept = s
				if err := s.Unmarshal(packet); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMarshalSSF(b *testing.B) {
	for _, shape := range ssftest.Shapes() {
		n := int64(len(ssf.AppendSpan(nil, shape.Span)))
		b.Run(shape.Name+"/ours", func(b *testing.B) {
			var packet []byte
			b.SetBytes(n)
			b.ReportAllocs()
			for b.Loop() {
				packet = ssf.AppendSpan(packet[:0], shape.Span)
			}
		})
		b.Run(shape.Name+"/gogofast", func(b *testing.B) {
			s := ssftest.ToOriginal(shape.Span)
			b.SetBytes(n)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Marshal(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Writes of frames to a unix stream that somebody reads: in one piece, and in three as the original does it.
func BenchmarkFrameWrite(b *testing.B) {
	span := ssftest.Shapes()[1].Span
	size := int64(len(ssf.AppendSpan(nil, span)) + 5)
	b.Run("ours", func(b *testing.B) {
		conn := dialDiscard(b)
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := protocol.WriteSSF(conn, span); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("threewrites", func(b *testing.B) {
		conn := dialDiscard(b)
		original := ssftest.ToOriginal(span)
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			packet, err := original.Marshal()
			if err == nil {
				_, err = conn.Write([]byte{0})
			}
			if err == nil {
				err = binary.Write(conn, binary.BigEndian, uint32(len(packet)))
			}
			if err == nil {
				_, err = conn.Write(packet)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}

// dialDiscard connects to a listener that reads all and keeps nothing. Both ends are gone when the benchmark is.
func dialDiscard(b *testing.B) net.Conn {
	b.Helper()
	l, err := net.Listen("unix", filepath.Join(b.TempDir(), "s"))
	require.NoError(b, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		peer, err := l.Accept()
		if err != nil {
			return
		}
		defer peer.Close()
		_, _ = io.Copy(io.Discard, peer)
	}()
	conn, err := net.Dial("unix", l.Addr().String())
	require.NoError(b, err)
	b.Cleanup(func() {
		conn.Close()
		l.Close()
		<-done
	})
	return conn
}
