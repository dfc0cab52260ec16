package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// Exit codes for a command that could not be run, as shells give them.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
	exitSignal        = 128 // plus the number of the signal
)

// timed is how a command went. Of what was not a command only took is set.
type timed struct {
	start time.Time
	took  time.Duration
	code  int
}

// runCommand runs the command with our standard streams. Signals are passed on to it, and we wait for what it makes of them: its exit
// code is ours. An error says that it was never started.
func (o *options) runCommand(ctx context.Context, environ []string, spanID int64, s streams) (timed, error) {
	cmd := exec.CommandContext(ctx, o.args[0], o.args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.in, s.out, s.err
	cmd.Env = environ
	if o.ssf && o.span.traceID != 0 {
		cmd.Env = withSpan(environ, o.span.traceID, spanID)
	}
	signals := make(chan os.Signal, 8)
	for _, sig := range passedOn {
		// What we were started to ignore, by nohup or by a shell for a job in the background, the command is to ignore as well: it
		// does so as long as we do.
		if !signal.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}
	defer signal.Stop(signals)

	t := timed{start: time.Now()}
	if err := cmd.Start(); err != nil {
		t.code = notStarted(err)
		return t, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case received := <-signals:
			if !typed(received) {
				_ = cmd.Process.Signal(received) // it may have ended meanwhile
			}
		case err := <-ended:
			t.took = time.Since(t.start)
			t.code = exitCode(err)
			return t, nil
		}
	}
}

func notStarted(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return exitNotFound
	}
	return exitNotExecutable
}

func exitCode(err error) int {
	if err == nil {
		return 0
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return 1 // its output could not be copied
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitSignal + int(status.Signal())
	}
	return exit.ExitCode()
}
