package partial

import (
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/veneurd/veneur/server/derive"
	"github.com/veneurd/veneur/server/sketch/loghist"
)

// thirty is a set of one service with ten operations, ten kinds and ten dependencies, each of one value.
func thirty() *Set {
	s := New(uniform(10, 100, 1000))
	for i := range 10 {
		m := measure("checkout", request(fmt.Sprint("GET /cart/item", i)))
		m.Kind, m.TraceID = fmt.Sprint("kind", i), 0x1234567890
		s.Add(m, time.Now().UnixNano())
		s.Add(measure("checkout", dependency(fmt.Sprint("query", i), fmt.Sprint("database", i), 1, false)), 1)
	}
	return s
}

func TestKnownKeysDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	s, into := thirty(), New(uniform(2, 2, 1000))
	over := filled(1000).AppendTo(nil)
	request, dependency := measure("checkout", request("GET /cart/item1")), measure("checkout", dependency("query1", "database1", 1, false))
	var wire []byte
	run := func() {
		s.Add(request, 1)
		s.Add(dependency, 1)
		wire = s.AppendTo(wire[:0])
		if into.Merge(wire) != nil || into.Merge(over) != nil {
			t.Error("refused")
		}
		into.Reset()
		s.Reset()
	}
	run()
	run()
	if n := testing.AllocsPerRun(100, run); n > 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

// flood is a million distinct operation names from 200 services.
const (
	floodNames    = 1_000_000
	floodServices = 200
)

// However many names there are, a set is bounded by its limits, its sums are exact, and its estimates are within 3 %.
func TestFloodOfNamesIsBounded(t *testing.T) {
	names := floodNames
	if testing.Short() || raceEnabled {
		names /= 20
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := New(Limits{Services: 1000, PerService: Groups{200, 20, 200}, Overall: Groups{10_000, 5000, 10_000}})
	m := measure("", request(""))
	for i := range names {
		m.Service, m.Name = fmt.Sprint("service", i%floodServices), fmt.Sprint("GET /user/", i)
		s.Add(m, 1)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	held := float64(after.HeapAlloc-before.HeapAlloc) / 1e6

	got := sumsOf(s)
	assert.EqualValues(t, names*loghist.One, got[""].operations.Weight())
	assert.EqualValues(t, names*int(time.Millisecond), got[""].operations.Sum)
	estimate := float64(s.Count(Operations))
	for i, service := range s.Services() {
		keys := float64(len(service.Operations))
		if e := s.Excess(i); e != nil {
			keys += float64(e.Keys(Operations))
		}
		assert.InEpsilon(t, float64(names)/floodServices, keys, 0.03, service.Name)
		estimate += keys - float64(len(service.Operations))
	}
	assert.InEpsilon(t, float64(names), estimate, 0.03)
	assert.Equal(t, 10_000, s.Count(Operations))
	assert.Less(t, held, 25.0)
	t.Logf("%d names of %d services: %.1f MB held, %d groups, %.0f names estimated, %.1f MB on the wire",
		names, floodServices, held, s.Count(Operations), estimate, float64(len(s.AppendTo(nil)))/1e6)
	runtime.KeepAlive(s)
}

// BenchmarkPartialEncode writes an aggregate of one service with ten operations, ten kinds and ten dependencies, each of one value.
func BenchmarkPartialEncode(b *testing.B) {
	s := thirty()
	wire := s.AppendTo(nil)
	b.SetBytes(int64(len(wire)))
	b.ReportAllocs()
	for b.Loop() {
		wire = s.AppendTo(wire[:0])
	}
}

// BenchmarkPartialMerge reads the aggregate of BenchmarkPartialEncode from its stored bytes, checks it, and adds it to one that has the same
// keys.
func BenchmarkPartialMerge(b *testing.B) {
	wire := thirty().AppendTo(nil)
	into := thirty()
	b.SetBytes(int64(len(wire)))
	b.ReportAllocs()
	for b.Loop() {
		if err := into.Merge(wire); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSetAdd counts spans of known keys.
func BenchmarkSetAdd(b *testing.B) {
	for _, tt := range []struct {
		name   string
		change func(*derive.Measure)
	}{
		{"request", request("GET /cart/item1")},
		{"dependency", dependency("query1", "database1", 1, false)},
		{"alive", nil},
	} {
		b.Run(tt.name, func(b *testing.B) {
			s, m := thirty(), measure("checkout", tt.change)
			b.ReportAllocs()
			for b.Loop() {
				m.Duration = (m.Duration + 12_345) & 0xfffff
				s.Add(m, 1)
			}
		})
	}
}

// BenchmarkPastTheLimit counts spans of two lanes, each of a name that is new and has no place, here and in two longer buckets: both ask for it what
// they share, or each what is its own.
func BenchmarkPastTheLimit(b *testing.B) {
	for _, shared := range []bool{true, false} {
		b.Run(map[bool]string{true: "shared", false: "apart"}[shared], func(b *testing.B) {
			l := uniform(10, 100, 1000)
			known := NewKnown(l, NewKnown(l), NewKnown(l))
			var lanes sync.WaitGroup
			b.ReportAllocs()
			b.ResetTimer()
			for lane := range 2 {
				s := New(l)
				if shared {
					s.Use(known)
				} else {
					s.Use(NewKnown(l, NewKnown(l), NewKnown(l)))
				}
				lanes.Go(func() {
					name := []byte("GET /cart/item 0 0000000000")
					m := measure("checkout", request(""))
					for i := range b.N {
						name = strconv.AppendInt(append(name[:15], byte('0'+lane), ' '), int64(i), 10)
						m.Name = string(name)
						s.Add(m, 1)
					}
				})
			}
			lanes.Wait()
		})
	}
}
