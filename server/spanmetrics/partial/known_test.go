package partial

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Sets that share what is known: what one let in the others have too, past the limit nothing is, and a bucket that was begun before goes on.
func TestSharedKeys(t *testing.T) {
	limits := uniform(2, 2, 3)
	known := NewKnown(limits)
	a, b := New(limits), New(limits)
	a.Use(known)
	b.Use(known)
	add := func(s *Set, keys ...string) {
		for _, key := range keys {
			s.Add(measure(key[:1], request(key[1:])), 1)
		}
	}
	operations := func(s *Set) (got []string) {
		for i, service := range s.Services() {
			for _, o := range service.Operations {
				got = append(got, service.Name+o.Name)
			}
			if e := s.Excess(i); e != nil {
				got = append(got, fmt.Sprint(service.Name, " other ", e.Keys(Operations)))
			}
		}
		if _, services := s.Overall(); services > 0 {
			got = append(got, fmt.Sprint("services ", services))
		}
		return got
	}
	add(a, "xp", "xq", "xr")
	add(b, "xr", "xs", "yp", "yq", "zp", "xq")
	assert.Equal(t, []string{"xp", "xq", "x other 1"}, operations(a))
	assert.Equal(t, []string{"xq", "x other 2", "yp", "y other 1", "services 1"}, operations(b))
	a.Reset()
	add(a, "zp", "yq", "yp", "xr", "xq")
	assert.Equal(t, []string{"yp", "y other 1", "xq", "x other 1", "services 1"}, operations(a))

	again := NewKnown(limits) // after a restart
	again.Learn(b)
	a.Reset()
	a.Use(again)
	add(a, "zp", "xr", "yp", "yq", "xq")
	assert.Equal(t, []string{"xr", "xq", "yp", "y other 1", "services 1"}, operations(a))
}

// What is known is bounded by the limits, and a key past them costs no allocation.
func TestKnownIsBounded(t *testing.T) {
	limits := Limits{Services: 1000, PerService: Groups{200, 20, 200}, Overall: Groups{10_000, 5000, 10_000}}
	known := NewKnown(limits)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 100_000 {
		service := []byte(fmt.Sprint("service", i%1500))
		if known.service(service) {
			key := appendGroup(nil, 7, &group{family: Operations, name: fmt.Sprint("GET /user/", i)})
			known.group(service, key, Operations, 0)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Len(t, known.services, 1000)
	require.Len(t, known.groups, 10_000)
	held := float64(after.HeapAlloc-before.HeapAlloc) / 1e6
	t.Logf("%.1f MB for 10,000 operations of 1,000 services", held)
	assert.Less(t, held, 4.0)
	service, key := []byte("service1"), appendGroup(nil, 7, &group{family: Operations, name: "new"})
	if n := testing.AllocsPerRun(100, func() { known.group(service, key, Operations, 0) }); n > 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
