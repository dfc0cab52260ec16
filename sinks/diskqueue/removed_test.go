package diskqueue

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Another queue's directory in the place of this one's is left alone, with all that is in it.
func TestDirectoryThatIsReplaced(t *testing.T) {
	c := small(t.TempDir() + "/queue")
	q := open(t, c)
	appendAll(t, q, 0, 3, 0)
	require.NoError(t, os.Rename(c.Path, c.Path+".away"))
	other := open(t, c)
	appendAll(t, other, 0, 1, 0)
	lost, err := q.Look()
	require.ErrorIs(t, err, ErrLocked)
	require.Zero(t, lost)

	require.NoError(t, other.Close())
	_, err = q.Append(record(3, 0))
	require.ErrorContains(t, err, "is another directory than it was, and holds records")
	require.NoError(t, os.Rename(c.Path, c.Path+".other"))
	require.NoError(t, os.Rename(c.Path+".away", c.Path))
	appendAll(t, q, 3, 5, 0)
	require.Equal(t, counted(0, 5), drain(t, q))
	require.NoError(t, q.Close())

	c.Path += ".other"
	other = open(t, c)
	require.Equal(t, counted(0, 1), drain(t, other))
	require.NoError(t, other.Close())
}
