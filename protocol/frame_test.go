package protocol_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol"
	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/ssf/ssftest"
)

func TestFramesAreReadAsWritten(t *testing.T) {
	var stream bytes.Buffer
	for _, shape := range ssftest.Shapes() {
		n, err := protocol.WriteSSF(&stream, shape.Span)
		require.NoError(t, err)
		require.Equal(t, 5+len(ssf.AppendSpan(nil, shape.Span)), n)
	}
	// Whatever the pieces in which it comes.
	for name, r := range map[string]io.Reader{
		"whole":        bytes.NewReader(stream.Bytes()),
		"byte by byte": iotest.OneByteReader(bytes.NewReader(stream.Bytes())),
		"end with the last data": iotest.DataErrReader(
			bytes.NewReader(stream.Bytes())),
	} {
		t.Run(name, func(t *testing.T) {
			var buf []byte
			var err error
			for _, shape := range ssftest.Shapes() {
				buf, err = protocol.ReadFrame(r, buf)
				require.NoError(t, err)
				span, err := protocol.ParseSSF(buf)
				require.NoError(t, err)
				require.Equal(t, shape.Span.Clone(), span.Clone())
			}
			_, err = protocol.ReadFrame(r, buf)
			require.Equal(t, io.EOF, err)
		})
	}
}

func TestFrameFaults(t *testing.T) {
	tests := []struct {
		name, in string
		reason   ssf.Reason
	}{
		{"version 1", "\x01\x00\x00\x00\x00", protocol.ReasonFrameVersion},
		{"text", "GET / HTTP/1.1\r\n", protocol.ReasonFrameVersion},
		{"one byte more than 16 MiB", "\x00\x01\x00\x00\x01", protocol.ReasonFrameLength},
		{"length of all ones", "\x00\xff\xff\xff\xff", protocol.ReasonFrameLength},
		{"header cut short", "\x00\x00\x00", protocol.ReasonFrameTruncated},
		{"span missing", "\x00\x00\x00\x00\x01", protocol.ReasonFrameTruncated},
		{"span cut short", "\x00\x00\x00\x00\x05abcd", protocol.ReasonFrameTruncated},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := protocol.ReadFrame(strings.NewReader(tt.in), nil)
			require.Empty(t, got)
			var fault *protocol.FramingError
			require.ErrorAs(t, err, &fault)
			require.Equal(t, tt.reason, fault.Reason)
			require.ErrorIs(t, err, tt.reason)
			require.Equal(t, tt.reason == protocol.ReasonFrameTruncated, errors.Is(err, io.ErrUnexpectedEOF))
			require.NotErrorIs(t, err, io.EOF)
		})
	}
}

// A stream's own error ends a frame that has begun, and says nothing about frames before one has.
func TestErrorsOfTheStream(t *testing.T) {
	late := iotest.ErrReader(os.ErrDeadlineExceeded)
	_, err := protocol.ReadFrame(late, nil)
	require.Equal(t, os.ErrDeadlineExceeded, err)

	for _, begun := range []string{"\x00", "\x00\x00\x00\x00\x05", "\x00\x00\x00\x00\x05abcd"} {
		_, err = protocol.ReadFrame(io.MultiReader(strings.NewReader(begun), late), nil)
		var fault *protocol.FramingError
		require.ErrorAs(t, err, &fault)
		require.Equal(t, protocol.ReasonFrameTruncated, fault.Reason)
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	}
}

// A span that is no protobuf is no fault of the framing: the next frame is read.
func TestBadSpanLeavesTheStreamUsable(t *testing.T) {
	good, err := protocol.AppendFrame([]byte("\x00\x00\x00\x00\x01\x7f"), &ssf.SSFSpan{Name: "n"})
	require.NoError(t, err)
	stream := bytes.NewReader(good)

	buf, err := protocol.ReadFrame(stream, nil)
	require.NoError(t, err)
	_, err = protocol.ParseSSF(buf)
	require.Equal(t, ssf.ReasonWireType, err)
	var fault *protocol.FramingError
	require.NotErrorAs(t, err, &fault)

	buf, err = protocol.ReadFrame(stream, buf)
	require.NoError(t, err)
	span, err := protocol.ParseSSF(buf)
	require.NoError(t, err)
	require.Equal(t, "n", span.Name)
}

// A length that lies costs what has arrived, not what it announces.
func TestB142AnnouncedLengthIsNotAllocated(t *testing.T) {
	in := "\x00\x01\x00\x00\x00" + strings.Repeat("x", 10_000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := protocol.ReadFrame(strings.NewReader(in), nil)
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, protocol.ReasonFrameTruncated)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(128<<10))
}

