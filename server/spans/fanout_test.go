package spans

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
)

type recorder struct{ got []*ssf.SSFSpan }

func (r *recorder) OfferSpan(span *ssf.SSFSpan) { r.got = append(r.got, span) }

func TestFanoutOffersEverySpanToEverySink(t *testing.T) {
	var a, b recorder
	f := New(&a, &b)
	require.True(t, f.Wants())
	one, two := &ssf.SSFSpan{Id: 1}, &ssf.SSFSpan{Id: 2}
	f.OfferSpan(one)
	f.OfferSpan(two)
	require.Equal(t, []*ssf.SSFSpan{one, two}, a.got)
	require.Equal(t, []*ssf.SSFSpan{one, two}, b.got)
}

func TestFanoutWithoutSinksWantsNothing(t *testing.T) {
	f := New()
	require.False(t, f.Wants())
	f.OfferSpan(&ssf.SSFSpan{Id: 1})
}
