package aggregate

import (
	"fmt"
	"reflect"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestEntriesHaveNoPointers(t *testing.T) {
	require.EqualValues(t, 64, unsafe.Sizeof(entry{}), "a cache line")
	for _, v := range []any{entryPage{}, segment{}, [pageLen]record{}, nameState{}} {
		require.False(t, hasPointers(reflect.TypeOf(v)), "%T: the garbage collector would look at every series", v)
	}
}

func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return hasPointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	default:
		return t.Kind() > reflect.Complex128 // what comes after the numbers holds a pointer, but for arrays and structs
	}
}

func TestMemoryOfSeries(t *testing.T) {
	const series = 100_000
	tests := []struct {
		name, line string
		idle       bool
		most       int64 // bytes a series
	}{
		{"idle counters of one name", "service.requests.count:1|c|#env:production,az:eu-west-1a,id:%d", true, 200},
		{"idle counters of as many names", "service.requests.count.%d:1|c|#env:production,az:eu-west-1a", true, 200},
		{"timers of one value", "service.requests.latency:1|ms|#env:production,az:eu-west-1a,id:%d", false, 500},
		{"idle timers", "service.requests.latency:1|ms|#env:production,az:eu-west-1a,id:%d", true, 200},
		{"sets of one member", "service.requests.users:a|s|#env:production,az:eu-west-1a,id:%d", false, 500},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDaemon(t, 1, func(c *Config) { c.MaxSeriesPerName = series })
			before := heap()
			for i := range series {
				d.add(fmt.Sprintf(tt.line, i))
			}
			if tt.idle {
				d.end()
				for i := range series { // once more, or they would be forgotten early
					d.add(fmt.Sprintf(tt.line, i))
				}
				for range seriesIdle + 3 {
					d.end()
				}
			}
			got := (heap() - before) / series
			t.Logf("%d B", got)
			require.LessOrEqual(t, got, tt.most)
			if tt.idle {
				require.InDelta(t, got*series, d.telemetry.Value("aggregate.memory"), series*8, "what telemetry says")
			}
			runtime.KeepAlive(d)
		})
	}
}
