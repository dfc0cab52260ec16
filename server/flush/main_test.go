package flush

import (
	"testing"

	"github.com/veneurd/veneur/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
