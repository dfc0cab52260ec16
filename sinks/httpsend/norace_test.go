//go:build !race

package httpsend

const raceEnabled = false
