package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseTime(t *testing.T) {
	want := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	local := time.Date(2026, 3, 4, 5, 6, 7, 0, time.Local)
	day := time.Date(2026, 3, 4, 0, 0, 0, 0, time.Local)
	for _, tt := range []struct {
		in   string
		want time.Time
	}{
		{"1772600767", want},
		{"1772600767.25", want.Add(250 * time.Millisecond)},
		{"1772600767.123456789", want.Add(123456789)},
		{"1772600767.1234567891", want.Add(123456789)},
		{"1772600767000", want},
		{"1772600767000000", want},
		{"1772600767000000000", want},
		{"2026-03-04T05:06:07Z", want},
		{"2026-03-04T07:06:07+02:00", want},
		{"2026-03-04 05:06:07Z", want},
		{"2026-03-03 22:06:07 -0700", want},
		{"2026-03-04 05:06:07 +0000", want},
		{"2026-03-04 05:06:07 UTC", want},
		{"2026-03-04 05:06:07 GMT", want},
		{"Wed, 04 Mar 2026 05:06:07 GMT", want},
		{"Wed Mar  4 05:06:07 UTC 2026", want},
		{"2026-03-04T05:06:07", local},
		{"2026-03-04 05:06:07", local},
		{"2026/03/04 05:06:07", local},
		{"03/04/2026 05:06:07", local},
		{"20260304050607", local},
		{"2026-03-04", day},
		{"2026/03/04", day},
		{"20260304", day},
		{"03/04/2026", day},
	} {
		t.Run(tt.in, func(t *testing.T) {
			got, err := parseTime(tt.in)
			require.NoError(t, err)
			require.True(t, tt.want.Equal(got), "%s, want %s", got, tt.want)
		})
	}
}

func TestParseTimeRefuses(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want error
	}{
		{"noon", errTime},
		{" 1772600767", errTime},
		{"+1772600767", errTime},
		{"-1", errTime},
		{"1772600767.", errTime},
		{"1772600767.5s", errTime},
		{"1772600767000.5", errTime},
		{"99999999999999999999", errTime},
		{"2026-02-30", errTime},
		{"2026-03-04 05:06:07 XYZ", errZone}, // it was taken for UTC
		{"Wed, 04 Mar 2026 05:06:07 XYZ", errZone},
		{"0", errEarly},
		{"0.5", errEarly},
		{"1969-12-31T00:00:00Z", errEarly},
	} {
		t.Run(tt.in, func(t *testing.T) {
			_, err := parseTime(tt.in)
			require.ErrorIs(t, err, tt.want)
		})
	}
}
