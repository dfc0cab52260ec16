package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// openTerminal returns both ends of a terminal.
func openTerminal(t *testing.T) (keyboard, terminal *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { keyboard.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { terminal.Close() })
	return keyboard, terminal
}

// The terminal sends what is typed to the command as well as to veneur-emit. Commands take a second one for impatience and stop where
// they are, so that they must get one only.
func TestControlCReachesTheCommandOnce(t *testing.T) {
	t.Parallel()
	keyboard, terminal := openTerminal(t)
	p := listen(t, "udp")
	cmd := process(t, timedShell(p.hostport,
		`n=0; trap 'n=$((n+1)); echo got $n' INT; echo ready; while [ $n = 0 ]; do sleep 0.01; done; sleep 0.3; echo ended; exit $((40+n))`)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, cmd.Start())
	require.NoError(t, keyboard.SetReadDeadline(time.Time{}))
	lines := bufio.NewScanner(keyboard)
	var said []string
	for lines.Scan() {
		said = append(said, strings.TrimPrefix(lines.Text(), "^C"))
		if lines.Text() == "ready" {
			_, err := io.WriteString(keyboard, "\x03")
			require.NoError(t, err)
		}
		if lines.Text() == "ended" {
			break
		}
	}
	require.Error(t, cmd.Wait())
	require.Equal(t, 41, cmd.ProcessState.ExitCode(), said)
	require.Equal(t, []string{"ready", "got 1", "ended"}, said)
	p.packet()
}
