//go:build race

package spanmetrics

const raceEnabled = true
