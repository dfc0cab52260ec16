//go:build invariants

package ssf_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
)

// Who keeps what was lent reads rubbish, and a test of his fails.
func TestLeaseEndsWithTheNextPacket(t *testing.T) {
	var d ssf.Decoder
	got, err := d.Decode(ssf.AppendSpan(nil, &ssf.SSFSpan{Name: "kept", Tags: []ssf.Tag{{Key: "k", Value: "v"}}}))
	require.NoError(t, err)
	name, tags := got.Name, got.Tags
	_, err = d.Decode(ssf.AppendSpan(nil, &ssf.SSFSpan{Name: "next", Tags: []ssf.Tag{{Key: "l", Value: "w"}}}))
	require.NoError(t, err)
	require.Equal(t, "\xdb\xdb\xdb\xdb", name)
	require.Equal(t, []ssf.Tag{{Key: "\xdb", Value: "\xdb"}}, tags)
}
