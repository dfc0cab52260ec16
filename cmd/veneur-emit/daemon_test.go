package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/server/servertest"
)

// daemon is a whole daemon and the file that it writes.
type daemon struct {
	*servertest.Daemon
	t    *testing.T
	file string
}

// startDaemon runs a daemon that listens everywhere and flushes only when it is stopped.
func startDaemon(t *testing.T) *daemon {
	t.Helper()
	d := &daemon{t: t, file: filepath.Join(t.TempDir(), "out.ndjson")}
	d.Daemon = servertest.Start(t, fmt.Sprintf(`
interval: 1h
percentiles: []
aggregates: [count, sum]
statsd_listen_addresses: ["udp://127.0.0.1:0", "udp6://[::1]:0", "tcp://127.0.0.1:0", "unix://${DIR}/1", "unixgram://${DIR}/2"]
ssf_listen_addresses: ["udp://127.0.0.1:0", "udp6://[::1]:0", "tcp://127.0.0.1:0", "unix://${DIR}/3", "unixgram://${DIR}/4"]
grpc_listen_addresses: ["127.0.0.1:0", "[::1]:0"]
metric_sinks: [{kind: localfile, name: out, config: {path: %[1]s, format: ndjson}}]
span_sinks: [{kind: localfile, name: out, config: {path: %[1]s, format: ndjson}}]
`, d.file))
	return d
}

// hostports returns where the daemon takes what the protocol and gRPC carry, by a word for each.
func (d *daemon) hostports(protocol string) map[string]string {
	all := map[string]string{}
	for _, a := range d.Server.Addrs() {
		if a.Protocol != protocol && a.Protocol != "gRPC" {
			continue
		}
		name, where, _ := strings.Cut(a.Address, "://")
		if a.Protocol == "gRPC" {
			name = "grpc"
		}
		hostport := name + "://" + where
		if where[0] == '[' {
			name += ".v6"
		}
		all[name] = hostport
	}
	return all
}

// stop ends the daemon and returns what it has written. Everything that was sent must have been good.
func (d *daemon) stop() []servertest.Record {
	d.t.Helper()
	require.NoError(d.t, d.Stop())
	require.Zero(d.t, d.Value("ingest.refused"), "%s", d.Log)
	return servertest.Records(d.t, d.file)
}

// Whatever a sender looks like, the daemon gets what was meant, whole and once, over every transport.
func TestEverythingArrives(t *testing.T) {
	d := startDaemon(t)
	lines, spans := d.hostports("DogStatsD"), d.hostports("SSF")
	require.Len(t, lines, 7)
	require.Len(t, spans, 7)
	want := map[string]float64{}
	for name, hostport := range lines {
		to := []string{"-hostport", hostport}
		requireSent(t, emit(t, append(to, "-name", "lines."+name, "-count", "16777217", "-timing", "1500ms", "-tag", "b:2,a")...))
		requireSent(t, emit(t, append(to, "-name", "set."+name, "-set", "x:y")...))
		requireSent(t, emit(t, append(to, "-name", "gauge."+name, "-gauge", "0.1")...))
		requireSent(t, emitWith(t, "pipe."+name+":1|c\npipe."+name+":2|c", nil, append(to, "-")...))
		requireSent(t, emit(t, append(to, "-e_title", name, "-e_text", `über|\nden Rand`, "-e_alert_type", "error", "-tag", "x:y")...))
		requireSent(t, emit(t, append(to, "-sc_name", name, "-sc_status", "warning", "-sc_msg", `a\nb|c`, "-sc_hostname", "h")...))
		want["set."+name], want["pipe."+name], want["gauge."+name] = 1, 3, 0.1
		want["lines."+name+".count"], want["lines."+name+".sum"] = 1, 1500
	}
	for name, hostport := range spans {
		to := []string{"-ssf", "-hostport", hostport}
		requireSent(t, emit(t, append(to, "-name", "span."+name, "-count", "16777217", "-tag", "b:2,a:1")...))
		requireSent(t, emit(t, append(to, "-name", "timed."+name, "-timing", "1500ms", "-set", "m")...))
		requireSent(t, emit(t, append(to, "-name", name, "-trace_id", "7", "-span_tags", "x:y", "-error")...))
		want["span."+name] = 16777217 // B067
		want["timed."+name+".count"], want["timed."+name+".sum"] = 1, 1500
	}
	records := d.stop()
	totals := servertest.Totals(records)
	for name, value := range want {
		require.Equal(t, value, totals[name], name)
	}
	for name := range lines {
		require.Equal(t, 16777217.0, value(t, records, "lines."+name, "counter", "a,b:2"))
	}
	for name := range spans {
		require.Equal(t, 16777217.0, value(t, records, "span."+name, "counter", "a:1,b:2"))
	}
	counts := map[string]int{}
	for _, r := range records {
		counts[r.Kind]++
		switch r.Kind {
		case "event":
			require.Contains(t, lines, r.Title)
			require.Equal(t, []string{"über|\nden Rand", "error", "normal", "x:y"}, []string{r.Text, r.AlertType, r.Priority, r.TagList()})
		case "service_check":
			require.Contains(t, lines, r.Name)
			require.Equal(t, []any{1, "a\nb_c", "h"}, []any{r.Status, r.Message, r.Host})
		case "span":
			require.Contains(t, spans, r.Name)
			require.Equal(t, []any{"7", "0", "veneur-emit", true}, []any{r.TraceID, r.ParentID, r.Service, r.Error})
			require.JSONEq(t, `{"x":"y"}`, string(r.Tags))
		}
	}
	require.Equal(t, []int{7, 7, 7}, []int{counts["event"], counts["service_check"], counts["span"]})
}

