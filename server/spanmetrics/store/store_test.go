package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/server/derive"
	"github.com/veneurd/veneur/server/sketch/loghist"
	"github.com/veneurd/veneur/server/spanmetrics/partial"
)

var limits = partial.Limits{
	Services:   100,
	PerService: partial.Groups{Operations: 100, Kinds: 100, Dependencies: 100},
	Overall:    partial.Groups{Operations: 100, Kinds: 100, Dependencies: 100},
}

// requests is a partial of n requests.
func requests(n int) []byte {
	s := partial.New(limits)
	for range n {
		s.Add(&derive.Measure{Service: "a", Family: derive.Request, Name: "op", Weight: 1, Duration: int64(time.Second)}, 1)
	}
	return s.AppendTo(nil)
}

// count returns how many requests a bucket holds.
func count(t *testing.T, s Store, b Bucket) int {
	set := partial.New(limits)
	require.NoError(t, s.Read(b, set))
	n := 0
	for _, service := range set.Services() {
		for _, o := range service.Operations {
			n += int(o.Duration.Weight() / loghist.One)
		}
	}
	return n
}

func contents(t *testing.T, s Store) []string {
	states, err := s.Buckets()
	require.NoError(t, err)
	got := []string{}
	for _, b := range states {
		text := fmt.Sprintf("%d+%d fine %t closed %t: %d", b.Start, b.Interval, b.Fine, b.Closed, count(t, s, b.Bucket))
		if len(b.Taken) > 0 {
			text += fmt.Sprint(" taken by ", slices.Sorted(slices.Values(b.Taken)))
		}
		got = append(got, text)
	}
	return got
}

func TestAt(t *testing.T) {
	for _, tt := range []struct{ interval, unix, want int64 }{{60, 120, 120}, {60, 179, 120}, {3600, 7199, 3600}, {60, -1, -60}} {
		assert.Equal(t, Bucket{tt.interval, tt.want, true}, At(tt.interval, tt.unix, true))
	}
}

// failing is a disk that can be full.
type failing struct {
	*Memory
	full, unreadable bool
	commits          int
}

var errFull = errors.New("full")

func (f *failing) Commit(changes []Change) error {
	if f.full {
		return errFull
	}
	f.commits++
	return f.Memory.Commit(changes)
}

func (f *failing) Buckets() ([]State, error) {
	if f.unreadable {
		return nil, errFull
	}
	return f.Memory.Buckets()
}

func TestStores(t *testing.T) {
	for name, s := range map[string]Store{
		"memory":   NewMemory(limits),
		"disk":     NewFallback(NewMemory(limits), limits),
		"no disk":  NewFallback(&failing{Memory: NewMemory(limits), full: true}, limits),
		"no at it": NewFallback(&failing{Memory: NewMemory(limits)}, limits),
	} {
		t.Run(name, func(t *testing.T) {
			commit := func(changes ...Change) {
				if err := s.Commit(changes); err != nil {
					require.ErrorIs(t, err, errFull)
				}
			}
			first, second, long := Bucket{60, 0, true}, Bucket{60, 60, true}, Bucket{600, 0, false}
			commit(Change{Bucket: second, Partial: requests(1)}, Change{Bucket: first, Partial: requests(2)})
			commit(Change{Bucket: first, Partition: 1, Partial: requests(3)})
			assert.Equal(t, []string{"0+60 fine true closed false: 5", "60+60 fine true closed false: 1"}, contents(t, s))
			commit(Change{Op: Close, Bucket: first}, Change{Bucket: long, Partial: requests(5)})
			assert.Equal(t, []string{"0+60 fine true closed true: 5", "60+60 fine true closed false: 1", "0+600 fine false closed false: 5"}, contents(t, s))
			for _, sink := range []string{"a", "b", "a"} {
				commit(Change{Op: Take, Bucket: first, Sink: sink})
			}
			assert.Equal(t, "0+60 fine true closed true: 5 taken by [a b]", contents(t, s)[0])
			commit(Change{Op: Take, Bucket: first, Sink: "c"}, Change{Op: Delete, Bucket: first})
			assert.Equal(t, []string{"60+60 fine true closed false: 1", "0+600 fine false closed false: 5"}, contents(t, s))
			commit(Change{Bucket: first, Partial: requests(7)}, Change{Op: Close, Bucket: first})
			assert.Equal(t, "0+60 fine true closed true: 7", contents(t, s)[0], "made again, nobody has taken it")
			require.ErrorIs(t, s.Commit([]Change{{Bucket: first, Partial: []byte("none")}}), partial.ErrMessage)
			require.NoError(t, s.Close())
		})
	}
}

// What is closed and deleted while a disk is full is the last that was closed, for the disk too.
func TestLastOfAFullDisk(t *testing.T) {
	for range 10 { // the order of buckets in memory is none
		disk := &failing{Memory: NewMemory(limits), full: true}
		s := NewFallback(disk, limits)
		for i := range int64(4) {
			b := Bucket{60, 60 * i, true}
			require.Error(t, s.Commit([]Change{{Bucket: b, Partial: requests(1)}, {Op: Close, Bucket: b}}))
			if i%3 == 0 {
				require.Error(t, s.Commit([]Change{{Op: Delete, Bucket: b}}))
			}
		}
		disk.full = false
		require.NoError(t, s.Commit(nil))
		assert.Equal(t, Bucket{60, 180, true}, disk.Last())
		assert.Equal(t, []string{"60+60 fine true closed true: 1", "120+60 fine true closed true: 1"}, contents(t, disk))
	}
}

