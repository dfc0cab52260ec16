//go:build unix

package ingest

import (
	"math"
	"syscall"
)

// fileLimit returns how many files the process may open. The runtime has raised the soft limit to the hard one when it started.
func fileLimit() (files int, known bool) {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0, false
	}
	return int(min(uint64(limit.Cur), math.MaxInt32)), true //nolint:unconvert // signed on some systems
}
