package flush

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMatcher(t *testing.T) {
	tests := []struct {
		name  string
		match Match
		point string
		tags  []string
		want  bool
	}{
		{"any name", Match{Name: NameMatch{Kind: "any"}}, "x", nil, true},
		{"no name is any name", Match{}, "x", nil, true},
		{"exact", Match{Name: NameMatch{"exact", "x"}}, "x", nil, true},
		{"exact is not prefix", Match{Name: NameMatch{"exact", "x"}}, "x.min", nil, false},
		{"prefix", Match{Name: NameMatch{"prefix", "x."}}, "x.min", nil, true},
		{"regex matches anywhere", Match{Name: NameMatch{"regex", "m.n"}}, "x.min", nil, true},
		{"regex anchored", Match{Name: NameMatch{"regex", "^m.n"}}, "x.min", nil, false},
		{"tag", Match{Tags: []TagMatch{{Kind: "exact", Value: "a:1"}}}, "x", []string{"a:1", "b"}, true},
		{"tag missing", Match{Tags: []TagMatch{{Kind: "exact", Value: "a:1"}}}, "x", []string{"a:2"}, false},
		{"tag by prefix", Match{Tags: []TagMatch{{Kind: "prefix", Value: "a:"}}}, "x", []string{"a:2"}, true},
		{"unset tag is there", Match{Tags: []TagMatch{{Kind: "prefix", Value: "a:", Unset: true}}}, "x", []string{"a:2"}, false},
		{"unset tag is not there", Match{Tags: []TagMatch{{Kind: "prefix", Value: "a:", Unset: true}}}, "x", []string{"b"}, true},
		{"all tags", Match{Tags: []TagMatch{{Kind: "exact", Value: "a"}, {Kind: "exact", Value: "b"}}}, "x", []string{"a"}, false},
		{"name and tags", Match{Name: NameMatch{"exact", "y"}, Tags: []TagMatch{{Kind: "exact", Value: "a"}}}, "x", []string{"a"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMatcher(tt.match)
			require.Equal(t, tt.want, m.match(tt.point, tt.tags))
		})
	}
}

func TestRouter(t *testing.T) {
	named := func(name string) []Match { return []Match{{Name: NameMatch{"exact", name}}} }
	routes := []RouteConfig{
		{Match: named("x"), Sinks: RouteSinks{Matched: []string{"a"}}},
		{Match: append(named("x"), named("y")...), Sinks: RouteSinks{Matched: []string{"b"}, NotMatched: []string{"c"}}},
	}
	tests := []struct {
		name, point, only string
		routes            []RouteConfig
		want              []string
	}{
		{"no routes: all", "x", "", nil, []string{"a", "b", "c"}},
		{"both routes match", "x", "", routes, []string{"a", "b"}},
		{"the second matches by its second matcher", "y", "", routes, []string{"b"}},
		{"none matches", "z", "", routes, []string{"c"}},
		{"nobody takes it", "z", "", routes[:1], nil},
		{"B050 one sink only", "x", "c", nil, []string{"c"}},
		{"B050 one sink only, before all routes", "x", "c", routes, []string{"c"}},
		{"B050 unknown sink", "x", "nowhere", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRouter([]string{"a", "b", "c"}, tt.routes)
			var got []string
			for i, target := range r.targets {
				if r.routed(i, tt.point, nil, tt.only) {
					got = append(got, target)
				}
			}
			require.Equal(t, tt.want, got)
			require.Equal(t, len(tt.want) > 0, r.anywhere(tt.point, nil, tt.only))
		})
	}
}

func TestRouterHasNoLimitOfSinks(t *testing.T) {
	names := make([]string, 130)
	for i := range names {
		names[i] = string(rune('A' + i))
	}
	r := newRouter(names, []RouteConfig{{Match: []Match{{}}, Sinks: RouteSinks{Matched: names[129:]}}})
	for i := range names {
		require.Equal(t, i == 129, r.routed(i, "x", nil, ""))
	}
}
