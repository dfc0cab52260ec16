package pace

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRestsUntilTheDaemonStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		p := Pacer{Hurry: stop}
		p.Begin()
		rested := func() time.Duration {
			before := time.Now()
			p.Step()
			return time.Since(before)
		}
		require.Zero(t, rested(), "it has only begun")
		time.Sleep(workAtOnce)
		require.Equal(t, rest, rested())
		time.Sleep(workAtOnce)
		close(stop)
		require.Zero(t, rested(), "time is short")
	})
}
