package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The test binary is the daemon when this is set: signals and exit codes are those of a real process.
const beDaemon = "VENEUR_TEST_BE_DAEMON"

func TestMain(m *testing.M) {
	if os.Getenv(beDaemon) == "" {
		os.Exit(m.Run())
	}
	os.Unsetenv(beDaemon)
	main()
}

const patience = time.Minute

// process is a daemon in a process of its own.
type process struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr output
}

// output collects what a process prints.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func start(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(os.Args[0], args...)}
	p.cmd.Env = append(append(os.Environ(), beDaemon+"=1"), env...)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	return p
}

// wait returns the exit code.
func (p *process) wait() int {
	p.t.Helper()
	timer := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
	defer timer.Stop()
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) stop() int {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(syscall.SIGTERM))
	return p.wait()
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.Now().Add(patience)
	for !f() {
		if time.Now().After(deadline) {
			require.FailNow(t, "gave up waiting for "+what)
		}
		<-ticker.C
	}
}

var listening = regexp.MustCompile(`listening for (\w+) on (\w+)://([^"\s]+)`)

// addr returns where the daemon says that it listens.
func (p *process) addr(protocol, network string) string {
	p.t.Helper()
	var addr string
	eventually(p.t, protocol+" on "+network+"\n"+p.stderr.String(), func() bool {
		for _, m := range listening.FindAllStringSubmatch(p.stderr.String(), -1) {
			if m[1] == protocol && m[2] == network {
				addr = m[3]
			}
		}
		return addr != ""
	})
	return addr
}

var serving = regexp.MustCompile(`on (http://[^"\s]+)`)

func (p *process) url() string {
	p.t.Helper()
	p.addr("DogStatsD", "udp")
	var url string
	eventually(p.t, "http", func() bool {
		if m := serving.FindStringSubmatch(p.stderr.String()); m != nil {
			url = m[1]
		}
		return url != ""
	})
	return url
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	response, err := http.Get(url)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(body)
}

func send(t *testing.T, network, addr, packet string) {
	t.Helper()
	conn, err := net.Dial(network, addr)
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, packet)
	require.NoError(t, err)
}

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "veneur.yaml")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// noFixedPorts moves the listeners of the built-in defaults to ports that the system chooses.
var noFixedPorts = []string{
	"VENEUR_STATSD_LISTEN_ADDRESSES=udp://127.0.0.1:0,tcp://127.0.0.1:0",
	"VENEUR_SSF_LISTEN_ADDRESSES=udp://127.0.0.1:0",
	"VENEUR_HTTP_ADDRESS=127.0.0.1:0",
}

// do runs the program in this process, for what it prints and returns at once.
func do(t *testing.T, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var out, err bytes.Buffer
	code = run(ctx, args, environ, &out, &err)
	require.NoError(t, ctx.Err(), "it should have returned by itself")
	return code, out.String(), err.String()
}

func TestWithoutAFileItPrintsWhatArrives(t *testing.T) {
	p := start(t, append(noFixedPorts, "VENEUR_INTERVAL=100ms"))
	send(t, "udp", p.addr("DogStatsD", "udp"), "a.b:3|c|#x:y")
	table := regexp.MustCompile(`(?m)^NAME +TYPE +VALUE +TAGS\na\.b +counter +3 +x:y$`)
	eventually(t, "the table", func() bool { return table.MatchString(p.stdout.String()) })
	require.NotContains(t, p.stdout.String(), "\x1b", "no colours into a pipe")
	require.Equal(t, 0, p.stop())
}

func TestB125TheLastIntervalIsFlushedAtAStop(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out.ndjson")
			p := start(t, nil, "-f", file(t, `
interval: 1h
statsd_listen_addresses: ["udp://127.0.0.1:0"]
metric_sinks: [{kind: localfile, name: out, config: {path: `+out+`}}]`))
			send(t, "udp", p.addr("DogStatsD", "udp"), "a:1|c")
			began := time.Now()
			require.NoError(t, p.cmd.Process.Signal(signal))
			require.Equal(t, 0, p.wait(), "B122: %s", p.stderr.String())
			require.Less(t, time.Since(began), 30*time.Second) // ten, and what a busy machine needs
			data, err := os.ReadFile(out)
			require.NoError(t, err)
			require.Contains(t, string(data), `"name":"a"`)
		})
	}
}