// value returns the value of the one metric of that name, type and tags.
func value(t *testing.T, records []servertest.Record, name, kind, tags string) float64 {
	t.Helper()
	var values []float64
	for _, r := range records {
		if r.Kind == "metric" && r.Name == name && r.Type == kind && r.TagList() == tags {
			values = append(values, r.Value)
		}
	}
	require.Len(t, values, 1, "%s %s %s", name, kind, tags)
	return values[0]
}

// B012 B131: whatever stands in names, tags and members, the daemon sees exactly one sample, and the same one over both protocols.
func TestB012B131HostileTextMakesOneSample(t *testing.T) {
	t.Parallel()
	hostile := []string{
		"k:v\nx:9|c", "k:v\r\nx:9|c\r\n", "a|b", "a:1|c\nb", "_e{1,1}:a|b", "_sc|a|0", "\x00", "\xff\xfe", "a\u2028b", "|", ":", "|#", "@0.1", "|@0.1|#x",
		"a\x1b[31m", "veneurlocalonly", "日本\n",
	}
	d := startDaemon(t)
	lines, spans := d.hostports("DogStatsD"), d.hostports("SSF")
	samples := 0.0
	for _, text := range hostile {
		for _, args := range [][]string{
			{"-name", text, "-count", "1"},
			{"-name", "tag", "-count", "1", "-tag", "k:" + text},
			{"-name", "set", "-set", text},
		} {
			for _, to := range [][]string{{"-hostport", lines["udp"]}, {"-hostport", lines["tcp"]}, {"-ssf", "-hostport", spans["udp"]}, {"-ssf", "-hostport", spans["grpc"]}} {
				requireSent(t, emit(t, append(to, args...)...))
				samples++
			}
		}
		requireSent(t, emit(t, "-hostport", lines["udp"], "-e_title", text, "-e_text", text, "-e_hostname", text, "-e_aggr_key", text, "-e_source_type", text, "-e_event_tags", text))
		requireSent(t, emit(t, "-hostport", lines["udp"], "-sc_name", text, "-sc_status", "0", "-sc_hostname", text, "-sc_msg", text, "-sc_tags", text))
	}
	each := samples / 3
	n := float64(len(hostile))
	d.Await(samples/2, "ingest.samples")
	d.Await(n, "ingest.checks")
	records := d.stop()
	require.Equal(t, samples/2, d.Value("ingest.samples"))
	require.Equal(t, samples/2, d.Value("ingest.span_samples"))
	require.Equal(t, []float64{n, n}, []float64{d.Value("ingest.events"), d.Value("ingest.checks")})
	names, tagged := 0.0, 0.0
	for _, r := range records {
		if r.Kind != "metric" || r.Name == "set" {
			continue
		}
		// Each series was sent four times, or a multiple where two texts are cleaned to the same.
		require.Zero(t, int(r.Value)%4, "%+v", r)
		if r.Name == "tag" {
			tagged += r.Value
		} else {
			names += r.Value
		}
	}
	require.Equal(t, []float64{each, each}, []float64{names, tagged})
}

