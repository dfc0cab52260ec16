package ssf_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/ssf/ssftest"
)

// What the decoder refuses and gogofast takes. Everything else that either of them refuses the other one refuses too.
var refusals = map[ssf.Reason]string{
	ssf.ReasonDepth:    "groups nested deeper than 100, which gogofast counts without bound",
	ssf.ReasonField:    "a field number past 2^29-1, of which gogofast takes the low 32 bits, and 0 inside a group",
	ssf.ReasonGroup:    "a group that ends with another's number, which gogofast does not compare",
	ssf.ReasonElements: "more than 262,144 samples and tags",
}

// FuzzDecode compares the decoder with plain, and with what gogofast generates for the same schema. Gogofast's code for tags as a map takes malformed
// map entries as well: it does not look at the wire type of key and value, lets them run past the end of their entry, and skips
// field 0. For tags as a list it refuses all of this, and so do we; so the map is compared only where a packet is taken.
func FuzzDecode(f *testing.F) {
	for _, tt := range hostile {
		f.Add(tt.packet())
	}
	for _, tt := range forms {
		f.Add(tt.packet())
	}
	for _, shape := range ssftest.Shapes() {
		f.Add(ssf.AppendSpan(nil, shape.Span))
	}
	used := ssf.AppendSpan(nil, ssftest.Shapes()[2].Span)
	f.Fuzz(func(t *testing.T, packet []byte) {
		// A decoder that has been used, so that anything stale shows, by the same packet each time, so that a finding comes again.
		var d ssf.Decoder
		_, err := d.Decode(used)
		require.NoError(t, err)
		requirePlain(t, &d, packet)
		_, err = d.Decode(used)
		require.NoError(t, err)
		ours, err := d.Decode(packet)
		var theirs ssf.SSFSpan
		theirErr := theirs.Unmarshal(packet)
		if err != nil {
			var reason ssf.Reason
			require.ErrorAs(t, err, &reason)
			if theirErr == nil {
				require.Contains(t, refusals, reason)
			}
			return
		}
		require.NoError(t, theirErr)
		var mapped ssftest.SSFSpan
		require.NoError(t, mapped.Unmarshal(packet))
		again := ssf.AppendSpan(nil, ours)
		require.Equal(t, ssf.AppendSpan(nil, &theirs), again)
		// In a map the last of equal keys is left.
		require.Equal(t, ssf.AppendSpan(nil, ssftest.FromOriginal(&mapped)), ssf.AppendSpan(nil, ssftest.FromOriginal(ssftest.ToOriginal(ours))))

		clone := ours.Clone()
		ours, err = d.Decode(again)
		require.NoError(t, err)
		require.Equal(t, again, ssf.AppendSpan(nil, ours))
		require.Equal(t, again, ssf.AppendSpan(nil, clone))

		_ = ssf.ValidateSpan(ours)
		ssf.Normalize(ours)
		for i := range ours.Metrics {
			_ = ssf.ValidateSample(&ours.Metrics[i])
		}
	})
}
