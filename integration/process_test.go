//go:build integration

package integration

import (
	"bytes"
	"io"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// process is a program that runs beside the test. It is killed at the end of the test at the latest.
type process struct {
	t     testing.TB
	cmd   *exec.Cmd
	stdin io.WriteCloser
	said  output
	done  chan struct{} // closed once it has ended
}

// start starts a program whose standard input stays open.
func start(t testing.TB, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.said, &p.said
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	p.stdin = stdin
	require.NoError(t, cmd.Start())
	go func() {
		defer close(p.done)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%s said:\n%s", cmd.Args[0], p.said.tail())
		}
	})
	return p
}

// kill ends the process as kill -9 does, and waits until it has ended.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// await waits until done says so, and fails the test when the process ends before that, or it takes longer than limit.
func (p *process) await(what string, limit time.Duration, done func() bool) {
	p.t.Helper()
	until(p.t, what, limit, func() bool {
		p.t.Helper()
		if done() {
			return true
		}
		select {
		case <-p.done:
			p.t.Fatalf("%s ended before it was %s:\n%s", p.cmd.Args[0], what, p.said.tail())
		default:
		}
		return false
	})
}

// slack is how many times as long as on a machine that has nothing else to do anything may take.
const slack = 4

// until asks done again and again until it is true, and fails the test when that takes much longer than limit.
func until(t testing.TB, what string, limit time.Duration, done func() bool) {
	t.Helper()
	limit *= slack
	end := time.Now().Add(limit)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		if time.Now().After(end) {
			t.Fatalf("not %s after %s", what, limit)
		}
		<-tick.C
	}
}

// output keeps what a process says.
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

func (o *output) tail() string {
	const most = 8000
	s := o.String()
	return s[max(0, len(s)-most):]
}
