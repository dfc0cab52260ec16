//go:build !race

package diskqueue_test

const raceEnabled = false
