//go:build !race && !invariants

// The race detector slows some work down by far more than other work.

package flush

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// stepWatch measures the processor time of its thread from one step to the next, which is the same however busy the machine is.
type stepWatch struct {
	t           *testing.T
	begun, last time.Duration
	longest     time.Duration
	before      string // where the step was that ended the longest
}

func (w *stepWatch) now() time.Duration {
	var ts unix.Timespec
	require.NoError(w.t, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts))
	return time.Duration(ts.Nano())
}

func (w *stepWatch) step() {
	now := w.now()
	if now-w.last > w.longest {
		w.longest, w.before = now-w.last, callers()
	}
	w.last = w.now() // without what it took to look for callers
}

func callers() string {
	var pcs [8]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	text := ""
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		text += fmt.Sprintf("\n%s:%d", f.Function, f.Line)
	}
	return text
}

// TestRatioOfWorkBetweenSteps flushes many series on every path there is and looks for the longest work without a chance to rest. Steps are easily
// forgotten: giving an interval back had none once, and took 12 ms of the 140 ms that a million series took.
func TestRatioOfWorkBetweenSteps(t *testing.T) {
	const series, most = 200_000, 300                // one part in so many may be without a step
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // who allocates helps the collector
	route := func(c *Config) {
		c.MetricSinkRouting = []RouteConfig{{
			Name: "r", Match: []Match{{Name: NameMatch{Kind: matchPrefix, Value: "c1"}}},
			Sinks: RouteSinks{Matched: []string{"a", "b"}, NotMatched: []string{"a"}},
		}}
	}
	for _, tt := range []struct {
		name    string
		change  func(*Config)
		targets []Target
	}{
		{"plain", nil, []Target{{Name: "a"}}},
		{"distributions", nil, []Target{{Name: "a", WantsDistributions: true}}},
		{"routes", route, []Target{{Name: "a"}, {Name: "b", WantsDistributions: true}}},
		{"rules", nil, []Target{{Name: "a", Rules: Rules{AddTags: map[string]string{"x": "1"}}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			f := newFixture(t, tested(tt.change), tt.targets...)
			w := &stepWatch{t: t}
			f.step, f.render.step = w.step, w.step
			f.s.Collector.Pace(w.step)
			var lines []string
			for i := range series {
				lines = append(lines, fmt.Sprintf("c%d:1|c", i))
			}
			for i := range series / 20 {
				lines = append(lines, fmt.Sprintf("g%d:1|g", i), fmt.Sprintf("h%d:1:2:3|h", i), fmt.Sprintf("s%d:1|s", i))
			}
			for i := range series / 20 { // of two scopes each
				lines = append(lines, fmt.Sprintf("g%d:1|g|#veneurlocalonly", i), fmt.Sprintf("h%d:1:2:3|h|#veneurlocalonly", i))
			}
			least := 1.0
			for round := 0; round < 5 && least >= 1.0/most; round++ {
				clear(f.got)
				f.add(lines...)
				runtime.GC()
				w.begun = w.now()
				w.last, w.longest = w.begun, 0
				f.flush(tick{end: time.Unix(1_800_000_000, 0), covered: 10 * time.Second})
				w.step()
				whole := w.now() - w.begun
				if part := float64(w.longest) / float64(whole); part < least {
					least = part
					t.Logf("%v of %v before%s", w.longest, whole, w.before)
				}
			}
			require.Less(t, least, 1.0/most)
		})
	}
}
