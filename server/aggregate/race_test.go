//go:build race

package aggregate

const raceEnabled = true
