package debug

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/delivery"
	"github.com/veneurd/veneur/sinks/sinktest"
	"github.com/veneurd/veneur/ssf"
)

var end = time.Date(2026, time.November, 30, 15, 20, 10, 0, time.UTC)

// printed returns what a sink without colour prints for some chunks.
func printed(t *testing.T, maxRows int, chunks ...*sinks.Batch) string {
	t.Helper()
	var out bytes.Buffer
	k := newSink(Config{Color: colorNever, MaxRows: maxRows}, sinks.Settings{Stdout: &out})
	for _, chunk := range chunks {
		require.NoError(t, k.Send(t.Context(), chunk))
	}
	return out.String()
}

func batch(points ...metric.Point) *sinks.Batch {
	return &sinks.Batch{End: end, Interval: 10 * time.Second, Points: points}
}

func counter(name string, value float64, tags ...string) metric.Point {
	return sinktest.Point(metric.CounterPoint, name, value, tags...)
}

func gauge(name string, value float64, tags ...string) metric.Point {
	return sinktest.Point(metric.GaugePoint, name, value, tags...)
}

func TestTableOfPoints(t *testing.T) {
	timed := gauge("queue.depth", 1234567)
	timed.Time = end.Add(-time.Minute).Unix()
	assert.Equal(t, `== 2026-11-30 15:20:10 UTC  5 points in 10s
NAME         TYPE       VALUE  TAGS
a.b          counter        3  x:1
a.b          counter     0.25  x:2 y
a.b          gauge          1  z
größe        gauge       1e-7
queue.depth  gauge    1234567  @2026-11-30T15:19:10Z
`, printed(t, 0, batch(timed, gauge("größe", 1e-7), counter("a.b", 0.25, "x:2", "y"), gauge("a.b", 1, "z"), counter("a.b", 3, "x:1"))))
}

func TestTablesOfEventsAndChecks(t *testing.T) {
	assert.Equal(t, `== 2026-11-30 15:20:10 UTC  2 events
EVENT     ALERT    TEXT        TAGS
deployed  success  version\n3  env:prod
bare
== 2026-11-30 15:20:10 UTC  1 service check
CHECK  STATUS    MESSAGE  TAGS
db.up  CRITICAL           a b:1
`, printed(t, 0, &sinks.Batch{
		End:    end,
		Events: []metric.Event{{Title: "deployed", AlertType: "success", Text: "version\n3", Tags: []string{"env:prod"}}, {Title: "bare"}},
		Checks: []metric.Check{{Name: "db.up", Status: metric.Critical, Tags: []string{"a", "b:1"}}},
	}))
}

func TestTableOfSpans(t *testing.T) {
	var out bytes.Buffer
	k := newSink(Config{Color: colorNever, MaxRows: 3}, sinks.Settings{Stdout: &out})
	spans := []*ssf.SSFSpan{
		{TraceId: 1, Id: 2, ParentId: 1, Service: "web", Name: "GET", EndTimestamp: 1_500_000, Tags: []ssf.Tag{{Key: "a", Value: "b"}}},
		{TraceId: -1, Id: 3, Service: "db", Name: "query", EndTimestamp: 2_000_000_000, Error: true},
		{TraceId: 1, Id: 5, Name: "reversed", StartTimestamp: 2, EndTimestamp: 1},
		{TraceId: 1, Id: 4, Name: "one too many"},
	}
	require.NoError(t, k.SendSpans(t.Context(), spans))
	assert.Equal(t, `== 4 spans
SERVICE  SPAN      DURATION  TRACE/ID<PARENT  TAGS
web      GET          1.5ms  1/2<1            a:b
db       query     error 2s  -1/3<0
         reversed        0s  1/5<0
… and 1 more (max_rows)
`, out.String())
}

func TestNothingIsPrintedForNothing(t *testing.T) {
	assert.Empty(t, printed(t, 0, &sinks.Batch{End: end}))
	k := newSink(DefaultConfig(), sinks.Settings{Stdout: &bytes.Buffer{}})
	require.NoError(t, k.SendSpans(t.Context(), nil))
}

