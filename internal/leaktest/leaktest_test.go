package leaktest_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/veneurd/veneur/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// recorder is a testing.TB whose failures are only noted.
type recorder struct {
	testing.TB
	said bytes.Buffer
}

func (r *recorder) Error(args ...any) { fmt.Fprintln(&r.said, args...) }

func TestWhatEndsLateIsNotLeft(t *testing.T) {
	before := goleak.IgnoreCurrent()
	release := make(chan struct{})
	go func() { <-release }()
	time.AfterFunc(2*time.Second, func() { close(release) }) // longer than goleak waits
	r := &recorder{TB: t}
	leaktest.VerifyNone(r, before)
	require.Empty(t, r.said.String())
}
