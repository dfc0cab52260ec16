// Package servertest runs a whole daemon inside a test: real sockets on ports that the system chooses, a real configuration, and real sinks.
package servertest

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/server"
)

// Patience is how long the helpers of this package wait for something before they fail the test.
const Patience = time.Minute

// Daemon is a running daemon. It is stopped at the end of the test at the latest.
type Daemon struct {
	Server    *server.Server
	Telemetry *telemetry.Registry
	Log       *Output
	Stdout    *Output

	t      testing.TB
	cancel context.CancelFunc
	done   chan struct{}
	err    error
}

// Start runs a daemon with the given configuration, in YAML, and returns once it is ready. ${DIR} in it is a directory of the test.
func Start(t testing.TB, yaml string) *Daemon {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "veneur.yaml")
	require.NoError(t, os.WriteFile(path, []byte(yaml), 0o600))
	c, _, err := server.Load(path, []string{"DIR=" + dir})
	require.NoError(t, err)
	return Run(t, c)
}

// Run runs a daemon with a configuration that has been loaded.
func Run(t testing.TB, c server.Config) *Daemon {
	t.Helper()
	d := &Daemon{Telemetry: telemetry.New(), Log: &Output{}, Stdout: &Output{}, t: t, done: make(chan struct{})}
	log := logrus.New()
	log.SetOutput(d.Log)
	var err error
	d.Server, err = server.New(c, server.Deps{Log: log, Telemetry: d.Telemetry, Stdout: d.Stdout})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	d.cancel = cancel
	go func() {
		defer close(d.done)
		d.err = d.Server.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-d.done
	})
	d.Eventually("ready", func() bool {
		select {
		case <-d.done:
			require.NoError(t, d.err)
		default:
		}
		ok, _ := d.Server.Ready()
		return ok
	})
	return d
}

// Stop stops the daemon as a signal would, and returns what Run returned.
func (d *Daemon) Stop() error {
	d.cancel()
	<-d.done
	return d.err
}

// Value returns the sum of a self metric, as Registry.Value does.
func (d *Daemon) Value(name string, tags ...string) float64 { return d.Telemetry.Value(name, tags...) }

// Await waits until a self metric has at least the given value.
func (d *Daemon) Await(want float64, name string, tags ...string) {
	d.t.Helper()
	d.Eventually(name, func() bool { return d.Value(name, tags...) >= want })
}

// Eventually waits until what is true.
func (d *Daemon) Eventually(name string, what func() bool) {
	d.t.Helper()
	Eventually(d.t, name, what)
}

// Eventually waits until what is true, and fails the test when that takes longer than Patience.
func Eventually(t testing.TB, name string, what func() bool) {
	t.Helper()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	deadline := time.NewTimer(Patience)
	defer deadline.Stop()
	for !what() {
		select {
		case <-ticker.C:
		case <-deadline.C:
			require.FailNow(t, "gave up waiting for "+name)
		}
	}
}

// Addr returns the address, without scheme, of the first listener whose configured address starts with the given words, such as "udp://".
func (d *Daemon) Addr(protocol, scheme string) string {
	d.t.Helper()
	for _, a := range d.Server.Addrs() {
		if rest, ok := strings.CutPrefix(a.Address, scheme); ok && strings.EqualFold(a.Protocol, protocol) {
			return rest
		}
	}
	require.FailNow(d.t, "no listener for "+protocol+" on "+scheme)
	return ""
}

// Dial connects to a listener. The connection is closed at the end of the test.
func (d *Daemon) Dial(protocol, network string) net.Conn {
	d.t.Helper()
	conn, err := net.Dial(network, d.Addr(protocol, network+"://"))
	require.NoError(d.t, err)
	d.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// Send writes packet to a listener for DogStatsD.
func (d *Daemon) Send(network, packet string) {
	d.t.Helper()
	_, err := io.WriteString(d.Dial("DogStatsD", network), packet)
	require.NoError(d.t, err)
}

// Output collects what is written to it. It may be used by many goroutines at once.
type Output struct {
	mu    sync.Mutex
	text  strings.Builder
	block sync.RWMutex
}

// Block makes every Write wait until release is called, as a pipe does that nobody reads.
func (o *Output) Block() (release func()) {
	o.block.Lock()
	return o.block.Unlock
}

// Write adds p.
func (o *Output) Write(p []byte) (int, error) {
	o.block.RLock()
	defer o.block.RUnlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// String returns all of it.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
