//go:build unix

package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// timedShell returns the arguments that time a script.
func timedShell(hostport, script string) []string {
	return []string{"-hostport", hostport, "-name", "x", "-command", "sh", "-c", script}
}

func TestB135ExitCodes(t *testing.T) {
	dir := t.TempDir()
	script := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	for _, tt := range []struct {
		name    string
		command []string
		code    int
		ran     bool
		why     string
	}{
		{"good", []string{"true"}, 0, true, ""},
		{"bad", []string{"false"}, 1, true, ""},
		{"its own", []string{"sh", "-c", "exit 3"}, 3, true, ""},
		{"the highest", []string{"sh", "-c", "exit 255"}, 255, true, ""},
		{"its flags are its own", []string{"sh", "-c", "exit $#", "-count", "-name", "a"}, 2, true, ""},
		{"behind two dashes", []string{"--", "sh", "-c", "exit 4"}, 4, true, ""},
		{"killed", []string{"sh", "-c", "kill -9 $$"}, 128 + 9, true, ""},
		{"terminated", []string{"sh", "-c", "kill -TERM $$"}, 128 + 15, true, ""},
		{"not found", []string{"no-such-command"}, 127, false, "executable file not found in $PATH"},
		{"not found at its path", []string{"/no/such"}, 127, false, "no such file or directory"},
		{"an empty name", []string{""}, 1, false, "-command needs a command"},
		{"not executable", []string{script("plain", "text", 0o644)}, 126, false, "permission denied"},
		{"a directory", []string{dir}, 126, false, "veneur-emit: "},
		{"no program", []string{script("garbage", "\x00\x01", 0o755)}, 126, false, "exec format error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := listen(t, "udp")
			r := emit(t, append([]string{"-hostport", p.hostport, "-name", "x", "-tag", "a:b", "-command"}, tt.command...)...)
			require.Equal(t, tt.code, r.code, r.err)
			if !tt.ran {
				require.Contains(t, r.err, tt.why)
				p.empty()
				return
			}
			require.Empty(t, r.err)
			require.Regexp(t, `^x:[0-9.]+\|ms\|#a:b$`, p.packet())
		})
	}
}

// A report that cannot be sent is told, and changes nothing about the command's code.
func TestTheCommandsCodeGoesFirst(t *testing.T) {
	dead := closedPort(t, "tcp")
	for _, flags := range [][]string{
		{"-hostport", closedPort(t, "udp")},
		{"-hostport", dead},
		{"-ssf", "-hostport", dead},
		{"-grpc", "-hostport", dead},
		{"-hostport", "unix:///no/such/socket"},
	} {
		for _, code := range []int{0, 9} {
			r := emit(t, append(flags, "-name", "x", "-command", "sh", "-c", fmt.Sprintf("echo out; echo err >&2; exit %d", code))...)
			require.Equal(t, code, r.code)
			require.Equal(t, "out\n", r.out)
			require.Regexp(t, "^err\nveneur-emit: .*\n$", r.err)
		}
	}
}

// A mistake is told before the command has run.
func TestMistakesRunNothing(t *testing.T) {
	made := filepath.Join(t.TempDir(), "made")
	for _, flags := range [][]string{
		{"-hostport", "nowhere"},
		{"-ssf", "-span_endtime", "noon"},
		{"-ssf", "-gauge", "1e39"},
		{"-grpc", "-hostport", "h:1", "-proxy", "h"},
		{"-e_title", "t"},
	} {
		r := emit(t, append(flags, "-name", "x", "-command", "touch", made)...)
		require.Equal(t, exitFailure, r.code)
		require.NoFileExists(t, made)
	}
}

func TestOtherMetricsBesideACommand(t *testing.T) {
	p := listen(t, "udp")
	requireSent(t, emit(t, "-hostport", p.hostport, "-name", "x", "-count", "1", "-command", "sleep", "0.05"))
	var ms float64
	packet := p.packet()
	_, err := fmt.Sscanf(packet, "x:1|c\nx:%f|ms", &ms)
	require.NoError(t, err, packet)
	require.GreaterOrEqual(t, ms, 50.0)
	require.Less(t, ms, 1000*patience.Seconds())
}

// Every byte goes in and out, on the right stream, in the order in which it came.
func TestB135StreamsAreUntouched(t *testing.T) {
	p := listen(t, "udp")
	in := make([]byte, 4<<20+7)
	for i := range in {
		in[i] = byte(i * i >> 3)
	}
	cmd := process(t, timedShell(p.hostport, `printf 'e\000\r\nrr' >&2; cat`)...)
	cmd.Stdin = bytes.NewReader(in)
	r := start(t, cmd)
	require.Zero(t, r.code)
	require.Equal(t, "e\x00\r\nrr", r.err)
	require.Equal(t, sha256.Sum256(in), sha256.Sum256([]byte(r.out)))
}

// A command that leaves its input alone leaves it to whoever reads on, and does not keep veneur-emit.
func TestB135AnInputThatNobodyReads(t *testing.T) {
	p := listen(t, "udp")
	in, out, err := os.Pipe()
	require.NoError(t, err)
	defer in.Close()
	defer out.Close()
	_, err = io.WriteString(out, "one\ntwo\n")
	require.NoError(t, err)
	cmd := process(t, timedShell(p.hostport, "exit 5")...)
	cmd.Stdin = in
	require.Equal(t, 5, start(t, cmd).code)

	cmd = process(t, timedShell(p.hostport, "read line; echo $line")...)
	cmd.Stdin = in
	require.Equal(t, result{out: "one\n"}, start(t, cmd))
}

