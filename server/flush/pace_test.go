package flush

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPaceRestsUntilTheDaemonStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		p := pace{since: time.Now(), hurry: stop}
		rested := func() time.Duration {
			before := time.Now()
			p.step()
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
