package ssf

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// keeps is how much memory the decoder holds, stale elements included.
func keeps(d *Decoder) int {
	n := cap(d.chunk) + cap(d.span.Tags)*int(unsafe.Sizeof(Tag{}))
	for _, s := range d.span.Metrics[:cap(d.span.Metrics)] {
		n += int(unsafe.Sizeof(s)) + cap(s.Tags)*int(unsafe.Sizeof(Tag{}))
	}
	return n
}

func TestHugePacketIsLetGo(t *testing.T) {
	span := &SSFSpan{Name: strings.Repeat("n", 2<<20)}
	for range 10_000 {
		span.Metrics = append(span.Metrics, SSFSample{Name: "a", Tags: []Tag{{Key: "k", Value: "v"}}})
	}
	var d Decoder
	_, err := d.Decode(AppendSpan(nil, span))
	require.NoError(t, err)
	require.Greater(t, keeps(&d), 3<<20)
	d.Release()
	require.Zero(t, keeps(&d))
}

// Small packets that each grow the tags of another sample hold no more, in the end, than one large packet.
func TestGrowthAddsUp(t *testing.T) {
	tags := make([]Tag, 100)
	var d Decoder
	for i := range 2_000 {
		span := &SSFSpan{Metrics: make([]SSFSample, i+1)}
		span.Metrics[i].Tags = tags
		_, err := d.Decode(AppendSpan(nil, span))
		require.NoError(t, err)
		d.Release()
		require.LessOrEqual(t, keeps(&d), 2*maxKept)
	}
}
