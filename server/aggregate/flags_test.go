package aggregate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What is known of names is worked out once, and again for all when it changes for any.
func TestFlagsOfNamesAreKeptWhileTheyHold(t *testing.T) {
	steps := []struct {
		name, lines string
		want        []string // contested
	}{
		{"a flag costs nothing while there is none", "a:1|c\nb:1|c\nh:1|h", nil},
		{"another kind changes those that were there", "a:1|c\nb:1|c\nh:1|h\na:1|g", []string{"a|c", "a|g"}},
		{"what has no flag keeps none", "b:1|c\nh:1|h", nil},
		{"a name like that of an aggregate", "h:1|h\nh.min:1|g\nb:1|c", []string{"h.min|g", "h|h"}},
		{"new series of such names", "a:1|c|#x\nh.min:1|g|#x\nb:1|c|#x", []string{"a|c|#x", "h.min|g|#x"}},
	}
	d := newDaemon(t, 1)
	for _, s := range steps {
		d.add(s.lines)
		iv := d.collect()
		require.Equal(t, s.want, contested(iv), s.name)
		d.c.Release(iv)
		d.expire()
	}
	require.Equal(t, flagKnown, d.c.flags.get(d.c.tables[0].store.entry(2).id), "b")
	for range 65 {
		d.end()
	}
	d.add("a:1|c")
	require.Empty(t, contested(d.collect()), "the others are forgotten")
}

func TestForAllUntilASeriesNamesASink(t *testing.T) {
	d := newDaemon(t, 1)
	d.add("a:1|c")
	require.True(t, d.collect().ForAll)
	d.add("a:1|c\na:1|c|#veneursinkonly:x")
	require.False(t, d.collect().ForAll)
}