func TestMaxRowsIsForTheInterval(t *testing.T) {
	more := batch(gauge("c", 1), gauge("d", 1))
	more.Events = []metric.Event{{Title: "always seen"}}
	next := batch(gauge("e", 1))
	next.End = end.Add(10 * time.Second)
	assert.Equal(t, `== 2026-11-30 15:20:10 UTC  2 points in 10s
NAME  TYPE   VALUE  TAGS
a     gauge      1
b     gauge      1
== 2026-11-30 15:20:10 UTC  2 points in 10s
NAME  TYPE   VALUE  TAGS
c     gauge      1
… and 1 more (max_rows)
== 2026-11-30 15:20:10 UTC  1 event
EVENT        ALERT  TEXT  TAGS
always seen
== 2026-11-30 15:20:10 UTC  2 points in 10s
… and 2 more (max_rows)
== 2026-11-30 15:20:20 UTC  1 point in 10s
NAME  TYPE   VALUE  TAGS
e     gauge      1
`, printed(t, 3, batch(gauge("b", 1), gauge("a", 1)), more, batch(gauge("f", 1), gauge("g", 1)), next))
}

func TestColors(t *testing.T) {
	var out bytes.Buffer
	k := newSink(Config{Color: colorAlways}, sinks.Settings{Stdout: &out})
	require.NoError(t, k.Send(t.Context(), batch(gauge("a", 1, "x:y"))))
	assert.Equal(t, "\x1b[32m== 2026-11-30 15:20:10 UTC  1 point in 10s\x1b[0m\n"+
		"\x1b[2mNAME\x1b[0m  \x1b[2mTYPE\x1b[0m   \x1b[2mVALUE\x1b[0m  \x1b[2mTAGS\x1b[0m\n"+
		"\x1b[1ma\x1b[0m     \x1b[2mgauge\x1b[0m      \x1b[36m1\x1b[0m  x:y\n", out.String())
}

func TestColorIsForTerminals(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer file.Close()
	assert.False(t, bool(newSink(DefaultConfig(), sinks.Settings{Stdout: file}).table.paint))
	assert.False(t, bool(newSink(DefaultConfig(), sinks.Settings{Stdout: &bytes.Buffer{}}).table.paint))
	t.Setenv("NO_COLOR", "1")
	assert.True(t, bool(newSink(Config{Color: colorAlways}, sinks.Settings{Stdout: file}).table.paint), "who says always means it")
}

func TestHostileText(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "größe 日本 🙂", "größe 日本 🙂"},
		{"escape sequences", "\x1b[2J\x1b]0;owned\x07", `\x1b[2J\x1b]0;owned\a`},
		{"C1 control", "a\u009b31mb", `a\u009b31mb`},
		{"lines", "a\r\nb\tc", `a\r\nb\tc`},
		{"direction of writing", "a\u202eb", `a\u202eb`},
		{"no width", "a\u200bb", `a\u200bb`},
		{"no UTF-8", "a\xff\xc3(", "a\uFFFD\uFFFD("},
		{"long", strings.Repeat("x", 60_000), strings.Repeat("x", maxText) + "…"},
		{"long and not ASCII", strings.Repeat("ü", 60_000), strings.Repeat("ü", maxText) + "…"},
		{"not quite long", strings.Repeat("ü", maxText), strings.Repeat("ü", maxText)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, clean(tt.in))
			event := metric.Event{Title: tt.in, Text: tt.in, AlertType: tt.in, Tags: []string{tt.in}}
			check := metric.Check{Name: tt.in, Message: tt.in, Tags: []string{tt.in}}
			b := batch(gauge(tt.in, 1, tt.in))
			b.Events, b.Checks = []metric.Event{event}, []metric.Check{check}
			out := printed(t, 0, b)
			assert.Equal(t, 9, strings.Count(out, "\n"))
			assert.NotContains(t, out, "\x1b")
		})
	}
}

func TestLongNameLeavesOtherRowsAsTheyAre(t *testing.T) {
	long := strings.Repeat("n", 60_000)
	assert.Equal(t, `== 2026-11-30 15:20:10 UTC  3 points in 10s
NAME  TYPE   VALUE  TAGS
a     gauge      1  x
bcde  gauge     20  x
`+long[:maxText]+`…  gauge      3  x
`, printed(t, 0, batch(gauge("a", 1, "x"), gauge("bcde", 20, "x"), gauge(long, 3, "x"))))
}

