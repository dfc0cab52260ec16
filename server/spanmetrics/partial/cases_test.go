package partial

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/server/derive"
	"github.com/veneurd/veneur/server/sketch/loghist"
	"github.com/veneurd/veneur/ssf"
)

func uniform(services, perService, overall int) Limits {
	return Limits{
		Services:   services,
		PerService: Groups{perService, perService, perService},
		Overall:    Groups{overall, overall, overall},
	}
}

var unlimited = uniform(1e9, 1e9, 1e9)

// groups are weights by service and "family key".
type groups map[string]map[string]any

// wireOf builds a partial aggregate as another daemon, or another second, would have.
func wireOf(t *testing.T, g groups) []byte {
	s := New(unlimited)
	for service, weights := range g {
		for key, weight := range weights {
			family, name, _ := strings.Cut(key, " ")
			home := s.findService(service, nil)
			w := uint64(weight.(float64) * loghist.One)
			switch family {
			case "op":
				s.services[home.at].Operations[s.findGroup(home, &group{family: Operations, name: name})].Duration.Add(1000, w)
			case "kind":
				k := &s.services[home.at].Kinds[s.findGroup(home, &group{family: Kinds, name: name})]
				k.Duration.Add(1000, w)
				k.Ok = w
			case "dep":
				s.services[home.at].Dependencies[s.findGroup(home, &group{family: Dependencies, target: name})].Weight = w
			default:
				t.Fatal(key)
			}
		}
	}
	return s.AppendTo(nil)
}

// show is the inverse of wireOf, overflow included.
func show(t *testing.T, s *Set) groups {
	got := groups{}
	excess := func(e *Excess) map[string]any {
		bucket := func(f Family, weight uint64) map[string]any {
			return map[string]any{"w": float64(weight) / loghist.One, "est": float64(e.Keys(f))}
		}
		return map[string]any{
			"op":   bucket(Operations, e.Sums.OperationDuration.Weight()),
			"kind": bucket(Kinds, e.Sums.Ok+e.Sums.Failed),
			"dep":  bucket(Dependencies, e.Sums.DependencyWeight),
		}
	}
	for i, service := range s.Services() {
		weights := map[string]any{}
		got[service.Name] = weights
		for _, o := range service.Operations {
			weights["op "+o.Name] = float64(o.Duration.Weight()) / loghist.One
		}
		for _, k := range service.Kinds {
			require.Equal(t, k.Duration.Weight(), k.Ok+k.Failed)
			weights["kind "+k.Kind] = float64(k.Ok+k.Failed) / loghist.One
		}
		for _, d := range service.Dependencies {
			weights[strings.TrimSpace("dep "+d.Target+" "+d.Name)] = float64(d.Weight) / loghist.One
		}
		if e := s.Excess(i); e != nil {
			weights["overflow"] = excess(e)
		}
	}
	if e, services := s.Overall(); e != nil {
		got["overflow of services"] = excess(e)
		got["overflow of services"]["est"] = float64(services)
	}
	return got
}

// The specification's cases 1 to 5.
func TestCases1To5Merge(t *testing.T) {
	raw, err := os.ReadFile("testdata/cases.json")
	require.NoError(t, err)
	var cases []struct {
		Case   string
		Limits struct {
			Services   int
			PerService int `json:"per_service"`
			Overall    int
		}
		To   groups
		From []groups
		Want groups
	}
	require.NoError(t, json.Unmarshal(raw, &cases))
	require.Len(t, cases, 6)
	for _, tt := range cases {
		t.Run(tt.Case, func(t *testing.T) {
			to := New(uniform(tt.Limits.Services, tt.Limits.PerService, tt.Limits.Overall))
			require.NoError(t, to.Merge(wireOf(t, tt.To)))
			for _, from := range tt.From {
				wire := wireOf(t, from)
				require.NoError(t, to.Merge(wire))
				for i := range wire {
					wire[i] = 0xff // what was lent is not kept
				}
			}
			assert.Equal(t, tt.Want, show(t, to))
			again := New(uniform(tt.Limits.Services, tt.Limits.PerService, tt.Limits.Overall))
			require.NoError(t, again.Merge(to.AppendTo(nil)))
			assert.Equal(t, tt.Want, show(t, again), "after a way by the wire")
		})
	}
}

// measure is a span of 1 ms.
func measure(service string, change func(*derive.Measure)) *derive.Measure {
	m := &derive.Measure{Service: service, Weight: 1, Duration: int64(time.Millisecond)}
	if change != nil {
		change(m)
	}
	return m
}

func dependency(name, target string, weight float64, failed bool) func(*derive.Measure) {
	return func(m *derive.Measure) {
		m.Family, m.Name, m.TargetKind, m.Target, m.Weight, m.Failed = derive.Dependency, name, "peer.service", target, weight, failed
	}
}

func request(name string) func(*derive.Measure) {
	return func(m *derive.Measure) { m.Family, m.Name, m.Kind = derive.Request, name, "server" }
}

// Case 7: two spans of weight 2.5, 100 ms: sketch count 5, p50 within 1 % of 100 ms.
func TestCase7WeightsAreFractions(t *testing.T) {
	s := New(unlimited)
	for range 2 {
		s.Add(measure("a", func(m *derive.Measure) {
			request("op")(m)
			m.Weight, m.Duration = 2.5, int64(100*time.Millisecond)
		}), 1)
	}
	o := s.Services()[0].Operations[0]
	assert.EqualValues(t, 5*loghist.One, o.Duration.Weight())
	assert.InEpsilon(t, 100e6, float64(o.Duration.Quantile(0.5)), 0.01)
	assert.EqualValues(t, 5*loghist.One, s.Services()[0].Kinds[0].Ok)
}

