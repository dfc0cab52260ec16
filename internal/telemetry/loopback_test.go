package telemetry

import (
	"context"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLoopbackDeliversEachIntervalAndAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines := Desc{Name: "ingest.lines", Kind: Counter, Tags: []string{"listener"}}
		series := Desc{Name: "series", Kind: Gauge}
		r := New()
		c, g := r.Counter(&lines, "udp"), r.Gauge(&series)
		delivered := make(chan string, 10)
		take := func() (got []string) {
			for len(delivered) > 0 {
				got = append(got, <-delivered)
			}
			return got
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			done <- NewLoopback(r, 10*time.Second, func(name string, kind Kind, value float64, tags []string) {
				delivered <- fmt.Sprint(name, " ", kind, " ", value, " ", tags)
			}, "host:me").Run(ctx)
		}()

		c.Add(5)
		g.Set(1.5)
		time.Sleep(9 * time.Second)
		synctest.Wait()
		require.Empty(t, take())
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, []string{"veneur.ingest.lines counter 5 [host:me listener:udp]", "veneur.series gauge 1.5 [host:me]"}, take())

		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Equal(t, []string{"veneur.series gauge 1.5 [host:me]"}, take(), "a counter at rest says nothing")

		c.Add(2)
		cancel()
		require.NoError(t, <-done)
		require.Equal(t, []string{"veneur.ingest.lines counter 2 [host:me listener:udp]", "veneur.series gauge 1.5 [host:me]"}, take())
	})
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
