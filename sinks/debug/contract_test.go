package debug

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/veneurd/veneur/sinks/sinktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