// Case 8: service A, target Z: weights 2, 1, 0 ok and 1 failed; target X: 1; service B target Z: 1; N rounds of duration D.
func TestCase8Dependencies(t *testing.T) {
	const rounds = 7
	s := New(unlimited)
	for range rounds {
		s.Add(measure("A", dependency("call", "Z", 2, false)), 1)
		s.Add(measure("A", dependency("call", "Z", 1, false)), 1)
		s.Add(measure("A", nil), 1) // a weight of 0 is no dependency: see package derive
		s.Add(measure("A", dependency("call", "Z", 1, true)), 1)
		s.Add(measure("A", dependency("call", "X", 1, false)), 1)
		s.Add(measure("B", dependency("call", "Z", 1, false)), 1)
	}
	type row struct {
		service, target string
		failed          bool
		weight, sum     uint64
	}
	var got []row
	for _, service := range s.Services() {
		assert.Empty(t, service.Operations)
		for _, d := range service.Dependencies {
			got = append(got, row{service.Name, d.Target, d.Failed, d.Weight / loghist.One, d.Sum / uint64(time.Millisecond)})
		}
	}
	assert.Equal(t, []row{
		{"A", "Z", false, 3 * rounds, 3 * rounds},
		{"A", "Z", true, rounds, rounds},
		{"A", "X", false, rounds, rounds},
		{"B", "Z", false, rounds, rounds},
	}, got)
}

// Case 9: weight 0, no target, internal span: only the service summary.
func TestCase9OnlyTheSummary(t *testing.T) {
	s := New(unlimited)
	s.Add(measure("a", nil), 1)
	assert.Equal(t, groups{"a": {}}, show(t, s))
	again := New(unlimited)
	require.NoError(t, again.Merge(s.AppendTo(nil)))
	assert.Equal(t, groups{"a": {}}, show(t, again))
}

// Case 10: what is counted after a Reset carries nothing of what was there before.
func TestCase10NothingIsLeftAfterReset(t *testing.T) {
	s := New(uniform(1, 1, 1))
	fill := func() {
		for _, service := range []string{"a", "b"} {
			for _, name := range []string{"x", "y"} {
				s.Add(measure(service, func(m *derive.Measure) { request(name)(m); m.Failed, m.TraceID = true, 5 }), 9)
				s.Add(measure(service, dependency(name, name, 1, true)), 9)
			}
		}
	}
	fill()
	want := s.AppendTo(nil)
	for range 3 {
		s.Reset()
		assert.True(t, s.Empty())
		s.Add(measure("a", request("y")), 1)
		assert.Equal(t, groups{"a": {"op y": 1.0, "kind server": 1.0}}, show(t, s))
		o := s.Services()[0].Operations[0]
		assert.Zero(t, o.SlowestTrace+o.LatestTrace+o.Latest)
		s.Reset()
		fill()
		assert.Equal(t, want, s.AppendTo(nil))
	}
}

// Case 11: dependencies per service 4, five spans n0 to n4 to one target: n0, n1 keep names, n2 to n4 are in the nameless key: 3 groups, no
// overflow.
func TestCase11NameProtection(t *testing.T) {
	limits := uniform(10, 4, 100)
	s := New(limits)
	for _, name := range []string{"n0", "n1", "n2", "n3", "n4"} {
		s.Add(measure("a", dependency(name, "z", 1, false)), 1)
	}
	want := groups{"a": {"dep z n0": 1.0, "dep z n1": 1.0, "dep z": 3.0}}
	assert.Equal(t, want, show(t, s))
	// The nameless key of one more target is added, that of a third finds no room, and is estimated under its name.
	s.Add(measure("a", dependency("n5", "y", 1, false)), 1)
	s.Add(measure("a", dependency("n5", "x", 1, false)), 1)
	s.Add(measure("a", dependency("n6", "x", 1, false)), 1)
	want["a"]["dep y"] = 1.0
	none := map[string]any{"w": 0.0, "est": 0.0}
	want["a"]["overflow"] = map[string]any{"dep": map[string]any{"w": 2.0, "est": 2.0}, "op": none, "kind": none}
	assert.Equal(t, want, show(t, s))
}

// Case 13: equal tags in another order are the same service.
func TestCase13OrderOfTags(t *testing.T) {
	message := func(tags ...ssf.Tag) []byte {
		a := Aggregate{SubBuckets: loghist.SubBuckets, Services: []Service{{Name: "a", Tags: tags, Kinds: []Kind{{Kind: "k", Ok: loghist.One}}}}}
		wire, err := a.Marshal()
		require.NoError(t, err)
		return wire
	}
	s := New(unlimited)
	env, region := ssf.Tag{Key: "env", Value: "prod"}, ssf.Tag{Key: "region", Value: "eu"}
	require.NoError(t, s.Merge(message(env, region)))
	require.NoError(t, s.Merge(message(region, env)))
	require.NoError(t, s.Merge(message(env)))
	require.Len(t, s.Services(), 2)
	assert.EqualValues(t, 2*loghist.One, s.Services()[0].Kinds[0].Ok)
	assert.Equal(t, []ssf.Tag{env, region}, s.Services()[0].Tags)
}
