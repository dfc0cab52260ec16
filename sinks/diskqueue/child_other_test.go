//go:build !unix

package diskqueue

func child(string) int { return 2 }
