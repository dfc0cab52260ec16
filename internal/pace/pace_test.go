package pace

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// work works for so long and returns how long the rest was after it.
func work(p *Pacer, d time.Duration) time.Duration {
	time.Sleep(d)
	before := time.Now()
	p.Step()
	return time.Since(before)
}

func TestRestsUntilTheDaemonStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		p := Pacer{Hurry: stop}
		p.Begin()
		require.Zero(t, work(&p, 0), "it has only begun")
		require.Equal(t, rest, work(&p, workAtOnce))
		require.Zero(t, work(&p, workAtOnce-1))
		require.Equal(t, rest, work(&p, 1))
		close(stop)
		require.Zero(t, work(&p, workAtOnce), "time is short")
	})
}

func TestRestsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Pacer{Most: 3 * rest}
		for range 2 {
			p.Begin()
			for range 3 {
				require.Equal(t, rest, work(&p, time.Second))
			}
			require.Zero(t, work(&p, time.Second))
		}
	})
}

func TestWorkIsLongerAfterALateWakeUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct{ slept, work time.Duration }{
			{rest, workAtOnce}, {workAtOnce + 1, workAtOnce + 1}, {time.Second, mostAtOnce},
		} {
			p := Pacer{}
			p.Begin()
			p.slept = tt.slept
			require.Zero(t, work(&p, tt.work-1))
			p.slept = tt.slept
			require.Equal(t, rest, work(&p, 1))
		}
	})
}