func TestFailedWriteIsTold(t *testing.T) {
	k := newSink(DefaultConfig(), sinks.Settings{Stdout: writerFunc(func([]byte) (int, error) { return 0, errors.New("no room") })})
	require.EqualError(t, k.Send(t.Context(), batch(gauge("a", 1))), "no room")
}

// A chunk that is sent again because its write failed finds the rows of its interval as they were.
func TestFailedWriteUsesUpNoRows(t *testing.T) {
	var out bytes.Buffer
	fails := true
	k := newSink(Config{Color: colorNever, MaxRows: 2}, sinks.Settings{Stdout: writerFunc(func(p []byte) (int, error) {
		if fails {
			return 0, errors.New("no room")
		}
		return out.Write(p)
	})})
	chunk := &sinks.Batch{
		End: end, Points: []metric.Point{gauge("a", 1), gauge("b", 1)},
		Events: []metric.Event{{Title: "c"}, {Title: "d"}}, Checks: []metric.Check{{Name: "e"}, {Name: "f"}},
	}
	require.Error(t, k.Send(t.Context(), chunk))
	fails = false
	require.NoError(t, k.Send(t.Context(), chunk))
	assert.Equal(t, printed(t, 2, chunk), out.String())
	out.Reset()
	require.NoError(t, k.Send(t.Context(), chunk))
	assert.Equal(t, 3, strings.Count(out.String(), "… and 2 more (max_rows)"), "what was written counts")
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestOutputThatNobodyReads: it costs this sink's data only, all of which is accounted for; what waits is printed when somebody reads again,
// and the end of the daemon does not wait for that.
func TestOutputThatNobodyReads(t *testing.T) {
	for _, again := range []bool{true, false} {
		t.Run(fmt.Sprint("read again: ", again), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reads := make(chan struct{})
				var out bytes.Buffer
				k := newSink(DefaultConfig(), sinks.Settings{Stdout: writerFunc(func(p []byte) (int, error) {
					<-reads
					return out.Write(p)
				})})
				c := delivery.DefaultConfig()
				c.QueueItems, c.ChunkItems = 5, 1
				log, hook := logtest.NewNullLogger()
				d := delivery.New(k, c, delivery.Settings{Name: "debug", Interval: 10 * time.Second, Log: log, Telemetry: telemetry.New(), DrainTimeout: time.Second})
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- d.Run(ctx) }()
				for i := range 20 {
					b := batch(gauge(fmt.Sprint("g", i), 1))
					b.End = b.End.Add(time.Duration(i) * 10 * time.Second)
					d.Offer(b)
					time.Sleep(10 * time.Second)
				}
				why, failing := d.Failing()
				assert.True(t, failing)
				assert.Contains(t, why, "has not returned")
				assert.EqualValues(t, 15, d.Ledger().Overflow)
				if again {
					close(reads)
					synctest.Wait()
					assert.EqualValues(t, 5, d.Ledger().Sent)
					assert.Contains(t, out.String(), "g19")
				}
				start := time.Now()
				cancel()
				require.NoError(t, <-ended)
				assert.LessOrEqual(t, time.Since(start), 4*time.Second)
				l := d.Ledger()
				assert.Equal(t, l.Offered, l.Sum())
				assert.Zero(t, l.Waiting)
				if !again {
					assert.EqualValues(t, 5, l.Expired)
					assert.NotEmpty(t, hook.AllEntries())
					close(reads)
				}
			})
		})
	}
}

func BenchmarkSend(b *testing.B) {
	var points []metric.Point
	for i := range 1000 {
		points = append(points, gauge(fmt.Sprintf("http.requests.%d", i), float64(i), "env:prod", "route:/api"))
	}
	size := 0
	k := newSink(DefaultConfig(), sinks.Settings{Stdout: writerFunc(func(p []byte) (int, error) { size = len(p); return len(p), nil })})
	chunk := batch(points...)
	b.ReportAllocs()
	for b.Loop() {
		chunk.End = chunk.End.Add(10 * time.Second)
		if err := k.Send(b.Context(), chunk); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(size))
}
