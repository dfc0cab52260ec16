package debug

import (
	"testing"

	"github.com/veneurd/veneur/internal/leaktest"
	"github.com/veneurd/veneur/sinks/sinktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func TestContract(t *testing.T) {
	for _, color := range []string{colorNever, colorAlways} {
		sinktest.Run(t, sinktest.Case{
			Name:   "color " + color,
			Kind:   Kind(),
			YAML:   "color: " + color,
			Output: func(_ testing.TB, e *sinktest.Env) []byte { return e.Stdout.Bytes() },
		})
	}
}
