package ssf_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every generated file of the project is what its schema gives, without protoc at hand.
func TestGeneratedCodeIsCurrent(t *testing.T) {
	// A result is cached by the files that the test itself has opened, and what the command below reads is not among them.
	schemas, err := os.ReadFile("../tools/protos")
	require.NoError(t, err)
	files := []string{"../tools/gen/main.go", "../tools/go.mod", "../tools/go.sum"}
	for _, schema := range strings.Fields(string(schemas)) {
		path := filepath.Join("..", filepath.FromSlash(schema))
		files = append(files, path, strings.TrimSuffix(path, ".proto")+".pb.go")
	}
	for _, f := range files {
		_, err := os.ReadFile(f)
		require.NoError(t, err)
	}

	cmd := exec.Command("go", "run", "./gen", "-check")
	cmd.Dir = "../tools"
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
