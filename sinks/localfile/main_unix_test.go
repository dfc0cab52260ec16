//go:build unix

package localfile

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(limitedDir); dir != "" {
		os.Exit(fillUp(dir))
	}
	goleak.VerifyTestMain(m)
}
