package flush

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
)

// stocked is a fixture of which each target keeps its interval until told to give it back.
type stocked struct {
	*fixture
	lines []string
	held  map[string][]func()
}

func newStocked(t *testing.T, series int, c Config, targets ...Target) *stocked {
	s := &stocked{held: map[string][]func(){}}
	for i := range series {
		s.lines = append(s.lines, fmt.Sprintf("c%d:1|c", i))
	}
	s.fixture = newFixture(t, c, targets...)
	for i := range s.s.Targets {
		target := &s.s.Targets[i]
		target.Offer = func(free, _ func(), interval ...*sinks.Batch) {
			s.got[target.Name] = interval
			s.held[target.Name] = append(s.held[target.Name], free)
		}
	}
	return s
}

// end ends an interval in which every series had a value and returns where the points of a target are.
func (s *stocked) end(target string) []*metric.Point {
	s.add(s.lines...)
	s.flush(tick{end: time.Unix(1_800_000_000, 0), covered: 10 * time.Second})
	return arrays(s.got[target])
}

func arrays(interval []*sinks.Batch) (at []*metric.Point) {
	for _, b := range interval {
		if len(b.Points) > 0 {
			at = append(at, &b.Points[0])
		}
	}
	return at
}

func (s *stocked) giveBack(target string) {
	for _, free := range s.held[target] {
		free()
	}
	delete(s.held, target)
}

func overlap(a, b []*metric.Point) (n int) {
	for _, p := range a {
		if slices.Contains(b, p) {
			n++
		}
	}
	return n
}

const twoArrays = pieceLen + 10

func TestPointsAreUsedAgainWhenAllTargetsGaveThemBack(t *testing.T) {
	s := newStocked(t, twoArrays, tested(nil), Target{Name: "a"}, Target{Name: "b"})
	first := s.end("a")
	require.Len(t, first, 2)
	s.giveBack("a")
	require.Zero(t, overlap(first, s.end("a")), "b has them yet")
	require.Equal(t, 1.0, s.got["b"][0].Points[0].Value)
	s.giveBack("a")
	s.giveBack("b")
	require.Equal(t, 2, overlap(first, append(s.end("a"), s.end("a")...)), "of the four that were given back")
	for _, target := range []string{"a", "b"} {
		for _, b := range s.got[target] {
			for i := range b.Points {
				require.Equal(t, 1.0, b.Points[i].Value)
			}
		}
	}
}

func TestPointsOfRoutesAndRulesAreUsedAgain(t *testing.T) {
	c := tested(func(c *Config) {
		c.MetricSinkRouting = []RouteConfig{
			{Name: "most", Match: []Match{{Name: NameMatch{Kind: matchPrefix, Value: "c"}}}, Sinks: RouteSinks{Matched: []string{"some", "ruled"}}},
			{Name: "all", Match: []Match{{Name: NameMatch{Kind: matchAny}}}, Sinks: RouteSinks{Matched: []string{"all"}}},
		}
	})
	s := newStocked(t, twoArrays, c, Target{Name: "all"}, Target{Name: "some"},
		Target{Name: "ruled", Rules: Rules{AddTags: map[string]string{"x": "1"}}})
	s.lines = append(s.lines, "d:1|c")
	seen := map[string][]*metric.Point{}
	for range 2 {
		s.end("")
		for name, interval := range s.got {
			at := arrays(interval)
			require.Len(t, at, 2, name)
			require.Zero(t, overlap(seen[name], at), "held yet")
			seen[name] = append(seen[name], at...)
			for other, points := range seen {
				require.True(t, other == name || overlap(points, at) == 0, "%s and %s", name, other)
			}
		}
	}
	for name := range seen {
		s.giveBack(name)
	}
	all := slices.Concat(seen["all"], seen["some"], seen["ruled"])
	s.end("")
	for name, interval := range s.got {
		require.Equal(t, 2, overlap(all, arrays(interval)), name)
	}
}

func TestFloodOfPointsIsForgotten(t *testing.T) {
	s := newStocked(t, 3*pieceLen, tested(nil), Target{Name: "a"})
	s.end("a")
	s.giveBack("a")
	kept := func() int { return len(s.render.stock.free) }
	require.Equal(t, 3, kept())
	s.lines = s.lines[:1]
	for _, want := range []int{3, 3, 0} {
		s.end("a")
		s.giveBack("a")
		require.Equal(t, want, kept())
	}
}

// A flush of series that are known costs a few bytes each at most, whatever their number.
func TestAllocOfAFlushOfKnownSeries(t *testing.T) {
	const series = 3 * pieceLen
	s := newStocked(t, 0, tested(nil), Target{Name: "a"})
	lines := make([]string, series)
	for i := range lines {
		lines[i] = fmt.Sprintf("c:1|c|#id:%d", i)
	}
	allocated := func() uint64 {
		s.add(strings.Join(lines, "\n"))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s.flush(tick{end: time.Unix(1_800_000_000, 0), covered: 10 * time.Second})
		runtime.ReadMemStats(&after)
		s.giveBack("a")
		return after.TotalAlloc - before.TotalAlloc
	}
	for range 3 { // of tables, and of lists that are used in turns
		allocated()
	}
	require.Less(t, allocated(), uint64(series), "bytes")
}
