// Package leaktest finds goroutines that tests have left behind. It is goleak with more patience: that gives a goroutine less than half a
// second to end, which on a busy machine the end of a connection may take.
package leaktest

import (
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is for how long what is on its way out is waited for. A package that leaves nothing behind waits no longer than it takes.
const patience = 30 * time.Second

// Main runs the tests of a package, for its TestMain, and ends the process: with a code that is not 0 also when tests that passed have left
// goroutines behind.
func Main(m *testing.M) { goleak.VerifyTestMain(patient{m}) }

// VerifyNone fails the test when there are goroutines that options do not except.
func VerifyNone(t testing.TB, options ...goleak.Option) {
	t.Helper()
	settle(options...)
	goleak.VerifyNone(t, options...)
}

// patient is a run of tests that ends when its goroutines have, or never will.
type patient struct{ m *testing.M }

func (p patient) Run() int {
	code := p.m.Run()
	if code == 0 {
		settle()
	}
	return code
}

// settle returns when there is nothing to find any more, and at the latest after patience.
func settle(options ...goleak.Option) {
	for end := time.Now().Add(patience); goleak.Find(options...) != nil && time.Now().Before(end); {
		continue // Find itself makes pauses
	}
}
