//go:build race

package partial

const raceEnabled = true
