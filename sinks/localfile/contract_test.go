package localfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/sinks/sinktest"
)

func TestContract(t *testing.T) {
	for _, format := range []string{formatNDJSON, formatTSV} {
		path := func(e *sinktest.Env) string { return filepath.Join(e.Dir, "out") }
		sinktest.Run(t, sinktest.Case{
			Name: format,
			Kind: Kind(),
			YAML: "path: '{{dir}}/out'\nformat: " + format,
			Output: func(t testing.TB, e *sinktest.Env) []byte {
				b, err := os.ReadFile(path(e))
				require.NoError(t, err)
				return b
			},
			Break: func(t testing.TB, e *sinktest.Env) {
				require.NoError(t, os.Remove(path(e)))
				require.NoError(t, os.Mkdir(path(e), 0o755))
			},
			Mend: func(t testing.TB, e *sinktest.Env) { require.NoError(t, os.Remove(path(e))) },
		})
	}
}

func TestContractOfStandardOutput(t *testing.T) {
	sinktest.Run(t, sinktest.Case{
		Name:   "stdout",
		Kind:   Kind(),
		YAML:   `path: "-"`,
		Output: func(_ testing.TB, e *sinktest.Env) []byte { return e.Stdout.Bytes() },
	})
}
