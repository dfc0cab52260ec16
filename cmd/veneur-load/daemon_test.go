package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/server/servertest"
)

// do runs the command line against a daemon that it starts, which is this test.
func do(t *testing.T, args string) (code int, stdout, stderr string) {
	t.Helper()
	t.Setenv(beDaemon, "1")
	return doArgs(t, append([]string{"-veneur", os.Args[0]}, strings.Fields(args)...))
}

func doArgs(t *testing.T, args []string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	var out, err strings.Builder
	code = run(ctx, args, &out, &err)
	return code, out.String(), err.String()
}

// A few thousand messages of every protocol over every kind of socket, at a rate at which nothing is lost.
func TestWholeDaemon(t *testing.T) {
	for _, tt := range []struct {
		name, args string
		want       sentFigures // bytes are not looked at
		sums       sums
	}{
		{"udp", "-rate 20k -count 3k", sentFigures{Messages: 3000, Samples: 3000, Packets: 3000}, sums{Counters: 9000}},
		{
			"udp, two senders and readers, all kinds", "-senders 2 -readers 2 -rate 50k -count 4k -series 200 -mix c:4,g:2,ms:3,s:1",
			sentFigures{Messages: 4000, Samples: 4000, Packets: 4000},
			sums{Counters: 4800, Timings: 1200, Gauges: 40, Sets: 20},
		},
		{"udp trains", "-gso -bytes 1400 -rate 50k -count 7k", sentFigures{Messages: 7000, Samples: 7000, Packets: 200}, sums{Counters: 21_000}},
		{"unixgram, and stalls", "-network unixgram -bytes 1400 -stalls -rate 100k -count 7k -interval 100ms", sentFigures{Messages: 7000, Samples: 7000, Packets: 200}, sums{Counters: 21_000}},
		{"unix", "-network unix -lines 10 -count 5k -mix ms", sentFigures{Messages: 5000, Samples: 5000, Packets: 500}, sums{Timings: 5000}},
		{"tcp", "-network tcp -lines 10 -count 5k", sentFigures{Messages: 5000, Samples: 5000, Packets: 500}, sums{Counters: 15_000}},
		{"spans over udp", "-ssf typical -span-sink -mix ms -rate 20k -count 2k", sentFigures{Messages: 2000, Samples: 2000, Packets: 2000}, sums{Timings: 2000}},
		{"spans over tcp", "-network tcp -ssf heavy -lines 4 -count 1k", sentFigures{Messages: 1000, Samples: 5000, Packets: 250}, sums{Counters: 15_000}},
		{"trees over udp", "-ssf tree -span-sink -rate 20k -count 1800", sentFigures{Messages: 1800, Packets: 1800}, sums{}},
		{"trees over unix", "-network unix -ssf tree -lines 9 -senders 2 -count 20k", sentFigures{Messages: 20_016, Packets: 2224}, sums{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := do(t, "-json -duration 30s "+tt.args)
			require.Equal(t, exitOK, code, "%s%s", stdout, stderr)
			require.Empty(t, stderr)
			var r report
			require.NoError(t, json.Unmarshal([]byte(stdout), &r))
			require.True(t, r.Exact)
			require.Empty(t, r.Problems)
			require.Zero(t, r.Lost)
			tt.want.Bytes = r.Sent.Bytes
			require.Equal(t, tt.want, r.Sent)
			require.Equal(t, tt.want.Messages, r.Received.messages())
			require.Equal(t, tt.want.Samples, r.Received.Samples)
			require.Equal(t, strings.Contains(tt.args, "-stalls"), r.Stalls != nil)
			require.NotNil(t, r.Sums)
			if r.Received.Flushes == 0 { // a gauge has a point a flush
				require.Equal(t, tt.sums, *r.Sums)
			}
			if runtime.GOOS == "linux" {
				require.NotNil(t, r.Daemon)
				require.Positive(t, r.Daemon.RSSPeak)
			}
		})
	}
}

