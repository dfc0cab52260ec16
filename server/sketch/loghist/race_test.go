//go:build race

package loghist

const raceEnabled = true
