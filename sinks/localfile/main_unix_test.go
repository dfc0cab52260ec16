//go:build unix

package localfile

import (
	"os"
	"testing"

	"github.com/veneurd/veneur/internal/leaktest"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(limitedDir); dir != "" {
		os.Exit(fillUp(dir))
	}
	leaktest.Main(m)
}