func TestAReaderOfTheTablesThatGoesAwayDoesNotEndIt(t *testing.T) {
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	p := &process{t: t, cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(append(os.Environ(), beDaemon+"=1", "VENEUR_INTERVAL=50ms"), noFixedPorts...)
	p.cmd.Stdout, p.cmd.Stderr = writer, &p.stderr
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	require.NoError(t, writer.Close())
	require.NoError(t, reader.Close())
	url := p.url()
	send(t, "udp", p.addr("DogStatsD", "udp"), "a:1|c")
	eventually(t, "the sink to fail", func() bool {
		_, body := get(t, url+"/ready")
		return strings.Contains(body, "debug")
	})
	require.Equal(t, 0, p.stop())
}

func TestB151ASecondDaemonOnAPortIsRefused(t *testing.T) {
	first := start(t, noFixedPorts)
	addr := first.addr("DogStatsD", "udp")
	second := start(t, nil, "-f", file(t, `
num_readers: 2
statsd_listen_addresses: ["udp://`+addr+`"]
metric_sinks: [{kind: blackhole}]`))
	require.Equal(t, 1, second.wait())
	require.Contains(t, second.stderr.String(), addr)
	require.Contains(t, second.stderr.String(), "in use")
	require.Equal(t, 1, strings.Count(second.stderr.String(), "\n"), "one clear line:\n%s", second.stderr.String())

	url := first.url()
	for range 100 {
		send(t, "udp", addr, "a:1|c")
	}
	eventually(t, "all of them in the first", func() bool {
		_, metrics := get(t, url+"/metrics")
		return strings.Contains(metrics, "veneur_ingest_lines_total 100\n")
	})
	require.Equal(t, 0, first.stop())
}

func TestB074ASecondDaemonOnASocketIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "statsd.sock")
	config := file(t, `
statsd_listen_addresses: ["unixgram://`+path+`"]
metric_sinks: [{kind: blackhole}]`)
	first := start(t, nil, "-f", config)
	first.addr("DogStatsD", "unixgram")
	second := start(t, nil, "-f", config)
	require.Equal(t, 1, second.wait())
	require.Equal(t, 1, strings.Count(second.stderr.String(), "\n"), "one clear line:\n%s", second.stderr.String())
	require.Contains(t, second.stderr.String(), path)
	send(t, "unixgram", path, "a:1|c")
	require.Equal(t, 0, first.stop())
	require.NoFileExists(t, path, "B075")
}

func TestB073AStaleSocketIsTakenOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "statsd.sock")
	config := file(t, `
statsd_listen_addresses: ["unixgram://`+path+`"]
metric_sinks: [{kind: blackhole}]`)
	killed := start(t, nil, "-f", config)
	killed.addr("DogStatsD", "unixgram")
	require.NoError(t, killed.cmd.Process.Kill())
	killed.wait()
	require.FileExists(t, path)
	next := start(t, nil, "-f", config)
	next.addr("DogStatsD", "unixgram")
	send(t, "unixgram", path, "a:1|c")
	require.Equal(t, 0, next.stop())
}

func TestEveryBindFaultIsALine(t *testing.T) {
	first := start(t, noFixedPorts)
	udp, tcp := first.addr("DogStatsD", "udp"), first.addr("DogStatsD", "tcp")
	second := start(t, nil, "-f", file(t, `
statsd_listen_addresses: ["udp://`+udp+`", "tcp://`+tcp+`"]
metric_sinks: [{kind: blackhole}]`))
	require.Equal(t, 1, second.wait())
	lines := strings.Split(strings.TrimSpace(second.stderr.String()), "\n")
	require.Len(t, lines, 2, "%s", second.stderr.String())
	require.Contains(t, lines[0], udp)
	require.Contains(t, lines[1], tcp)
}