// A tree of two: the inner veneur-emit learns of the outer one by the environment, and a failure shows in both.
func TestATreeOfTwoCommands(t *testing.T) {
	d := startDaemon(t)
	to := d.hostports("SSF")["unix"]
	inner := process(t, "-ssf", "-hostport", to, "-name", "inner", "-command", "sh", "-c", "exit 3").Args
	args := append([]string{"-ssf", "-hostport", to, "-name", "outer", "-trace_id", "77", "-span_service", "tree", "-command"}, inner...)
	environ := append(os.Environ(), envMain+"=1", envParentID+"=5") // of another trace
	require.Equal(t, result{code: 3}, emitWith(t, "", environ, args...))
	requireSent(t, emitWith(t, "", environ, "-ssf", "-hostport", to, "-name", "fine", "-trace_id", "78", "-command", "true"))

	spans := map[string]servertest.Record{}
	for _, r := range d.stop() {
		if r.Kind == "span" {
			spans[r.Name] = r
		}
	}
	require.Len(t, spans, 3)
	outer, child, fine := spans["outer"], spans["inner"], spans["fine"]
	require.Equal(t, []any{"77", "0", "tree", true}, []any{outer.TraceID, outer.ParentID, outer.Service, outer.Error})
	require.Equal(t, []any{"77", outer.ID, "veneur-emit", true}, []any{child.TraceID, child.ParentID, child.Service, child.Error})
	require.NotEqual(t, outer.ID, child.ID)
	require.LessOrEqual(t, outer.StartNS, child.StartNS)
	require.Less(t, child.StartNS, child.EndNS)
	require.LessOrEqual(t, child.EndNS, outer.EndNS)
	require.False(t, fine.Error)
}

// B133: a span can only say key and value, and a bare tag has an empty one there.
func TestB133BareTags(t *testing.T) {
	d := startDaemon(t)
	requireSent(t, emit(t, "-hostport", d.hostports("DogStatsD")["tcp"], "-name", "line", "-count", "1", "-tag", "foo"))
	requireSent(t, emit(t, "-ssf", "-hostport", d.hostports("SSF")["tcp"], "-name", "span", "-count", "1", "-tag", "foo"))
	records := d.stop()
	require.Equal(t, 1.0, value(t, records, "line", "counter", "foo"))
	require.Equal(t, 1.0, value(t, records, "span", "counter", "foo:"))
}

// proxy is a web proxy that knows nothing but CONNECT.
type proxy struct {
	net.Listener
	targets chan string
	answer  string // instead of connecting
	header  chan http.Header
}

func startProxy(t *testing.T, answer string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{l, make(chan string, 10), answer, make(chan http.Header, 10)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.serve(conn)
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return p
}

func (p *proxy) serve(conn net.Conn) {
	defer conn.Close()
	reader := bufio.NewReader(conn)
	request, err := http.ReadRequest(reader)
	if err != nil || request.Method != http.MethodConnect {
		return
	}
	p.targets <- request.Host
	p.header <- request.Header
	if p.answer != "" {
		io.WriteString(conn, p.answer)
		return
	}
	to, err := net.Dial("tcp", request.Host)
	if err != nil {
		return
	}
	defer to.Close()
	io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
	back := make(chan struct{})
	go func() {
		defer close(back)
		io.Copy(conn, to)
		conn.Close()
	}()
	io.Copy(to, reader)
	to.Close()
	<-back
}

func TestThroughAProxy(t *testing.T) {
	d := startDaemon(t)
	through := startProxy(t, "")
	to := d.hostports("SSF")["grpc"]
	where := strings.TrimPrefix(to, "grpc://")
	for _, tt := range []struct{ name, proxy, authorization string }{
		{"host and port", through.Addr().String(), ""},
		{"url", "http://" + through.Addr().String(), ""},
		{"user and password", "http://me:s%3Acret@" + through.Addr().String() + "/", "Basic bWU6czpjcmV0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, args := range [][]string{{"-name", "line", "-count", "1"}, {"-ssf", "-name", "span", "-count", "1"}} {
				// The environment names no proxy for us: that would be one for the web.
				environ := []string{"HTTPS_PROXY=http://127.0.0.1:1", "https_proxy=http://127.0.0.1:1"}
				requireSent(t, emitWith(t, "", environ, append([]string{"-grpc", "-hostport", where, "-proxy", tt.proxy}, args...)...))
				require.Equal(t, where, <-through.targets)
				require.Equal(t, tt.authorization, (<-through.header).Get("Proxy-Authorization"))
			}
		})
	}
	totals := servertest.Totals(d.stop())
	require.Equal(t, []float64{3, 3}, []float64{totals["line"], totals["span"]})
}