func TestARunningDaemon(t *testing.T) {
	d := servertest.Start(t, `
http_address: 127.0.0.1:0
interval: 1h
statsd_listen_addresses: ["udp://127.0.0.1:0"]
metric_sinks: [{kind: blackhole}]`)
	args := []string{"-target", d.Addr("DogStatsD", "udp://"), "-admin", "http://" + d.Server.AdminAddr(), "-rate", "20k", "-count", "2k"}
	code, stdout, stderr := doArgs(t, append(args, "-settle", "1ms"))
	require.Equal(t, exitOK, code, "%s%s", stdout, stderr)
	require.Contains(t, stdout, "sent      2,000 lines, 2,000 samples, 2,000 packets")
	require.Contains(t, stdout, "lost      0 lines; the kernel dropped 0 packets; 0 refused")
	require.Contains(t, stdout, "exact     everything sent is accounted for")
	require.NotContains(t, stdout, "cpu", "whose process it is nobody knows")
	require.InDelta(t, 2000, d.Value("ingest.lines"), 0)

	code, stdout, _ = doArgs(t, append(args, "-pid", "1", "-mix", "c,s"))
	require.Equal(t, exitOK, code, stdout)

	t.Run("that somebody else sends to", func(t *testing.T) {
		stop := make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			conn := d.Dial("DogStatsD", "udp")
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					_, _ = conn.Write([]byte("a:1|c"))
				}
			}
		}()
		before := d.Value("ingest.lines")
		d.Await(before+1, "ingest.lines")
		code, stdout, stderr := doArgs(t, args)
		close(stop)
		<-done
		require.Equal(t, exitFailure, code, stderr)
		require.Contains(t, stdout, "WRONG")
		require.Contains(t, stdout, "does anybody else send to it?")
	})

	require.NoError(t, d.Stop())
	code, _, stderr = doArgs(t, args)
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "veneur-load: ")
	require.Contains(t, stderr, "refused")
}

func TestADaemonThatDoesNotStart(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	code, _, stderr := doArgs(t, []string{"-veneur", filepath.Join(t.TempDir(), "none")})
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "no such file")

	code, _, stderr = do(t, "-interval 1ns")
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "it did not start: exit status 1")
	require.Contains(t, stderr, "interval: 1ns is not between")
	leftovers, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, leftovers)
}

func TestAnInterrupt(t *testing.T) {
	t.Setenv(beDaemon, "1")
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	var out, err strings.Builder
	require.Equal(t, exitFailure, run(ctx, []string{"-veneur", os.Args[0], "-rate", "100", "-duration", "1h"}, &out, &err))
	require.Contains(t, err.String(), "context canceled")
}

func TestDropsEndALoad(t *testing.T) {
	drops := 5
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "veneur_ingest_kernel_drops_total{listener=\"a\"} %d\n", drops)
		drops++
	}))
	defer server.Close()
	a := newAdmin(server.URL)
	defer a.close()
	ctx, found := context.WithCancel(t.Context())
	watchDrops(ctx, a, counters{KernelDrops: 5}, found)
	require.Equal(t, 7, drops, "five are no more than before, six are")
}

func TestLadder(t *testing.T) {
	t.Setenv(beDaemon, "1")
	o, err := parse([]string{"-veneur", os.Args[0], "-ladder", "-only", "^(single|ssf-sink)/1k$"}, nil)
	require.NoError(t, err)
	o.scale = scale{probe: 30 * time.Millisecond, interval: 100 * time.Millisecond, stalls: 50 * time.Millisecond, flushes: 100 * time.Millisecond, series: 10_000}
	o.write = filepath.Join(t.TempDir(), "performance.md")
	var out, progress strings.Builder
	exact, err := o.climb(t.Context(), &out, &progress)
	require.NoError(t, err)
	assert.True(t, exact, out.String())
	require.Regexp(t, `(?m)^\| 1 line \| 1,000 \| [1-9][^|]* \| (\d senders|sender|daemon(, of \d senders)?) \| [^|]+ \| [^|]+ \| exact \|$`, out.String())
	require.Regexp(t, `(?m)^\| SSF typical, and a span sink \| 1,000 \| [1-9]`, out.String())
	require.Equal(t, 2, strings.Count(progress.String(), "\n"), progress.String())
	document, err := os.ReadFile(o.write)
	require.NoError(t, err)
	require.Contains(t, string(document), strings.TrimSpace(out.String()))

	o.json, o.write, o.budget = true, "", 0
	out.Reset()
	_, err = o.climb(t.Context(), &out, &progress)
	require.NoError(t, err)
	var l ladder
	require.NoError(t, json.Unmarshal([]byte(out.String()), &l))
	require.Equal(t, []string{"single/1k", "ssf-sink/1k"}, l.Skipped, "there was no time for them")

	o.rungs, o.json, o.budget = regexp.MustCompile("stall"), false, time.Hour
	out.Reset()
	_, err = o.climb(t.Context(), &out, &progress)
	require.NoError(t, err)
	require.Contains(t, out.String(), "The longest time that the daemon did not read")
}