func TestHTTP(t *testing.T) {
	p := start(t, append(noFixedPorts, "VENEUR_HTTP_QUIT=true"))
	url := p.url()
	for path, want := range map[string]int{
		"/healthcheck": 200, "/ready": 200, "/version": 200, "/builddate": 200, "/metrics": 200,
		"/config": 200, "/config/json": 200, "/config/yaml": 200, "/debug/pprof/": 404, "/nowhere": 404,
	} {
		code, _ := get(t, url+path)
		require.Equal(t, want, code, path)
	}
	response, err := http.Post(url+"/quitquitquit", "", nil)
	require.NoError(t, err)
	response.Body.Close()
	require.Equal(t, 0, p.wait())
}

func TestB113ValidateOpensNothing(t *testing.T) {
	holder := start(t, noFixedPorts)
	addr := holder.addr("DogStatsD", "udp")
	config := file(t, `
statsd_listen_addresses: ["udp://`+addr+`"]
metric_sinks: [{kind: localfile, config: {path: /no/such/folder/out}}]`)
	for _, flag := range []string{"-validate-config", "-validate-config-strict"} { // nothing is printed either
		code, stdout, stderr := do(t, nil, "-f", config, flag)
		require.Equal(t, 0, code, "%s", stderr)
		require.Empty(t, stdout+stderr)
	}
}

func TestB115FaultsAreShownAtOnce(t *testing.T) {
	tests := []struct{ name, yaml, want string }{
		{"unknown key", "intervall: 10s", `line 1: intervall: unknown key; did you mean interval?`},
		{"unknown kind", "metric_sinks: [{kind: nosuch}]", `metric_sinks[0].kind: "nosuch" is none of debug,`},
		{"aggregate that is none", "aggregates: [p99]", `aggregates[0]: "p99" is none of`},
		{"two sinks of one name", "metric_sinks: [{kind: debug}, {kind: debug}]", `metric_sinks[1].name: "debug" is the name of the sink at index 0 already`},
		{"metrics into a kind of sink for none", "span_sinks: [{kind: prometheus}]", `span_sinks[0].kind: prometheus takes no spans`},
		{"route to nowhere", "metric_sink_routing: [{match: [{name: {kind: any}}], sinks: {matched: [x]}}]", `no metric sink is named "x"`},
		{"B116 interval", "interval: -1s", "line 1: interval: -1s is not between"},
		{"B118 address", `statsd_listen_addresses: ["http://x:1"]`, "line 1: statsd_listen_addresses[0]"},
		{"forwarding", "forward_address: global:8128", "line 1: forward_address: forwarding to a global daemon comes with version"},
		{"sources", "sources: [{kind: openmetrics}]", "line 1: sources: "},
		{"B121 a key twice", "interval: 1s\ninterval: 2s", "line 2:"},
		{"B121 a tab", "interval:\n\t- x", "line 2:"},
		{"B121 nothing", "", "empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, _, stderr := do(t, nil, "-f", file(t, tt.yaml), "-validate-config")
			require.Equal(t, 1, code)
			require.Contains(t, stderr, tt.want)
		})
	}
	t.Run("all of them", func(t *testing.T) {
		code, _, stderr := do(t, nil, "-f", file(t, "intervall: 1s\naggregates: [p99]\nmetric_sinks:\n  - kind: localfile\n"), "-validate-config")
		require.Equal(t, 1, code)
		require.Equal(t, 3, strings.Count(stderr, "\n"), "%s", stderr)
		require.Contains(t, stderr, "line 4: metric_sinks[0].config.path: must be set")
	})
}

func TestFaultsOfBuildingAreAmongTheOthers(t *testing.T) {
	code, _, stderr := do(t, nil, "-f", file(t, `num_workers: 1
metric_sinks:
  - kind: prometheus
    max_tags: -1
    config: {listen_address: "127.0.0.1:0", expire_after: 15s}
`), "-validate-config-strict")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "line 4: metric_sinks[0].max_tags: -1 is less than 0")
	require.Regexp(t, `line 5: metric_sinks\[0\]\.config.*expire_after`, stderr)
}

