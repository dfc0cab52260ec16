//go:build integration

package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol"
)

// shop is a daemon in a process of its own that makes metrics of spans, with intervals and a store as they are by default, and whatever is
// started in its place on the same ports, store and file.
type shop struct {
	*veneur
	config, admin, listen, points string
}

func startShop(t testing.TB) *shop {
	t.Helper()
	dir := t.TempDir()
	s := &shop{admin: freeAddress(t), listen: freeAddress(t), points: filepath.Join(dir, "points.ndjson")}
	s.config = fmt.Sprintf(`
hostname: it
interval: 1s
http_address: %s
ssf_listen_addresses: ["tcp://%s"]
span_metrics: {enabled: true, store_path: %q}
metric_sinks: [{kind: localfile, config: {path: %q}}]
`, s.admin, s.listen, filepath.Join(dir, "store"), s.points)
	s.veneur = startVeneur(t, s.admin, s.config)
	return s
}

func (s *shop) startAgain() { s.veneur = startVeneur(s.t, s.admin, s.config) }

// stop ends the daemon as a service manager does.
func (s *shop) stop() {
	s.t.Helper()
	require.NoError(s.t, s.process.cmd.Process.Signal(syscall.SIGTERM))
	<-s.process.done
	require.True(s.t, s.process.cmd.ProcessState.Success(), s.process.said.tail())
}

func (s *shop) spans() float64 { return s.value(`veneur_ingest_spans_total(?:\{.*\})?`) }

// committed returns how many spans the daemon says are in the store.
func (s *shop) committed(family string) float64 {
	return s.value(`veneur_span_metrics_spans_total\{family="` + family + `"\}`)
}

// load sends traces of shopTree until stop is closed, or nobody takes them any more.
type load struct {
	stop chan struct{}
	sent chan int // how many traces, once, at the end
}

const tracesPerSecond = 1000 // at most

// spansPerTrace is that of shopTree.
const spansPerTrace = 3

func (s *shop) load() *load {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.listen)
	require.NoError(s.t, err)
	l := &load{make(chan struct{}), make(chan int, 1)}
	go func() {
		defer conn.Close()
		const perTick = tracesPerSecond / 100
		tick := time.NewTicker(time.Second / 100)
		defer tick.Stop()
		for sent := 0; ; sent += perTick {
			select {
			case <-l.stop:
				l.sent <- sent
				return
			case <-tick.C:
			}
			var frames []byte
			for n := range perTick {
				for _, span := range shopTree(sent + n) {
					frames, _ = protocol.AppendFrame(frames, span) // it fails only for spans that are too large
				}
			}
			if _, err := conn.Write(frames); err != nil {
				l.sent <- sent + perTick // some of these may have arrived
				return
			}
		}
	}()
	return l
}

// finish ends the load, waits until the daemon has all of it, and says how many traces that were.
func (s *shop) finish(l *load) int {
	s.t.Helper()
	close(l.stop)
	sent := <-l.sent
	until(s.t, "all counted", time.Minute, func() bool { return s.spans() == float64(sent*spansPerTrace) })
	return sent
}

// bucketWithin returns the end of the running minute, or of the next one when less than room is left of this.
func bucketWithin(t testing.TB, room time.Duration) time.Time {
	t.Helper()
	end := time.Now().Truncate(time.Minute).Add(time.Minute)
	if time.Until(end) < room {
		next := time.NewTimer(time.Until(end))
		defer next.Stop()
		<-next.C
		end = end.Add(time.Minute)
	}
	return end
}

// shopPoint is a point of a minute's bucket that a sink wrote.
type shopPoint struct {
	Name      string
	Tags      []string
	Value     float64
	Timestamp int64
}

// minutes returns the points of all buckets of a minute so far.
func (s *shop) minutes() (points []shopPoint) {
	s.t.Helper()
	data, err := os.ReadFile(s.points)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	require.NoError(s.t, err)
	for line := range bytes.Lines(data) {
		var p shopPoint
		if !bytes.HasSuffix(line, []byte("\n")) {
			return points // it is being written
		}
		require.NoError(s.t, json.Unmarshal(line, &p), string(line))
		if slices.Contains(p.Tags, "interval:1m") {
			points = append(points, p)
		}
	}
	return points
}

// bucket waits for the bucket that ended then and returns its sums.
func (s *shop) bucket(end time.Time) map[string]float64 {
	s.t.Helper()
	until(s.t, "emitted", 90*time.Second, func() bool { return len(s.minutes()) > 0 })
	s.delivered()
	for _, p := range s.minutes() {
		require.Equal(s.t, end.Unix(), p.Timestamp, "%v is of another bucket", p)
	}
	return s.sums()
}

// delivered waits until all that was handed on is written and deleted.
func (s *shop) delivered() {
	s.t.Helper()
	written := -1
	until(s.t, "delivered", 30*time.Second, func() bool {
		before := written
		written = len(s.minutes())
		return written == before && s.value(`veneur_span_metrics_undelivered_buckets(?:\{.*\})?`) == 0
	})
}

