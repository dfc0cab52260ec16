package telemetry

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHandles(t *testing.T) {
	refused := Desc{Name: "refused", Kind: Counter, Tags: []string{"protocol", "reason"}}
	same := refused
	r := New()
	r.Counter(&refused, "udp", "no_type").Add(3)
	r.Counter(&same, "udp", "no_type").Inc()
	r.Counter(&refused, "tcp", "no_type").Inc()
	require.Same(t, r.Counter(&refused, "udp", "no_type"), r.Counter(&same, "udp", "no_type"))
	require.Equal(t, uint64(4), r.Counter(&refused, "udp", "no_type").Count())
	require.Equal(t, 5.0, r.Value("refused"))
	require.Equal(t, 4.0, r.Value("refused", "protocol:udp", "reason:no_type"))
	require.Zero(t, r.Value("refused", "listener:x"))
	require.Zero(t, r.Value("nosuch"))
}

func TestFuncIsAskedAndReplaced(t *testing.T) {
	d := Desc{Name: "waiting", Kind: Gauge, Tags: []string{"sink"}}
	r := New()
	r.Func(&d, func() float64 { return 1 }, "a")
	r.Func(&d, func() float64 { r.Counter(&Desc{Name: "asked"}).Inc(); return 7 }, "a") // no lock is held
	require.Equal(t, 7.0, r.Value("waiting"))
}

func TestMistakesInTheCallingCodePanic(t *testing.T) {
	counter := Desc{Name: "a", Kind: Counter, Tags: []string{"x"}}
	for _, tt := range []struct {
		name string
		call func(r *Registry)
		want string
	}{
		{"kind", func(r *Registry) { r.Gauge(&counter, "1") }, "telemetry: a is a counter with tags [x], used as a gauge with [1]"},
		{"values", func(r *Registry) { r.Counter(&counter) }, "telemetry: a is a counter with tags [x], used as a counter with []"},
		{
			"other description",
			func(r *Registry) { r.Counter(&counter, "1"); r.Gauge(&Desc{Name: "a", Kind: Gauge}) },
			"telemetry: a is described as a counter with tags [x] and as a gauge with []",
		},
		{
			"members",
			func(r *Registry) { r.FuncSet(&counter, func(emit func(float64, ...string)) { emit(1) }); r.Gather() },
			"telemetry: a has tags [x], emitted with []",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.PanicsWithValue(t, tt.want, func() { tt.call(New()) })
		})
	}
}