func TestADaemonThatWouldDoNothingSaysSo(t *testing.T) {
	code, _, stderr := do(t, nil, "-f", file(t, "interval: 10s"), "-validate-config-strict")
	require.Equal(t, 0, code)
	require.Contains(t, stderr, "nothing is listened to")
	require.Contains(t, stderr, "metric_sinks: none is listed: every metric is thrown away")
}

func TestEmptyKeysOfTheOriginalAreAccepted(t *testing.T) {
	config := "forward_address: \"\"\ngrpc_address: \"\"\nsources: []\n"
	code, _, stderr := do(t, nil, "-f", file(t, config), "-validate-config")
	require.Equal(t, 0, code, "%s", stderr)
	require.Contains(t, stderr, "line 1: forward_address: is empty and can be removed")
}

func TestStrictTurnsWarningsIntoFaults(t *testing.T) {
	config := file(t, "num_workers: 4\nmetric_sinks: [{kind: blackhole}]")
	code, _, stderr := do(t, nil, "-f", config, "-validate-config")
	require.Equal(t, 0, code)
	require.Contains(t, stderr, "veneur.yaml: line 1: num_workers: has no effect: every reader aggregates what it reads")
	code, _, _ = do(t, nil, "-f", config, "-validate-config-strict")
	require.Equal(t, 1, code)
}

func TestB119EnvironmentWins(t *testing.T) {
	config := file(t, "interval: 10s\nmetric_sinks: [{kind: localfile, name: out, config: {path: a}}]")
	code, stdout, stderr := do(t, []string{
		"VENEUR_INTERVAL=5s", "VENEUR_PERCENTILES=0.5,0.9", "VENEUR_METRIC_SINKS_0_CONFIG_PATH=b", "VENEUR_INTERWAL=1s", "VENEUR_EMIT_TRACE_ID=1",
	}, "-f", config, "-print-config")
	require.Equal(t, 0, code, "%s", stderr)
	require.Contains(t, stdout, "interval: 5s\n")
	require.Contains(t, stdout, "percentiles: [0.5, 0.9]\n")
	require.Contains(t, stdout, "path: b\n")
	require.Contains(t, stderr, "VENEUR_INTERWAL")
	require.NotContains(t, stderr, "VENEUR_EMIT")
}

func TestB120SecretsAreHidden(t *testing.T) {
	const secret = "hunter2-and-more"
	code, stdout, stderr := do(t, []string{"SECRET=" + secret}, "-f", file(t, "tls_key: ${SECRET}\nmetric_sinks: [{kind: debug}]"), "-print-config")
	require.NotContains(t, stdout+stderr, secret)
	_ = code // a key that is none is a fault; what matters is that it does not show
	code, stdout, _ = do(t, nil, "-print-config")
	require.Equal(t, 0, code)
	loaded, _, stderr := do(t, nil, "-f", file(t, stdout), "-validate-config")
	require.Equal(t, 0, loaded, "what is printed can be loaded: %s", stderr)
}

func TestCommandLine(t *testing.T) {
	code, stdout, _ := do(t, nil, "-version")
	require.Equal(t, 0, code)
	require.Regexp(t, `^veneur \S+`, stdout)

	code, _, stderr := do(t, nil, "config.yaml")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "a configuration file goes after -f")

	code, _, stderr = do(t, nil, "-f", filepath.Join(t.TempDir(), "missing.yaml"))
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "missing.yaml")
	require.Contains(t, stderr, "no such file")
}

func TestHealthcheck(t *testing.T) {
	p := start(t, noFixedPorts)
	address := strings.TrimPrefix(p.url(), "http://")
	code, _, stderr := do(t, []string{"VENEUR_HTTP_ADDRESS=" + address}, "-healthcheck")
	require.Equal(t, 0, code, "%s", stderr)
	require.Equal(t, 0, p.stop())
	code, _, stderr = do(t, []string{"VENEUR_HTTP_ADDRESS=" + address}, "-healthcheck")
	require.Equal(t, 1, code)
	require.NotEmpty(t, stderr)
}