func TestB143FramedNestedGroupsAreRefused(t *testing.T) {
	frame := binary.BigEndian.AppendUint32([]byte{0}, protocol.MaxFrame)
	frame = append(frame, bytes.Repeat([]byte{0xa3, 0x06}, protocol.MaxFrame/2)...)
	buf, err := protocol.ReadFrame(bytes.NewReader(frame), nil)
	require.NoError(t, err)
	require.Len(t, buf, protocol.MaxFrame)
	_, err = protocol.ParseSSF(buf)
	require.Equal(t, ssf.ReasonDepth, err)
}

func TestReadFrameUsesTheBuffer(t *testing.T) {
	frame, err := protocol.AppendFrame(nil, ssftest.Shapes()[1].Span)
	require.NoError(t, err)
	r := bytes.NewReader(nil)
	buf := make([]byte, 0, 1<<10)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		r.Reset(frame)
		if buf, err = protocol.ReadFrame(r, buf); err != nil {
			t.Fatal(err)
		}
	}))
}

// writes counts calls of Write and takes at most limit bytes.
type writes struct{ calls, bytes, limit int }

func (w *writes) Write(b []byte) (int, error) {
	w.calls++
	n := min(len(b), w.limit-w.bytes)
	w.bytes += n
	if n < len(b) {
		return n, io.ErrClosedPipe
	}
	return n, nil
}

func TestWriteSSFWritesOnce(t *testing.T) {
	for _, shape := range ssftest.Shapes() {
		w := &writes{limit: 1 << 20}
		n, err := protocol.WriteSSF(w, shape.Span)
		require.NoError(t, err)
		require.Equal(t, 1, w.calls)
		require.Equal(t, w.bytes, n)
	}
}

func TestWriteSSFReturnsTheWritersError(t *testing.T) {
	n, err := protocol.WriteSSF(&writes{limit: 7}, ssftest.Shapes()[1].Span)
	require.Equal(t, io.ErrClosedPipe, err)
	require.Equal(t, 7, n)
}

func TestHugeSpanIsNotFramed(t *testing.T) {
	largest := &ssf.SSFSpan{Name: strings.Repeat("n", protocol.MaxFrame-5)}
	frame, err := protocol.AppendFrame(nil, largest)
	require.NoError(t, err)
	buf, err := protocol.ReadFrame(bytes.NewReader(frame), nil)
	require.NoError(t, err)
	require.Len(t, buf, protocol.MaxFrame)

	huge := &ssf.SSFSpan{Name: largest.Name + "n"}
	b, err := protocol.AppendFrame([]byte("before"), huge)
	require.Equal(t, protocol.ReasonFrameLength, err)
	require.Equal(t, "before", string(b))

	w := &writes{limit: 1 << 30}
	_, err = protocol.WriteSSF(w, huge)
	require.Equal(t, protocol.ReasonFrameLength, err)
	require.Zero(t, w.calls)
}

func TestWriteSSFDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("under the race detector a pool drops buffers at random")
	}
	w := &writes{limit: 1 << 30}
	shapes := ssftest.Shapes()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for _, shape := range shapes {
			if _, err := protocol.WriteSSF(w, shape.Span); err != nil {
				t.Fatal(err)
			}
		}
	}))
}

func TestParseSSFNormalizesAndKeeps(t *testing.T) {
	packet := ssf.AppendSpan(nil, &ssf.SSFSpan{
		Tags:    []ssf.Tag{{Key: "name", Value: "n"}},
		Metrics: []ssf.SSFSample{{Name: "m"}},
	})
	first, err := protocol.ParseSSF(packet)
	require.NoError(t, err)
	clear(packet)
	_, err = protocol.ParseSSF([]byte{})
	require.NoError(t, err)
	require.Equal(t, "n", first.Name)
	require.Empty(t, first.Tags)
	require.Equal(t, float32(1), first.Metrics[0].SampleRate)
}

func FuzzReadFrame(f *testing.F) {
	for _, shape := range ssftest.Shapes() {
		frame, err := protocol.AppendFrame(nil, shape.Span)
		require.NoError(f, err)
		f.Add(frame)
		f.Add(append(frame, frame...))
		f.Add(frame[:len(frame)-1])
	}
	f.Add([]byte("\x00\x01\x00\x00\x00abc"))
	f.Add([]byte("\x01\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		r := bytes.NewReader(stream)
		var buf, again []byte
		var err error
		for {
			if buf, err = protocol.ReadFrame(r, buf); err != nil {
				break
			}
			require.LessOrEqual(t, len(buf), len(stream))
			again = binary.BigEndian.AppendUint32(append(again, 0), uint32(len(buf)))
			again = append(again, buf...)
			if span, err := protocol.ParseSSF(buf); err == nil {
				_, err = protocol.WriteSSF(io.Discard, span)
				require.NoError(t, err)
			}
		}
		// What was read is what stood there, up to the fault.
		require.Equal(t, string(stream[:len(again)]), string(again))
		var fault *protocol.FramingError
		if errors.Is(err, io.EOF) {
			require.Len(t, again, len(stream))
		} else {
			require.ErrorAs(t, err, &fault)
		}
	})
}