// The last bucket is that which ended last, whatever it is made of and in whatever order buckets are closed, unless the clock was set back.
func TestLastClosed(t *testing.T) {
	fine, next, long, odd := Bucket{60, 0, true}, Bucket{60, 120, true}, Bucket{600, 0, false}, Bucket{180, 0, false}
	for name, tt := range map[string]struct {
		closed []Bucket
		want   Bucket
	}{
		"one":                              {[]Bucket{fine}, fine},
		"a longer one":                     {[]Bucket{fine, long}, long},
		"two lengths that do not fit":      {[]Bucket{{120, 120, false}, odd}, Bucket{120, 120, false}},
		"a clock that was ahead":           {[]Bucket{{60, 7200, true}, next}, next},
		"a clock that was back, of a day":  {[]Bucket{{86400, 0, false}, {60, 79200, true}}, Bucket{60, 79200, true}},
		"the end of a day, and before it":  {[]Bucket{{86400, 0, false}, {60, 86280, true}}, Bucket{86400, 0, false}},
		"the day that begins with the end": {[]Bucket{{86400, 0, false}, {60, 86400, true}}, Bucket{60, 86400, true}},
	} {
		t.Run(name, func(t *testing.T) {
			disk := NewMemory(limits)
			onDisk := NewFallback(disk, limits)
			full := NewFallback(&failing{Memory: NewMemory(limits), full: true}, limits)
			half := &failing{Memory: NewMemory(limits)}
			halfFull := NewFallback(half, limits)
			for _, b := range tt.closed {
				changes := []Change{{Op: Close, Bucket: b}, {Op: Delete, Bucket: b}}
				require.NoError(t, onDisk.Commit(changes))
				require.ErrorIs(t, full.Commit(changes), errFull)
				if half.full {
					require.ErrorIs(t, halfFull.Commit(changes), errFull)
				} else {
					require.NoError(t, halfFull.Commit(changes))
				}
				half.full = true
			}
			assert.Equal(t, tt.want, disk.Last())
			assert.Equal(t, tt.want, full.Last())
			assert.Equal(t, tt.want, halfFull.Last(), "of disk and memory")
			half.full = false
			require.NoError(t, halfFull.Commit(nil))
			assert.Equal(t, tt.want, half.Last(), "the disk has room again")
		})
	}
}

// What a full disk does not take is there all the same, and on the disk as soon as that has room.
func TestFallback(t *testing.T) {
	disk := &failing{Memory: NewMemory(limits)}
	s := NewFallback(disk, limits)
	first, second := Bucket{60, 0, true}, Bucket{60, 60, true}
	require.NoError(t, s.Commit([]Change{{Bucket: first, Partial: requests(1)}, {Bucket: second, Partial: requests(10)}}))
	disk.full = true
	require.ErrorIs(t, s.Commit([]Change{{Bucket: first, Partial: requests(2)}}), errFull)
	require.ErrorIs(t, s.Commit([]Change{{Op: Close, Bucket: first}, {Bucket: second, Partial: requests(20)}}), errFull)
	assert.True(t, s.Waiting())
	assert.Equal(t, []string{"0+60 fine true closed true: 3", "60+60 fine true closed false: 30"}, contents(t, s))
	assert.Equal(t, []string{"0+60 fine true closed false: 1", "60+60 fine true closed false: 10"}, contents(t, disk))
	require.ErrorIs(t, s.Commit([]Change{{Op: Delete, Bucket: first}}), errFull)
	assert.Equal(t, []string{"60+60 fine true closed false: 30"}, contents(t, s))

	disk.unreadable = true
	states, err := s.Buckets()
	require.ErrorIs(t, err, errFull)
	assert.Equal(t, []State{{Bucket: second}}, states, "what is in memory is told all the same")
	disk.unreadable = false

	disk.full = false
	require.NoError(t, s.Commit(nil))
	assert.False(t, s.Waiting())
	assert.Equal(t, []string{"60+60 fine true closed false: 30"}, contents(t, disk))

	disk.full = true
	require.Error(t, s.Commit([]Change{{Op: Close, Bucket: second}}))
	disk.full = false
	require.NoError(t, s.Close())
	assert.Equal(t, []string{"60+60 fine true closed true: 30"}, contents(t, disk), "what waits is written when the store is closed")
}

// Who has taken a bucket is known on a full disk too, beside who had before, and is on the disk as soon as that has room.
func TestFallbackKnowsWhoHasTakenABucket(t *testing.T) {
	disk := &failing{Memory: NewMemory(limits)}
	s := NewFallback(disk, limits)
	bucket := Bucket{60, 0, true}
	require.NoError(t, s.Commit([]Change{{Bucket: bucket, Partial: requests(1)}, {Op: Close, Bucket: bucket}, {Op: Take, Bucket: bucket, Sink: "a"}}))
	disk.full = true
	for _, sink := range []string{"a", "b"} {
		require.ErrorIs(t, s.Commit([]Change{{Op: Take, Bucket: bucket, Sink: sink}}), errFull)
	}
	assert.Equal(t, []string{"0+60 fine true closed true: 1 taken by [a b]"}, contents(t, s))
	assert.Equal(t, []string{"0+60 fine true closed true: 1 taken by [a]"}, contents(t, disk))
	disk.full = false
	require.NoError(t, s.Close())
	assert.Equal(t, []string{"0+60 fine true closed true: 1 taken by [a b]"}, contents(t, disk))
}
