//go:build race

package diskqueue_test

const raceEnabled = true
