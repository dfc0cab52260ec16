package telemetry

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"
)

// reporter runs a Statsd; stop waits for its last report.
func reporter(t *testing.T, r *Registry, address string, interval time.Duration) (stop func()) {
	t.Helper()
	log, _ := logtest.NewNullLogger()
	s, err := NewStatsd(StatsdSettings{
		Config:   Config{StatsAddress: address, VeneurMetricsAdditionalTags: []string{"host:me"}},
		Registry: r, Interval: interval, Log: log,
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	return func() {
		cancel()
		require.NoError(t, <-done)
	}
}

// last makes a report as at the end of a daemon, which has little time, and makes another as long as a busy machine has not found it: a
// reporter has everything to say.
func last(t *testing.T, r *Registry, address string) {
	t.Helper()
	failed := func() float64 {
		return r.Value("stats.errors", "reason:dial") + r.Value("stats.errors", "reason:write")
	}
	for range 100 {
		before := failed()
		reporter(t, r, address, time.Hour)()
		if failed() == before {
			return
		}
	}
	require.Fail(t, "no last report is made in time")
}

// receive reads datagrams until the lines hold every wanted one, and returns all of them.
func receive(t *testing.T, conn net.PacketConn, want ...string) []string {
	t.Helper()
	var lines []string
	buf := make([]byte, 65536)
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
	for {
		n, _, err := conn.ReadFrom(buf)
		require.NoError(t, err, "received so far: %q", lines)
		lines = append(lines, strings.Split(strings.TrimSuffix(string(buf[:n]), "\n"), "\n")...)
		if !slices.ContainsFunc(want, func(w string) bool { return !slices.Contains(lines, w) }) {
			return lines
		}
	}
}

var (
	testLines  = Desc{Name: "ingest.lines", Kind: Counter, Tags: []string{"listener"}}
	testSeries = Desc{Name: "series", Kind: Gauge}
)

func TestStatsdSendsDeltasAndGauges(t *testing.T) {
	for _, network := range []string{"udp", "unixgram"} {
		t.Run(network, func(t *testing.T) {
			address, prefix := "127.0.0.1:0", ""
			if network == "unixgram" {
				address, prefix = filepath.Join(t.TempDir(), "s"), "unix://"
			}
			conn, err := net.ListenPacket(network, address)
			require.NoError(t, err)
			defer conn.Close()

			r := New()
			r.Counter(&testLines, "udp|1").Add(5)
			r.Gauge(&testSeries).Set(2.5)
			stop := reporter(t, r, prefix+conn.LocalAddr().String(), 20*time.Millisecond)
			receive(t, conn, "veneur.ingest.lines:5|c|#host:me,listener:udp_1", "veneur.series:2.5|g|#host:me")
			r.Counter(&testLines, "udp|1").Add(3)
			receive(t, conn, "veneur.ingest.lines:3|c|#host:me,listener:udp_1")
			require.Positive(t, r.Value("stats.payloads"))
			require.Zero(t, r.Value("stats.errors"))
			stop()
		})
	}
}

func TestStatsdReportsOnceMoreAtTheEnd(t *testing.T) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer conn.Close()
	r := New()
	r.Counter(&testLines, "x").Add(1 << 40)
	last(t, r, "udp://"+conn.LocalAddr().String())
	receive(t, conn, "veneur.ingest.lines:1099511627776|c|#host:me,listener:x")
}

func TestStatsdFramesOnAStream(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	ln, err := net.Listen("unix", path)
	require.NoError(t, err)
	defer ln.Close()
	r := New()
	for i := range 400 {
		r.Counter(&testLines, fmt.Sprint("listener ", i)).Add(1)
	}
	stop := reporter(t, r, "unix://"+path, 10*time.Millisecond)

	conn, err := ln.Accept()
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
	lines, frames := 0, 0
	for lines < 400 {
		var size uint32
		require.NoError(t, binary.Read(conn, binary.LittleEndian, &size))
		require.LessOrEqual(t, size, uint32(8192))
		payload := make([]byte, size)
		_, err := io.ReadFull(conn, payload)
		require.NoError(t, err)
		lines += strings.Count(string(payload), "|c|#host:me,listener:listener ")
		frames++
	}
	require.Equal(t, 400, lines)
	require.Greater(t, frames, 1)
	stop()
	_, err = io.ReadAll(conn) // to its end
	require.NoError(t, err)
}

func TestStatsdWithoutAReceiverKeepsCountersForTheNextReport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	r := New()
	r.Counter(&testLines, "x").Add(7)
	stop := reporter(t, r, "unix://"+path, 10*time.Millisecond)
	defer stop()
	require.Eventually(t, func() bool { return r.Value("stats.errors", "reason:dial") > 1 }, time.Minute, time.Millisecond)

	conn, err := net.ListenPacket("unixgram", path)
	require.NoError(t, err)
	receive(t, conn, "veneur.ingest.lines:7|c|#host:me,listener:x")

	// The receiver starts anew.
	require.NoError(t, conn.Close())
	require.NoError(t, os.Remove(path))
	require.Eventually(t, func() bool { return r.Value("stats.errors", "reason:write") > 0 }, time.Minute, time.Millisecond)
	failed := r.Value("stats.errors", "reason:dial")
	require.Eventually(t, func() bool { return r.Value("stats.errors", "reason:dial") > failed }, time.Minute, time.Millisecond)
	r.Counter(&testLines, "x").Add(2)
	conn, err = net.ListenPacket("unixgram", path)
	require.NoError(t, err)
	defer conn.Close()
	receive(t, conn, "veneur.ingest.lines:2|c|#host:me,listener:x")
}

