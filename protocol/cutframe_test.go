package protocol_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol"
	"github.com/veneurd/veneur/ssf"
)

func TestCutFrame(t *testing.T) {
	stream, err := protocol.AppendFrame(nil, &ssf.SSFSpan{Name: "a"})
	require.NoError(t, err)
	first := len(stream)
	stream, err = protocol.AppendFrame(stream, &ssf.SSFSpan{Name: "b"})
	require.NoError(t, err)

	for n := range len(stream) + 1 {
		span, rest, whole, err := protocol.CutFrame(stream[:n])
		require.NoError(t, err)
		require.Equal(t, n >= first, whole, "%d bytes", n)
		if whole {
			require.Equal(t, stream[5:first], span)
			require.Equal(t, stream[first:n], rest)
		} else {
			require.Equal(t, stream[:n], rest)
		}
	}
}

func TestCutFrameRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   []byte
		want ssf.Reason
	}{
		{"version", []byte{1}, protocol.ReasonFrameVersion},
		{"version of HTTP", []byte("GET / HTTP/1.1\r\n"), protocol.ReasonFrameVersion},
		{"length", []byte{0, 1, 0, 0, 1}, protocol.ReasonFrameLength},
		{"largest length", []byte{0, 0xff, 0xff, 0xff, 0xff}, protocol.ReasonFrameLength},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, whole, err := protocol.CutFrame(tt.in)
			require.False(t, whole)
			var framing *protocol.FramingError
			require.True(t, errors.As(err, &framing))
			require.Equal(t, tt.want, framing.Reason)
		})
	}
}
