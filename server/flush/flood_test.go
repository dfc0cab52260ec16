package flush

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The garbage collector of a daemon that has little left would not look for minutes.
func TestFloodIsNoticedByTheGarbageCollector(t *testing.T) {
	collections := func() uint32 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumForcedGC
	}
	f := newFixture(t, tested(nil), Target{Name: "a"})
	var lines strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&lines, "once:1|c|#id:%d\n", i)
	}
	f.add("usual:1|c")
	f.points("a")
	before := collections()
	f.add(strings.Split(strings.TrimSuffix(lines.String(), "\n"), "\n")...)
	for range 10 {
		f.add("usual:1|c")
		f.points("a")
	}
	require.Equal(t, before+2, collections(), "once, and for the scavenger once more")
	for range 10 {
		f.points("a")
	}
	require.Equal(t, before+2, collections(), "and not again")
}
