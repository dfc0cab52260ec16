//go:build integration

package integration

import (
	"fmt"
	"os"
	"sync"
	"testing"
)

// shared is a node that tests share when nothing happens to it: each writes to data streams of its own. It ends with the process.
var shared struct {
	sync.Once
	node *openSearch
}

// sharedNode returns the shared node.
func sharedNode(t testing.TB) backend {
	t.Helper()
	shared.Do(func() { shared.node = startOpenSearch(keeper) })
	if shared.node == nil {
		t.Fatal("the shared node did not start; see the test that tried first")
	}
	return backend{t: t, url: shared.node.url}
}

// keeper is a testing.TB whose end is that of all tests.
var keeper = &whole{}

type whole struct {
	testing.TB
	ends []func()
}

func (w *whole) Helper()          {}
func (w *whole) Failed() bool     { return false }
func (w *whole) Cleanup(f func()) { w.ends = append(w.ends, f) }
func (w *whole) FailNow()         { panic("the shared node did not start") }

func (w *whole) Logf(format string, args ...any)   { fmt.Fprintf(os.Stderr, format+"\n", args...) }
func (w *whole) Errorf(format string, args ...any) { w.Logf(format, args...) }

func (w *whole) Fatalf(format string, args ...any) {
	w.Logf(format, args...)
	w.FailNow()
}

func (w *whole) TempDir() string {
	dir, err := os.MkdirTemp("", "veneur-integration-")
	if err != nil {
		w.Fatalf("%v", err)
	}
	w.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestMain(m *testing.M) {
	code := m.Run()
	for i := len(keeper.ends) - 1; i >= 0; i-- {
		keeper.ends[i]()
	}
	os.Exit(code)
}
