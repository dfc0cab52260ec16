//go:build unix

package main

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// passedOn are the signals by which people and supervisors talk to a command.
var passedOn = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
}

// typed reports whether a signal came from the keyboard, as far as can be told. The terminal sends such a signal to the command as well,
// and passed on it would be a second one, which to some commands means to leave everything as it is.
func typed(received os.Signal) bool {
	if received != syscall.SIGINT && received != syscall.SIGQUIT {
		return false
	}
	terminal, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer terminal.Close() //nolint:errcheck // nothing is written to it
	foreground, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPGRP)
	return err == nil && foreground == unix.Getpgrp()
}
