package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/veneurd/veneur/protocol"
)

// endpoint is a daemon that is measured, whoever started it.
type endpoint struct {
	to    protocol.Address
	admin *admin
	pid   int // 0 when unknown
}

// daemonOptions say which daemon to start.
type daemonOptions struct {
	program  string
	network  string // that it listens on
	ssf      bool
	readers  int // 0 leaves it to the daemon
	interval time.Duration
	series   int  // that it must have room for
	sums     bool // write points to a file, rather than nowhere
	spanSink bool // take spans to a sink, which drops them
}

// daemon is one that this program has started, on ports and in a directory of its own.
type daemon struct {
	endpoint
	cmd    *exec.Cmd
	log    *daemonLog
	dir    string
	points string // path of the file; "" without one

	series   int
	interval time.Duration
	done     chan struct{} // closed when it has ended
	err      error         // of its end
}

const (
	startTime = 20 * time.Second
	stopTime  = 30 * time.Second
)

// startDaemon starts one and returns when it takes traffic. Its configuration can be overridden by the environment, as ever.
func startDaemon(ctx context.Context, o daemonOptions) (*daemon, error) {
	dir, err := os.MkdirTemp("", "veneur-load")
	if err != nil {
		return nil, err
	}
	d := &daemon{dir: dir, log: newDaemonLog(o), done: make(chan struct{}), series: o.series, interval: o.interval}
	if o.sums {
		d.points = filepath.Join(dir, "points.ndjson")
	}
	if err := d.start(ctx, o); err != nil {
		d.remove()
		return nil, fmt.Errorf("%s: %w", o.program, err)
	}
	return d, nil
}

func (d *daemon) start(ctx context.Context, o daemonOptions) error {
	config := filepath.Join(d.dir, "veneur.yaml")
	if err := os.WriteFile(config, []byte(d.config(o)), 0o600); err != nil {
		return err
	}
	d.cmd = exec.Command(o.program, "-f", config) // #nosec G204 -- running it is what the flag is for
	d.cmd.Stderr = d.log
	if err := d.cmd.Start(); err != nil {
		return err
	}
	go func() { // ends with the process, which remove makes sure of
		d.err = d.cmd.Wait()
		close(d.done)
	}()
	timeout := time.NewTimer(startTime)
	defer timeout.Stop()
	select {
	case <-d.log.announced:
	case <-d.done:
		return fmt.Errorf("it did not start: %w\n%s", d.err, d.log)
	case <-timeout.C:
		return fmt.Errorf("it was not ready after %s\n%s", startTime, d.log)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	to, err := protocol.ParseAddress(d.log.listening)
	if err != nil {
		return err
	}
	d.endpoint = endpoint{to: to, admin: newAdmin(d.log.serving), pid: d.cmd.Process.Pid}
	return nil
}

// config returns the configuration, which is JSON where it holds paths: they may need quotes.
func (d *daemon) config(o daemonOptions) string {
	address := o.network + "://127.0.0.1:0"
	if strings.HasPrefix(o.network, "unix") {
		address = o.network + "://" + filepath.Join(d.dir, "load.sock")
	}
	key := "statsd_listen_addresses"
	if o.ssf {
		key = "ssf_listen_addresses"
	}
	var b strings.Builder
	// More than a series each, for there are several points of a timer, and room for ways of writing tags that nobody uses.
	fmt.Fprintf(&b, "%s: [%q]\nhttp_address: 127.0.0.1:0\nhttp_quit: true\nnum_readers: %d\ninterval: %s\n", key, address, o.readers, o.interval)
	fmt.Fprintf(&b, "max_series: %d\nmax_series_per_name: %[1]d\n", o.series+seriesPerName)
	if o.sums {
		fmt.Fprintf(&b, "metric_sinks: [{kind: localfile, queue_items: 1000000000, queue_bytes: 2000000000, config: {path: %q}}]\n", d.points)
	} else {
		b.WriteString("metric_sinks: [{kind: blackhole}]\n")
	}
	if o.spanSink {
		b.WriteString("span_sinks: [{kind: blackhole}]\n")
	}
	return b.String()
}

// stop asks the daemon to stop, which makes it flush, and waits until it has.
func (d *daemon) stop(ctx context.Context) error {
	if err := d.admin.quit(ctx); err != nil {
		return fmt.Errorf("stopping the daemon: %w", err)
	}
	timeout := time.NewTimer(stopTime)
	defer timeout.Stop()
	select {
	case <-d.done:
	case <-timeout.C:
		return fmt.Errorf("the daemon still runs %s after it was asked to stop", stopTime)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if d.err != nil {
		return fmt.Errorf("the daemon failed: %w\n%s", d.err, d.log)
	}
	return nil
}

// finish lets the daemon write what it still holds, and stops it. A daemon that is asked to stop flushes too, but may not take the time that
// very many series need, so of those the end of the interval is waited for.
func (d *daemon) finish(ctx context.Context) error {
	if d.series < manySeries || d.interval > longInterval {
		return d.stop(ctx)
	}
	first := -1.0
	for begin := time.Now(); time.Since(begin) < d.interval+stopTime; {
		m, err := d.admin.metrics(ctx)
		if err != nil {
			return err
		}
		flushes := m.sum("veneur_flush_flushes_total")
		if first < 0 {
			first = flushes
		}
		if flushes > first && m.sum("veneur_sink_waiting") == 0 {
			return d.stop(ctx)
		}
		if err := wait(ctx, flushPoll); err != nil {
			return err
		}
	}
	return fmt.Errorf("the daemon has not flushed %s after its interval of %s\n%s", stopTime, d.interval, d.log)
}

const (
	manySeries   = 500_000
	longInterval = time.Minute
)

// sums adds up what the daemon wrote. It must have stopped.
func (d *daemon) sums() (s sums, err error) {
	f, err := os.Open(d.points)
	if err != nil {
		return sums{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return readSums(f)
}

// remove ends the daemon if it still runs, and removes what it wrote.
func (d *daemon) remove() {
	if d.cmd != nil && d.cmd.Process != nil {
		_ = d.cmd.Process.Kill() // it fails when there is none any more
		<-d.done
	}
	if d.admin != nil {
		d.admin.close()
	}
	_ = os.RemoveAll(d.dir)
}

// maxLog is how much of a daemon's log is kept: what it says when it starts is the most interesting.
const maxLog = 16 << 10

// daemonLog reads from the log of a daemon where it listens.
type daemonLog struct {
	listener, admin *regexp.Regexp
	announced       chan struct{} // closed once both are known; they do not change after that
	listening       string        // address
	serving         string        // URL

	mu   sync.Mutex
	text bytes.Buffer
}

func newDaemonLog(o daemonOptions) *daemonLog {
	return &daemonLog{
		listener:  regexp.MustCompile(`listening for \w+ on (` + o.network + `://[^"\s]+)`),
		admin:     regexp.MustCompile(`on (http://[^"\s]+)`),
		announced: make(chan struct{}),
	}
}

// Write takes a piece of the log.
func (l *daemonLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.text.Len() < maxLog {
		l.text.Write(p)
	}
	if l.serving == "" {
		listening, serving := l.listener.FindSubmatch(l.text.Bytes()), l.admin.FindSubmatch(l.text.Bytes())
		if listening != nil && serving != nil {
			l.listening, l.serving = string(listening[1]), string(serving[1])
			close(l.announced)
		}
	}
	return len(p), nil
}

// String returns the log, without the end of line at its end.
func (l *daemonLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(l.text.String())
}
