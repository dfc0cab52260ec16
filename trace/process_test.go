//go:build unix

package trace_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/server/servertest"
	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
)

// A daemon in a process of its own, which can be stopped and killed by signals, is this test binary again, with its configuration in the
// environment.
const daemonConfig = "TRACE_TEST_DAEMON"

// TestDaemonProcess is the daemon. It says where it listens, answers each line of its input by how many spans it got and how many packets it
// refused, and stops at the end of the input.
func TestDaemonProcess(t *testing.T) {
	config := os.Getenv(daemonConfig)
	if config == "" {
		return
	}
	network, config, _ := strings.Cut(config, "\n")
	d := servertest.Start(t, config)
	fmt.Println("daemon:", d.Addr("SSF", network+"://"))
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		fmt.Println("daemon:", int64(d.Value("ingest.spans")), int64(d.Value("ingest.refused")))
	}
	require.NoError(t, d.Stop())
}

type daemonProcess struct {
	t       *testing.T
	cmd     *exec.Cmd
	in      io.WriteCloser
	lines   chan string
	address string
}

// startDaemon starts a daemon that writes its metrics down at its end, and returns once it is ready.
func startDaemon(t *testing.T, network, address, metrics string) *daemonProcess {
	t.Helper()
	d := &daemonProcess{t: t, cmd: exec.Command(os.Args[0], "-test.run=^TestDaemonProcess$"), lines: make(chan string, 100)}
	d.cmd.Env = append(os.Environ(), daemonConfig+"="+fmt.Sprintf(`%s
interval: 1h
ssf_listen_addresses: ["%s://%s"]
metric_sinks: [{kind: localfile, name: out, config: {path: %s}}]`, network, network, address, metrics))
	var err error
	d.in, err = d.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := d.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, d.cmd.Start())
	var reader sync.WaitGroup
	reader.Go(func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			if line, ok := strings.CutPrefix(s.Text(), "daemon: "); ok {
				d.lines <- line
			}
		}
		close(d.lines)
	})
	t.Cleanup(func() {
		d.kill()
		reader.Wait()
	})
	d.address = network + "://" + d.line()
	return d
}

func (d *daemonProcess) line() string {
	d.t.Helper()
	select {
	case line, ok := <-d.lines:
		require.True(d.t, ok, "the daemon has ended")
		return line
	case <-time.After(patience):
		require.FailNow(d.t, "the daemon does not answer")
		return ""
	}
}

// received is how many spans the daemon has counted.
func (d *daemonProcess) received() uint64 {
	d.t.Helper()
	spans, _ := d.counted()
	return spans
}

func (d *daemonProcess) counted() (spans, refused uint64) {
	d.t.Helper()
	_, err := io.WriteString(d.in, "\n")
	require.NoError(d.t, err)
	line := d.line()
	_, err = fmt.Sscan(line, &spans, &refused)
	require.NoError(d.t, err, line)
	return spans, refused
}

func (d *daemonProcess) signal(s os.Signal) {
	d.t.Helper()
	require.NoError(d.t, d.cmd.Process.Signal(s))
}

// kill ends the process at once. Its sockets are closed when kill returns.
func (d *daemonProcess) kill() {
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait()
}

// stop ends the daemon in order.
func (d *daemonProcess) stop() {
	d.t.Helper()
	require.NoError(d.t, d.in.Close())
	for range d.lines { // to the end of its output, before Wait closes it
	}
	require.NoError(d.t, d.cmd.Wait())
}

// recordPhase records n spans by 8 goroutines, each with a counter of the phase.
func recordPhase(c *trace.Client, phase string, n int) {
	count := ssf.Count(phase, 1, nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range n / 8 {
				span := c.StartTrace("request")
				span.SetTag("phase", phase)
				span.Add(count)
				span.Finish()
			}
		})
	}
	wg.Wait()
}

