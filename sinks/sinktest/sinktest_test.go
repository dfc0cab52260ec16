package sinktest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/sinks"
)

const secret = "correct-horse-battery"

func postCase(t *testing.T, fault string) Case {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	return Case{
		Kind:    postKind(fault, release),
		YAML:    "url: '{{url}}/v1'\napi_key: " + secret,
		Secrets: []string{secret},
		TLS:     "url: '{{url}}/v1'\nca_file: '{{ca}}'\napi_key: " + secret,
		Partial: answerPartially,
		Fake:    http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }),
	}
}

func TestSinkThatKeepsTheContract(t *testing.T) { Run(t, postCase(t, "")) }

// recordingTB is a testing.TB whose failures are only noted.
type recordingTB struct {
	testing.TB
	failed bytes.Buffer
}

func (r *recordingTB) Error(args ...any) { fmt.Fprintln(&r.failed, args...) }
func (r *recordingTB) Errorf(format string, args ...any) {
	fmt.Fprintf(&r.failed, format+"\n", args...)
}
func (r *recordingTB) FailNow() { runtime.Goexit() }

// failure runs the named checks of a case and returns what the last one said.
func failure(t *testing.T, c Case, names ...string) string {
	t.Helper()
	checks := c.checks(t)
	var said string
	for _, name := range names {
		i := slices.IndexFunc(checks, func(c check) bool { return c.name == name })
		require.GreaterOrEqual(t, i, 0, name)
		r := &recordingTB{TB: t}
		done := make(chan struct{})
		go func() { // of its own, for FailNow to end
			defer close(done)
			checks[i].run(r)
		}()
		<-done
		said = r.failed.String()
	}
	return said
}

func TestKitFindsWhatIsWrong(t *testing.T) {
	tests := []struct {
		fault, check, said string
	}{
		{"fault without a path", "defaults", "a fault without a path"},
		{"speaks when built", "metrics/building opens nothing", "spoke to the backend"},
		{"changes", "metrics/encoding", "changed what it was lent"},
		{"changes a tag", "metrics/encoding", "changed what it was lent"},
		{"leaks", "metrics/life", "found unexpected goroutines"},
		{"logs a secret", "said", "a secret is seen in a log or an error"},
		{"ignores the answer", "metrics/answers/400", "Refused"},
		{"ignores the answer", "spans/answers/503", "should have 3 item(s), but has 2"},
		{"retries everything", "metrics/answers/400", "Refused"},
		{"retries everything", "spans/answers/413 above a size", "Sent"},
		{"retries nothing", "metrics/answers/429", "Refused"},
		{"ignores Retry-After", "metrics/answers/429 with Retry-After", "is not greater than or equal to"},
		{"ignores the answer", "spans/answers/item by item", "Existing"},
		{"keeps no connection", "metrics/connection is kept", "a connection for each request"},
		{"follows redirects", "metrics/answers/301", "should have 1 item(s)"},
	}
	for _, tt := range tests {
		t.Run(tt.fault+" in "+tt.check, func(t *testing.T) {
			// What is said is looked at when all else is done.
			assert.Contains(t, failure(t, postCase(t, tt.fault), "metrics/encoding", tt.check), tt.said)
		})
	}
}

func TestKitFindsASinkThatIsLate(t *testing.T) {
	c := postCase(t, "")
	r := &recordingTB{TB: t}
	sub := c.newSubject(r, signals[0], &Buffer{})
	sub.tap.attempts = []tapped{{overdue: 2 * overdue}}
	sub.deliver(r, 1)
	assert.Contains(t, r.failed.String(), "attempt 0 returned too long after its deadline")
}

func TestKitFindsSecretsInConfigurations(t *testing.T) {
	c := postCase(t, "")
	c.YAML += "\nplain: in-the-open"
	c.Secrets = append(c.Secrets, "in-the-open")
	r := &recordingTB{TB: t}
	c.checkPrinted(r)
	assert.Contains(t, r.failed.String(), "a secret is seen in %v")
	assert.Contains(t, r.failed.String(), "a secret is seen in JSON")
	assert.NotContains(t, r.failed.String(), secret)
}

func TestKitReadsFilesOfTheKind(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"good.bad.yaml": {"# url: must be set\nurl: http://127.0.0.1", "An error is expected"},
		"none.bad.yaml": {"url: ''", "does not begin with a comment"},
		"a.good.yaml":   {"ulr: x", "unknown key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			require.NoError(t, os.Mkdir("testdata", 0o755))
			require.NoError(t, os.WriteFile(filepath.Join("testdata", name), []byte(tt.text), 0o644))
			c := postCase(t, "")
			r := &recordingTB{TB: t}
			c.checkBadFiles(r)
			c.checkGoodFiles(r, &Buffer{})
			assert.Contains(t, r.failed.String(), tt.want)
		})
	}
}

// keeper shows what it was lent, later.
type keeper struct{ kept *sinks.Batch }

func (k *keeper) Send(_ context.Context, chunk *sinks.Batch) error {
	k.kept = chunk
	return nil
}

func TestKitFindsASinkThatKeepsItsChunk(t *testing.T) {
	c := Case{
		Kind: sinks.Define("keeper", func() fileConfig { return fileConfig{} },
			func(fileConfig, sinks.Settings) (sinks.MetricSink, error) { return &keeper{}, nil }, nil),
		Output: func(_ testing.TB, e *Env) []byte { return fmt.Appendf(nil, "%+v", e.Sink.(*keeper).kept.Points) },
	}
	assert.Contains(t, failure(t, c, "metrics/encoding"), "the sink kept what it was lent")
}

// fileSink writes to a file that a test can break.
type fileSink struct{ path string }

func (f fileSink) Send(_ context.Context, chunk *sinks.Batch) error {
	file, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, p := range chunk.Points {
		fmt.Fprintf(&b, "%q %v\n", p.Name, p.Value)
	}
	_, err = file.Write(b.Bytes())
	return errors.Join(err, file.Close())
}

type fileConfig struct {
	Path string `yaml:"path"`
}

func (*fileConfig) Validate() error { return nil }

func TestSinkThatSpeaksNoHTTP(t *testing.T) {
	path := func(e *Env) string { return filepath.Join(e.Dir, "out") }
	t.Chdir(t.TempDir()) // the golden file is of no interest
	*update = true
	defer func() { *update = false }()
	Run(t, Case{
		Name: "file",
		Kind: sinks.Define("file", func() fileConfig { return fileConfig{} },
			func(c fileConfig, _ sinks.Settings) (sinks.MetricSink, error) { return fileSink{c.Path}, nil }, nil),
		YAML: "path: '{{dir}}/out'",
		Output: func(t testing.TB, e *Env) []byte {
			b, err := os.ReadFile(path(e))
			require.NoError(t, err)
			return b
		},
		Break: func(t testing.TB, e *Env) { require.NoError(t, os.Mkdir(path(e), 0o755)) },
		Mend:  func(t testing.TB, e *Env) { require.NoError(t, os.Remove(path(e))) },
	})
	golden, err := os.ReadFile("testdata/file.metrics.golden")
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(golden), "\"requests\" 42\n"))
}

func TestSamplesAreNewEachTime(t *testing.T) {
	b, spans := Batch(), Spans()
	before, spansBefore := cloneBatch(b), cloneSpans(spans)
	mangleBatch(b)
	mangleSpans(spans)
	require.Equal(t, before, Batch())
	require.Equal(t, spansBefore, Spans())
}
