package sinktest

import (
	"bytes"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/sinks"
)

// Env is what surrounds a sink in one check.
type Env struct {
	Dir    string  // the check's own directory; {{dir}}
	Stdout *Buffer // what the sink was given as standard output
	Sink   any     // the sink as its kind built it; nil before

	fake *fake   // nil without Case.Fake
	said *Buffer // logs, and what else must hold no secret
}

// newEnv makes an environment that ends with t.
func newEnv(t testing.TB, c *Case, said *Buffer) *Env {
	e := &Env{Dir: t.TempDir(), Stdout: &Buffer{}, said: said}
	if c.Fake != nil {
		e.fake = newFake(c.Fake, false)
		t.Cleanup(e.fake.close)
	}
	return e
}

// expand puts the environment's values into a configuration.
func (e *Env) expand(yaml string) string {
	url := "http://127.0.0.1:1" // nobody listens there
	if e.fake != nil {
		url = e.fake.server.URL
	}
	return strings.NewReplacer("{{url}}", url, "{{dir}}", e.Dir, "{{ca}}", e.caFile()).Replace(yaml)
}

// caFile is where the certificate of a backend behind TLS is found.
func (e *Env) caFile() string { return filepath.Join(e.Dir, "ca.pem") }

func (e *Env) writeCA(t testing.TB) {
	block := &pem.Block{Type: "CERTIFICATE", Bytes: e.fake.server.Certificate().Raw}
	require.NoError(t, os.WriteFile(e.caFile(), pem.EncodeToMemory(block), 0o600))
}

func (e *Env) settings() sinks.Settings {
	log := logrus.New()
	log.SetOutput(e.said)
	log.SetLevel(logrus.TraceLevel)
	return sinks.Settings{
		Name:      "tested",
		Hostname:  "test-host",
		Interval:  10 * time.Second,
		Log:       log.WithField("sink", "tested"),
		Telemetry: telemetry.New(),
		Stdout:    e.Stdout,
	}
}

// decoder decodes a configuration as the daemon does. An empty one is that of a sink without "config:".
func decoder(yaml string) func(into any) error {
	return func(into any) error {
		if strings.TrimSpace(yaml) == "" {
			return nil
		}
		doc, err := config.Parse("test.yaml", []byte(yaml))
		if err != nil {
			return err
		}
		return doc.Decode(into)
	}
}

// Buffer is a bytes.Buffer for many goroutines at once.
type Buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write appends p.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// Bytes returns a copy of what was written.
func (b *Buffer) Bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.buf.Bytes())
}

// String returns what was written.
func (b *Buffer) String() string { return string(b.Bytes()) }

func (b *Buffer) note(err error) {
	if err != nil {
		_, _ = b.Write([]byte(err.Error() + "\n"))
	}
}