// B076, B078, B128: a real daemon is stopped, continued, killed and started again while 8 goroutines record. Recorded is what was sent and what was
// dropped, to the packet; and what was sent is what the daemon counted, but for UDP and for what a killed daemon takes with it.
func TestB128ConservationWithADaemonProcess(t *testing.T) {
	for _, network := range networks {
		t.Run(network, func(t *testing.T) {
			lossless := network != "udp"
			dir, err := os.MkdirTemp("", "trace") // that of the test may be too long a path for a socket
			require.NoError(t, err)
			defer func() { _ = os.RemoveAll(dir) }()
			metrics, address := filepath.Join(dir, "metrics"), filepath.Join(dir, "ssf")
			if network == "udp" || network == "tcp" {
				address = "127.0.0.1:0"
			}
			d := startDaemon(t, network, address, metrics)
			c := newClient(t, d.address, trace.WithMemory(512<<10), trace.WithFlushInterval(2*time.Millisecond))
			// arrived expects this daemon to have got all that was sent since before, but for what may be lost.
			arrived := func(before, lost uint64) {
				t.Helper()
				flush(t, c)
				stats := requireLaw(t, c)
				require.Zero(t, stats.Waiting)
				if lossless {
					eventually(t, "all that was sent to arrive", func() bool { return d.received()+lost >= stats.Sent-before })
				}
				require.LessOrEqual(t, d.received(), stats.Sent-before, "no more arrives than was sent")
			}

			recordPhase(c, "up", 4000)
			arrived(0, 0)

			d.signal(syscall.SIGSTOP)
			if lossless {
				// Until the socket is full, and all of the client's memory.
				fill(t, c, func() { recordPhase(c, "stopped", 800) })
				require.NotZero(t, c.Stats().Waiting)
			} else {
				recordPhase(c, "stopped", 4000)
			}
			require.Zero(t, c.Stats().Reconnects, "B078")
			d.signal(syscall.SIGCONT)
			arrived(0, 0)

			// Nothing is under way when the daemon is killed, so all that is lost is lost in the outage.
			before := c.Stats()
			d.kill()
			const away = 2000
			recordPhase(c, "away", away)
			requireLaw(t, c)
			d = startDaemon(t, network, strings.TrimPrefix(d.address, network+"://"), metrics)
			ready := time.Now()
			flush(t, c)
			back := time.Since(ready)
			if network == "unix" || network == "unixgram" {
				// It is known at once that nobody is there, and what is recorded waits.
				require.EqualValues(t, 1, c.Stats().Reconnects)
				arrived(before.Sent, 0)
			}

			// Once it is back nothing is lost any more. (TCP takes what is written before it has told that the peer is gone.)
			recordPhase(c, "back", 4000)
			if network == "tcp" {
				arrived(before.Sent, away)
			} else {
				arrived(before.Sent, 0)
			}

			// Once more, while all of them record.
			var recording sync.WaitGroup
			recording.Go(func() { recordPhase(c, "under way", 40000) })
			eventually(t, "the recording to begin", func() bool { return c.Stats().Recorded > before.Recorded+8000 })
			d.kill()
			recording.Wait()
			requireLaw(t, c)
			d = startDaemon(t, network, strings.TrimPrefix(d.address, network+"://"), metrics)
			flush(t, c)
			// How much of what was under way is lost is not known; what is not has arrived when a packet behind it has, which the daemon refuses.
			eventually(t, "what was under way to arrive", func() bool {
				c.StartTrace("").Finish()
				flush(t, c)
				_, refused := d.counted()
				return refused > 0
			})
			arrivedBefore := d.received()
			recordPhase(c, "again", 80)
			require.NoError(t, closeWithin(c, patience))
			stats := requireLaw(t, c)
			require.Zero(t, stats.Waiting)
			require.Zero(t, stats.Lost()-stats.Dropped[trace.ReasonFull], "for no other reason")
			eventually(t, "the last spans", func() bool { return d.received() >= arrivedBefore+80 })
			d.stop()
			totals := servertest.Totals(servertest.Records(t, metrics))
			require.EqualValues(t, 80, totals["again"], "each once")
			t.Logf("back %v after the daemon was ready, %+v", back, stats)
			require.Less(t, back, 20*time.Second) // a second, and what a busy machine needs
		})
	}
}

// A daemon that is stopped, and a socket that is full, do not keep Close beyond its deadline.
func TestCloseWithAStoppedDaemonProcess(t *testing.T) {
	for _, network := range []string{"unixgram", "unix", "tcp"} {
		t.Run(network, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "trace")
			require.NoError(t, err)
			defer func() { _ = os.RemoveAll(dir) }()
			address := filepath.Join(dir, "ssf")
			if network == "tcp" {
				address = "127.0.0.1:0"
			}
			d := startDaemon(t, network, address, filepath.Join(dir, "metrics"))
			d.signal(syscall.SIGSTOP)
			c := newClient(t, d.address, trace.WithMemory(256<<10))
			fill(t, c, func() { recordPhase(c, "stopped", 800) })
			const deadline = 200 * time.Millisecond
			start := time.Now()
			err = closeWithin(c, deadline)
			require.Less(t, time.Since(start), deadline+20*time.Second) // the machine may be busy
			require.ErrorContains(t, err, "close: ")
			require.NotZero(t, c.Stats().Recorded)
			d.signal(syscall.SIGCONT)
			require.Error(t, closeWithin(c, patience), "it has ended meanwhile")
			stats := requireLaw(t, c)
			require.Zero(t, stats.Waiting)
			require.NotZero(t, stats.Dropped[trace.ReasonShutdown])
			eventually(t, "what was sent to arrive", func() bool { return d.received() >= stats.Sent })
			require.Equal(t, stats.Sent, d.received())
		})
	}
}
