//go:build race

package httpsend

const raceEnabled = true
