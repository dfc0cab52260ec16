package spanmetrics

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/server/spanmetrics/partial"
)

// liveHeap returns how many bytes are in use after a collection, and after a second one, which pools of memory outlive by no means.
func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Operations that are ever new, from services that are ever new, over many buckets of two lengths, stored on disk: what is held stays what it was
// after the first, the sums are exact, and the points of a bucket are as many as the limits allow.
func TestMemoryIsBoundedWhateverServicesSend(t *testing.T) {
	const (
		services, perService, overall = 40, 20, 500
		buckets, perTick              = 60, 1500
	)
	c := testConfig(2*time.Second, 4*time.Second)
	c.StorePath = t.TempDir()
	c.Limits.Services, c.Limits.OperationsPerService, c.Limits.Operations = services, perService, overall
	log := logrus.New()
	log.SetLevel(logrus.PanicLevel)
	emitted, mostPoints := map[time.Duration]float64{}, 0
	var s *Stage
	s = New(Settings{Config: c, Telemetry: telemetry.New(), Log: log, Sinks: []string{"a"}, Emit: func(b *Closed) {
		points, exemplars := s.Points(b)
		mostPoints = max(mostPoints, points.Counters.Len()+points.Gauges.Len()+points.Histograms.Len()+len(exemplars))
		emitted[b.Duration()] += sumsOf(b.Set).requests
		b.Taken("a")
	}})
	lanes := []*Recorder{s.NewRecorder(), s.NewRecorder()}
	keeper := s.Keeper()
	require.NoError(t, keeper.Start(t.Context()))
	now := time.Unix(1_000_000_000, 0)
	s.begin(now)
	names := 0
	early, late := uint64(0), uint64(math.MaxUint64)
	for bucket := range buckets {
		for range 2 {
			for range perTick {
				service, name := fmt.Sprint("service", names%(2*services)), fmt.Sprint("GET /item/", names)
				if names%3 == 0 {
					service = fmt.Sprint("service of host ", names)
				}
				lanes[names%2].Add(requestSpan(service, name, time.Duration(names%1000)*time.Millisecond), now.Unix())
				names++
			}
			now = now.Add(time.Second)
			s.tick(now)
		}
		switch held := liveHeap(); {
		case bucket < 4: // not every array is as large as it gets
		case bucket < buckets/4:
			early = max(early, held)
		case bucket >= buckets*3/4: // the least, since the store has memory of its own for a while
			late = min(late, held)
		}
	}
	s.tick(now.Add(4 * time.Second))
	require.NoError(t, keeper.Close())
	t.Logf("%d names: %.1f MB held at most in the first quarter, %.1f MB at least in the last; a bucket gives %d points at most", names, float64(early)/1e6, float64(late)/1e6, mostPoints)
	// The store has what is not yet on disk in tables of 4 MB, at times one or two more than at others.
	assert.Less(t, float64(late), 1.2*float64(early)+1e6+2*(4<<20))
	assert.Equal(t, map[time.Duration]float64{2 * time.Second: float64(names), 4 * time.Second: float64(names)}, emitted)
	// Of an operation, and of what is past the limit, there are two counters, a histogram and an exemplar; of a kind three counters and a histogram. Of the
	// shortest interval there may be as many again as have a place in the longer one.
	n := len(c.Intervals)
	assert.LessOrEqual(t, mostPoints, 4*(n*overall+n*services+1)+4*(n*services+1)+(1+len(partial.Families()))*(n*services+1)+1)
}
