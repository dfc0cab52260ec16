package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/server"
)

// The configuration that the README begins with is valid, and a mistake in it is shown as the README says.
func TestConfigurationOfTheReadme(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	yaml := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(string(text))[1]
	t.Chdir(t.TempDir())

	require.NoError(t, os.WriteFile("veneur.yaml", []byte(yaml), 0o600))
	_, warnings, err := server.Load("veneur.yaml", nil)
	require.NoError(t, err)
	require.Empty(t, warnings)

	mistaken := strings.NewReplacer("aggregates:", "aggregats:", "kind: localfile", "kind: localfil").Replace(yaml)
	require.NoError(t, os.WriteFile("veneur.yaml", []byte(mistaken), 0o600))
	_, _, err = server.Load("veneur.yaml", nil)
	require.Error(t, err)
	for line := range strings.Lines(err.Error()) {
		require.Contains(t, string(text), "\nveneur: veneur.yaml: "+strings.TrimSuffix(line, "\n")+"\n")
	}
}
