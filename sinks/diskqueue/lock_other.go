//go:build !unix && !windows

package diskqueue

import "errors"

// lock fails where files have no locks: two processes would take each other's records.
func lock(string) (unlock func() error, err error) {
	return nil, errors.New("this system has no file locks: a queue on disk is not possible here")
}

func syncDirectory(string) error { return nil }
