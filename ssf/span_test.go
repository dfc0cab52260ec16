package ssf_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/ssf/ssftest"
)

func TestB129DurationIsNeverNegative(t *testing.T) {
	tests := []struct {
		name       string
		start, end int64
		want       time.Duration
		reversed   bool
	}{
		{"usual", 1000, 3000, 2000, false},
		{"zero", 1000, 1000, 0, false},
		{"end before start", 2000, 1000, 0, true},
		{"end before start, past what an int64 holds", math.MaxInt64, math.MinInt64, 0, true},
		{"longer than an int64 holds", math.MinInt64, math.MaxInt64, math.MaxInt64, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := ssf.SSFSpan{StartTimestamp: tt.start, EndTimestamp: tt.end}
			d, reversed := s.Duration()
			require.Equal(t, tt.want, d)
			require.Equal(t, tt.reversed, reversed)
		})
	}
}

func TestCloneSharesNothing(t *testing.T) {
	want := ssftest.Shapes()[2].Span
	var d ssf.Decoder
	lent, err := d.Decode(ssf.AppendSpan(nil, want))
	require.NoError(t, err)
	kept := lent.Clone()
	packet := ssf.AppendSpan(nil, kept)

	for i := range lent.Metrics {
		lent.Metrics[i].SetTag("env", "other")
	}
	_, err = d.Decode(ssf.AppendSpan(nil, &ssf.SSFSpan{Service: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}))
	require.NoError(t, err)
	require.Equal(t, packet, ssf.AppendSpan(nil, kept))
	require.Equal(t, want.Clone(), kept)

	// Appending to one list of tags leaves the next one alone.
	kept.Metrics[0].SetTag("new", "tag")
	require.Equal(t, want.Metrics[1], kept.Metrics[1])

	require.Nil(t, (*ssf.SSFSpan)(nil).Clone())
}

func TestCloneCostsFiveAllocations(t *testing.T) {
	s := ssftest.Shapes()[2].Span
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { _ = s.Clone() }), 5.0)
}
