package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/leaktest"
)

// The test binary is veneur-emit itself when it is started with envMain. Then the environment says where things go by default as well,
// since the ports of a daemon may be taken.
const (
	envMain   = "VENEUR_EMIT_TEST_MAIN"
	envStatsd = "VENEUR_EMIT_TEST_STATSD"
	envSSF    = "VENEUR_EMIT_TEST_SSF"
)

func TestMain(m *testing.M) {
	if os.Getenv(envMain) == "" {
		leaktest.Main(m)
	}
	args := os.Args[1:]
	to := os.Getenv(envStatsd)
	if slices.Contains(args, "-ssf") || slices.Contains(args, "-tree") {
		to = os.Getenv(envSSF)
	}
	if to != "" {
		args = append([]string{"-hostport", to}, args...) // a second -hostport goes before it
	}
	os.Exit(run(context.Background(), args, os.Environ(), streams{os.Stdin, os.Stdout, os.Stderr}))
}

// patience is how long anything may take before a test fails.
const patience = time.Minute

// result is how a veneur-emit went.
type result struct {
	code     int
	out, err string
}

// emit runs veneur-emit in this process, without any environment.
func emit(t *testing.T, args ...string) result {
	t.Helper()
	return emitWith(t, "", nil, args...)
}

func emitWith(t *testing.T, in string, environ []string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return emitIn(ctx, in, environ, args...)
}

func emitIn(ctx context.Context, in string, environ []string, args ...string) result {
	var out, err bytes.Buffer
	code := run(ctx, args, environ, streams{strings.NewReader(in), &out, &err})
	return result{code, out.String(), err.String()}
}

// emitting runs veneur-emit beside the test, which is the other side of a stream.
func emitting(t *testing.T, in string, args ...string) <-chan result {
	ended := make(chan result, 1)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	go func() {
		defer cancel()
		ended <- emitIn(ctx, in, nil, args...)
	}()
	return ended
}

// process returns a veneur-emit of its own that is not started yet.
func process(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	binary, err := os.Executable()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env = append(os.Environ(), envMain+"=1", "GORACE=atexit_sleep_ms=0") // else the race detector lets each wait a second
	return cmd
}

// start runs cmd to its end.
func start(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	if failed := cmd.Run(); failed != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, failed, &exit)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), err.String()}
}

func requireSent(t *testing.T, r result) {
	t.Helper()
	require.Equal(t, result{code: exitOK}, r)
}

func requireRefused(t *testing.T, r result, why string) {
	t.Helper()
	require.Equal(t, exitFailure, r.code, r.err)
	require.Empty(t, r.out)
	require.Contains(t, r.err, why)
	for line := range strings.Lines(r.err) {
		require.True(t, strings.HasPrefix(line, "veneur-emit: "), "%q", line)
	}
}