// The command has the very descriptors of veneur-emit, a closed one included.
func TestB135TheCommandHasOurDescriptors(t *testing.T) {
	p := listen(t, "udp")
	path := filepath.Join(t.TempDir(), "out")
	file, err := os.Create(path)
	require.NoError(t, err)
	defer file.Close()
	cmd := process(t, timedShell(p.hostport, `echo again; test -f /dev/stdout && echo file`)...)
	cmd.Stdout = file
	require.NoError(t, cmd.Run())
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(data), "again\n"))
}

// A child of the command that lives on and holds the streams does not hold veneur-emit.
func TestADaemonOfTheCommand(t *testing.T) {
	p := listen(t, "udp")
	in, out, err := os.Pipe()
	require.NoError(t, err)
	cmd := process(t, timedShell(p.hostport, `cat <&3 >/dev/null & exit 6`)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{in}
	require.NoError(t, cmd.Start())
	require.NoError(t, in.Close())
	require.Error(t, cmd.Wait())
	require.Equal(t, 6, cmd.ProcessState.ExitCode())
	require.NoError(t, out.Close()) // ends the child's child
}

func TestTheEnvironmentOfACommand(t *testing.T) {
	p := listen(t, "udp")
	const script = `echo "$A $VENEUR_EMIT_TRACE_ID $VENEUR_EMIT_PARENT_SPAN_ID"`
	environ := []string{"A=b", "VENEUR_EMIT_TRACE_ID=7", "VENEUR_EMIT_PARENT_SPAN_ID=8", "PATH=" + os.Getenv("PATH")}

	r := emitWith(t, "", environ, "-hostport", p.hostport, "-name", "x", "-command", "sh", "-c", script)
	require.Equal(t, result{out: "b 7 8\n"}, r, "without a span of its own it passes on what it got")
	p.packet()

	r = emitWith(t, "", environ, "-ssf", "-hostport", p.hostport, "-name", "x", "-command", "sh", "-c", script)
	span := p.span()
	require.Equal(t, result{out: fmt.Sprintf("b 7 %d\n", span.Id)}, r)
	require.Equal(t, []int64{7, 8}, []int64{span.TraceId, span.ParentId})

	r = emitWith(t, "", environ[:1], "-ssf", "-hostport", p.hostport, "-name", "x", "-command", "sh", "-c", script)
	require.Equal(t, result{out: "b  \n"}, r, "no trace, no span")
	require.Zero(t, p.span().TraceId)
}

// signalled starts a timed script in a session of its own, waits until it says that it is ready, sends veneur-emit the signal, ends the input, and
// returns how it ended and what the script said.
func signalled(t *testing.T, hostport, script string, sig syscall.Signal) result {
	t.Helper()
	cmd := process(t, timedShell(hostport, script)...)
	// Without a terminal, as the tests may have one.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	reader := bufio.NewReader(out)
	line, err := reader.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
	require.NoError(t, cmd.Process.Signal(sig))
	require.NoError(t, in.Close())
	rest, err := io.ReadAll(reader)
	require.NoError(t, err)
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	return result{exit.ExitCode(), string(rest), stderr.String()}
}

// Signals to veneur-emit are the command's, what it makes of them is our code, and the time is reported.
func TestB135SignalsArePassedOn(t *testing.T) {
	t.Parallel()
	const wait = `echo ready; while :; do sleep 0.01; done`
	for _, tt := range []struct {
		name   string
		sig    syscall.Signal
		script string
		want   result
	}{
		{"TERM", syscall.SIGTERM, wait, result{code: 128 + 15}},
		{"HUP", syscall.SIGHUP, wait, result{code: 128 + 1}},
		{"TERM, caught", syscall.SIGTERM, `trap 'echo bye; exit 7' TERM; ` + wait, result{code: 7, out: "bye\n"}},
		{"INT, caught", syscall.SIGINT, `trap 'echo bye; exit 8' INT; ` + wait, result{code: 8, out: "bye\n"}},
		{"USR1, caught", syscall.SIGUSR1, `trap 'echo bye; exit 9' USR1; ` + wait, result{code: 9, out: "bye\n"}},
		{"QUIT, ignored by the command", syscall.SIGQUIT, `trap '' QUIT; echo ready; read told; exit 10`, result{code: 10}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := listen(t, "udp")
			require.Equal(t, tt.want, signalled(t, p.hostport, tt.script, tt.sig))
			require.Regexp(t, `^x:[0-9.]+\|ms$`, p.packet())
		})
	}
}

// What veneur-emit was started to ignore, as by nohup, the command ignores too.
func TestIgnoredSignalsStayIgnored(t *testing.T) {
	p := listen(t, "udp")
	emit := process(t, timedShell(p.hostport, "kill -HUP $$; exit 5")...)
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", `trap '' HUP; exec "$0" "$@"`}, emit.Args...)...)
	cmd.Env = emit.Env
	require.Equal(t, result{code: 5}, start(t, cmd))
}
