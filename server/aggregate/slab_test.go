package aggregate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
)

// Series that lie beside each other in large pieces are each what it was made of, whatever comes after it.
func TestSeriesOfASlab(t *testing.T) {
	d := newDaemon(t, 1, func(c *Config) {
		c.ExtendTags, c.TagsExclude = []string{"dc:eu", "env:prod"}, []string{"noise"}
	})
	long := strings.Repeat("x", slabText/2)
	lines, want := "", map[string][]string{}
	for i := range 3 * slabSeries {
		name := fmt.Sprintf("c%d", i/3)
		tags := []string{"dc:eu", "env:prod", fmt.Sprintf("id:%d", i), "z"}
		lines += fmt.Sprintf("%s:1|c|#z,noise:%d,id:%d,env:test\n", name, i, i)
		if i%100 == 0 {
			lines += fmt.Sprintf("%s.long:1|c|#a:%s%d\n", name, long, i)
			want[name+".long"] = []string{"a:" + long + fmt.Sprint(i), "dc:eu", "env:prod"}
		}
		want[name+fmt.Sprint(i)] = tags
	}
	many := make([]string, slabTags)
	for i := range many {
		many[i] = fmt.Sprintf("a%05d", i)
	}
	want["many"] = append(append([]string(nil), many...), "dc:eu", "env:prod")
	for _, line := range strings.Split(strings.TrimSuffix(lines, "\n"), "\n") {
		require.Equal(t, Applied, d.add(line))
	}
	require.Equal(t, Applied, d.add("many:1|c|#"+strings.Join(many, ",")))
	var all []*metric.Series
	iv := d.collect()
	for s := range iv.Counters.All() {
		all = append(all, s.Series)
	}
	require.Len(t, all, len(want))
	for _, s := range all {
		_ = append(s.Tags, "written behind the tags") // in nobody else's memory
	}
	for _, s := range all {
		key := s.Name
		if len(s.Tags) == 4 {
			key += strings.TrimPrefix(s.Tags[2], "id:")
		}
		require.Equal(t, want[key], s.Tags, key)
		delete(want, key)
	}
	require.Empty(t, want)
}

func TestSeriesWithoutTags(t *testing.T) {
	d := newDaemon(t, 1)
	d.add("a:1|c\na:1|g")
	iv := d.collect()
	for _, s := range []*metric.Series{iv.Counters.At(0).Series, iv.Gauges.At(0).Series} {
		require.Equal(t, "a", s.Name)
		require.Empty(t, s.Tags)
	}
}

func TestSeriesAreMadeByTheSlab(t *testing.T) {
	const series = 20 * slabSeries
	d := newDaemon(t, 1)
	for i := range series {
		d.add(fmt.Sprintf("service.requests:1|c|#env:production,az:eu-west-1a,id:%d", i))
	}
	d.tables[0].Flip()
	v := d.tables[0].gens[d.tables[0].cur^1].view
	n := uint32(0)
	d.c.newSeries(&v, v.entry(1)) // which makes room in what reads keys
	got := testing.AllocsPerRun(series/2, func() {
		n++
		d.c.newSeries(&v, v.entry(n))
	})
	require.Less(t, got, 0.1, "allocations a series")
}

// A few series that live on do not keep the memory of all that were made with them.
func TestFewLeftOfASlabMove(t *testing.T) {
	const flood = 2 * sparse * minSparse
	d := newDaemon(t, 1)
	for i := range flood {
		d.add(fmt.Sprintf("c:1|c|#id:%d", i))
		if i%slabSeries == 0 {
			d.add(fmt.Sprintf("live:1|c|#id:%d", i))
		}
	}
	series := func() map[string]*metric.Series {
		iv := d.collect()
		all := map[string]*metric.Series{}
		for s := range iv.Counters.All() {
			if s.Series.Name == "live" {
				all[s.Series.Tags[0]] = s.Series
			}
		}
		d.c.Release(iv)
		d.expire()
		return all
	}
	first := series()
	require.Len(t, first, flood/slabSeries)
	next := func() map[string]*metric.Series {
		for i := 0; i < flood; i += slabSeries {
			d.add(fmt.Sprintf("live:1|c|#id:%d", i))
		}
		return series()
	}
	for range seriesIdle {
		for tag, s := range next() {
			require.Same(t, first[tag], s, "as long as the others may come again")
		}
	}
	moved := next()
	require.Equal(t, first, moved)
	for tag, s := range next() {
		require.NotSame(t, first[tag], s)
		require.Same(t, moved[tag], s, "and then they stay")
	}
}

// Nobody keeps a long text but the series whose it is.
func TestLongTextsAreNoPartOfASlab(t *testing.T) {
	d := newDaemon(t, 1)
	for i := range 100 {
		d.add(fmt.Sprintf("c%d:1|c|#%0*d", i, 2*longText, i))
	}
	d.collect()
	require.Less(t, len(d.c.slab.text), 100*8)
}