// deaf returns a registry with more to say than a socket takes that nobody reads, and the address of one.
func deaf(t *testing.T) (r *Registry, address string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	conn, err := net.ListenPacket("unixgram", path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	r = New()
	for i := range 1000 {
		r.Counter(&testLines, fmt.Sprint(strings.Repeat("listener ", 100), i)).Add(1)
	}
	return r, "unix://" + path
}

// atTheEnd is what the end of the daemon gives a report, and as much again for a machine that is not quite idle.
const atTheEnd = 2 * (statsdCutTimeout + statsdLastTimeout)

// requireInTime asks that begin's stop takes no longer than the end of the daemon has time for. A busy machine gets more than one chance.
func requireInTime(t *testing.T, begin func(r *Registry, address string) (stop func())) {
	t.Helper()
	var took time.Duration
	for range 20 {
		r, address := deaf(t)
		stop := begin(r, address)
		from := time.Now()
		stop()
		took = time.Since(from)
		require.Positive(t, r.Value("stats.errors", "reason:write"))
		if took < atTheEnd {
			return
		}
	}
	require.Fail(t, "the end takes too long", "%s", took)
}

func TestStatsdReceiverThatHangsHoldsNothingUp(t *testing.T) {
	requireInTime(t, func(r *Registry, address string) func() { return reporter(t, r, address, time.Hour) })
}

func TestStatsdReportUnderWayHoldsNothingUp(t *testing.T) {
	requireInTime(t, func(r *Registry, address string) func() {
		stop := reporter(t, r, address, 10*time.Millisecond)
		require.Eventually(t, func() bool { return r.Value("stats.payloads") > 0 }, time.Minute, time.Millisecond)
		return stop
	})
}

func TestStatsdMetricThatFitsNoPacketIsCounted(t *testing.T) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer conn.Close()
	r := New()
	r.Counter(&testLines, strings.Repeat("x", 2000)).Add(1)
	r.Counter(&testLines, "y").Add(1)
	last(t, r, conn.LocalAddr().String())
	receive(t, conn, "veneur.ingest.lines:1|c|#host:me,listener:y")
	require.Equal(t, 1.0, r.Value("stats.errors", "reason:too_long"))
}
