//go:build invariants

package dogstatsd

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Who keeps what a line lent finds it overwritten.
func TestLeaseEnds(t *testing.T) {
	var p Parser
	p.Reset([]byte("a:1:2|h\nb:3|c\n_e{4,1}:a\\nb|x\nc:1|c"), testNow)
	pack := p.Next().Sample.Values
	require.Equal(t, []float64{1, 2}, pack)
	one := p.Next().Sample.Values
	require.Equal(t, []float64{3}, one)
	require.True(t, math.IsNaN(pack[0]) && math.IsNaN(pack[1]))
	l := p.Next()
	title := l.Event.Title
	require.Equal(t, "a\nb", string(title))
	require.True(t, math.IsNaN(one[0]))
	p.Reset(nil, testNow)
	require.Equal(t, "\xdb\xdb\xdb", string(title))
	require.Nil(t, l.Event.Text)
}

func TestBatchLeaseEnds(t *testing.T) {
	var p Parser
	var b Batch
	p.Reset([]byte("a:1:2|h\nb:3|c"), testNow)
	require.Nil(t, p.Fill(&b))
	p.Reset(nil, testNow)
	pack, one := b.Samples()[0].Values, b.Samples()[1].Values
	require.Equal(t, []float64{1, 2}, pack, "a batch outlives the packet's turn")
	require.Equal(t, []float64{3}, one)
	samples := b.Samples()
	b.Reset()
	require.True(t, math.IsNaN(pack[0]) && math.IsNaN(pack[1]) && math.IsNaN(one[0]))
	require.Nil(t, samples[0].Name)
}
