package telemetry

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLoopbackReportsWhatChanged(t *testing.T) {
	lines := Desc{Name: "ingest.lines", Kind: Counter, Tags: []string{"listener"}}
	series := Desc{Name: "series", Kind: Gauge}
	r := New()
	c, g := r.Counter(&lines, "udp"), r.Gauge(&series)
	var got []string
	l := NewLoopback(r, func(name string, kind Kind, value float64, tags []string) {
		got = append(got, fmt.Sprint(name, " ", kind, " ", value, " ", tags))
	}, "host:me")
	report := func() []string {
		got = nil
		l.Report()
		return got
	}

	c.Add(5)
	g.Set(1.5)
	require.Equal(t, []string{"veneur.ingest.lines counter 5 [host:me listener:udp]", "veneur.series gauge 1.5 [host:me]"}, report())
	require.Equal(t, []string{"veneur.series gauge 1.5 [host:me]"}, report(), "a counter at rest says nothing")
	c.Add(2)
	require.Equal(t, []string{"veneur.ingest.lines counter 2 [host:me listener:udp]", "veneur.series gauge 1.5 [host:me]"}, report())
}

func TestChanges(t *testing.T) {
	d := Desc{Name: "seconds", Kind: Counter}
	now := 0.0
	r := New()
	r.Func(&d, func() float64 { return now })
	var c changes
	for _, step := range []struct{ total, want float64 }{
		{2.75, 2}, {3.5, 1}, {3.9, 0}, {4.0, 1}, {1.5, 1}, {2.0, 1}, {math.NaN(), 0}, {3.0, 3}, {math.Inf(1), 0},
	} {
		now = step.total
		var got float64
		for _, change := range c.since(r.Gather()) {
			got += change.value
		}
		require.Equal(t, step.want, got, "total %v", step.total)
	}
}

func TestChangesCannotBreakALine(t *testing.T) {
	d := Desc{Name: "worst", Kind: Gauge, Tags: []string{"name"}}
	r := New()
	r.Gauge(&d, "a,b|c\nd\re:f").Set(1)
	var c changes
	require.Equal(t, []string{"name:a_b_c_d_e:f"}, c.since(r.Gather())[0].tags)
}
