package spanmetrics

import (
	"testing"

	"github.com/veneurd/veneur/internal/leaktest"
)

func TestMain(m *testing.M) {
	if runChild() {
		return
	}
	leaktest.Main(m)
}