// sums adds up what all buckets of a minute say, by "metric service", after it has made sure that each series came once in each.
func (s *shop) sums() map[string]float64 {
	s.t.Helper()
	sums, seen := map[string]float64{}, map[string]bool{}
	for _, p := range s.minutes() {
		series := fmt.Sprint(p.Timestamp, p.Name, p.Tags)
		require.False(s.t, seen[series], "%s came twice", series)
		seen[series] = true
		service := slices.IndexFunc(p.Tags, func(tag string) bool { return strings.HasPrefix(tag, "service:") })
		require.GreaterOrEqual(s.t, service, 0, series)
		sums[p.Name+" "+strings.TrimPrefix(p.Tags[service], "service:")] += p.Value
	}
	return sums
}

// requireConsistent demands that all sums fit each other.
func requireConsistent(t testing.TB, sums map[string]float64) {
	t.Helper()
	for _, service := range []string{"web", "users"} {
		requests := sums["span.service.requests "+service]
		assert.InDelta(t, requests, sums["span.operation.requests "+service], 0, "each request is in both families")
		assert.InDelta(t, requests/10, sums["span.service.errors "+service], 10, "every tenth fails")
	}
	const took = 0.010
	assert.InEpsilon(t, sums["span.service.requests users"]*took, sums["span.service.seconds users"], 1e-9)
	assert.InEpsilon(t, sums["span.dependency.requests web"]*took, sums["span.dependency.seconds web"], 1e-9)
}

// requireAll demands the sums of so many traces.
func requireAll(t testing.TB, sums map[string]float64, traces int) {
	t.Helper()
	for _, name := range []string{
		"span.service.requests web", "span.service.requests users", "span.operation.requests web", "span.operation.requests users",
		"span.dependency.requests web",
	} {
		assert.InDelta(t, float64(traces), sums[name], 0, name)
	}
	requireConsistent(t, sums)
}

// kill -9 under load inside a bucket of a minute, and a start on the same store: what is emitted is no less than what the daemon said was
// committed, and no more than what was sent.
func TestSpanMetricsKilledInsideABucket(t *testing.T) {
	t.Parallel()
	s := startShop(t)
	bucketWithin(t, 30*time.Second)
	l := s.load()
	var requests, calls float64
	until(t, "committed, with more to lose", 30*time.Second, func() bool {
		received := s.spans()
		requests, calls = s.committed("request"), s.committed("dependency")
		return requests > tracesPerSecond && received > requests+calls+tracesPerSecond/2
	})
	s.process.kill()
	sent := <-l.sent

	s.startAgain()
	again := s.load()
	until(t, "more", 30*time.Second, func() bool { return s.spans() > 2*tracesPerSecond })
	more := s.finish(again)
	until(t, "emitted", 3*time.Minute, func() bool {
		sums := s.sums()
		return sums["span.service.requests web"]+sums["span.service.requests users"] >= requests+float64(2*more)
	})
	s.delivered()
	sums := s.sums()
	requireConsistent(t, sums)
	got := sums["span.service.requests web"] + sums["span.service.requests users"]
	assert.GreaterOrEqual(t, got, requests+float64(2*more))
	assert.LessOrEqual(t, got, float64(2*(sent+more)))
	assert.GreaterOrEqual(t, sums["span.dependency.requests web"], calls+float64(more))
	assert.LessOrEqual(t, sums["span.dependency.requests web"], float64(sent+more))
	lost := float64(2*(sent+more)) - got
	t.Logf("sent %d traces, killed when %v requests were committed, sent %d; %v of %d requests were emitted: %v are lost, %.2f s of the load",
		sent, requests, more, got, 2*(sent+more), lost, lost/2/tracesPerSecond)
}

// SIGTERM inside a bucket, twice, each as soon as all that was sent had arrived, and a start each time: the sums are exact.
func TestSpanMetricsStoppedInsideABucket(t *testing.T) {
	t.Parallel()
	s := startShop(t)
	bucketWithin(t, 30*time.Second)
	all := 0
	for range 2 {
		l := s.load()
		until(t, "loaded", 30*time.Second, func() bool { return s.spans() > tracesPerSecond })
		all += s.finish(l)
		s.stop()
		s.startAgain()
	}
	until(t, "emitted", 2*time.Minute, func() bool { return s.sums()["span.service.requests web"] >= float64(all) })
	s.delivered()
	requireAll(t, s.sums(), all)
}

// The daemon is stopped inside a bucket and started after its end: the bucket is emitted late, with its own time, and once.
func TestSpanMetricsStoppedOverABucketsEnd(t *testing.T) {
	t.Parallel()
	s := startShop(t)
	end := bucketWithin(t, 45*time.Second)
	l := s.load()
	until(t, "loaded", 30*time.Second, func() bool { return s.spans() > tracesPerSecond })
	sent := s.finish(l)
	s.stop()
	require.True(t, time.Now().Before(end), "this machine is too slow: all of it was to be within a bucket")
	require.Empty(t, s.minutes(), "its end is not yet there")
	over := time.NewTimer(time.Until(end.Add(time.Second)))
	defer over.Stop()
	<-over.C

	s.startAgain()
	sums := s.bucket(end)
	requireAll(t, sums, sent)
	assert.InDelta(t, 1, s.value(`veneur_span_metrics_late_buckets_total\{interval="1m"\}`), 0)
	s.stop()

	// Another start finds nothing of it.
	s.startAgain()
	until(t, "flushed", 15*time.Second, func() bool { return s.value(`veneur_flush_flushes_total`) >= 2 })
	assert.Equal(t, sums, s.bucket(end))
	t.Logf("sent %d traces; emitted late: %v", sent, sums["span.service.requests web"])
}
