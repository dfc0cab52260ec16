package configtest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/veneurd/veneur/internal/config/configtest"
)

func TestExpected(t *testing.T) {
	assert.Equal(t, []string{"line 3: a: b", "c"}, configtest.Expected([]byte("# line 3: a: b\n#c\n#\n\n# not this\na: 1\n")))
	assert.Empty(t, configtest.Expected([]byte("a: 1 # no\n")))
	assert.Empty(t, configtest.Expected(nil))
}
