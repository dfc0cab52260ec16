package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
)

// Values that are the same in all lines, so that the totals at the far end are known whatever was lost on the way there.
const (
	counterValue = 3
	gaugeValue   = 42.5
	setMembers   = 1000 // of all that a set ever gets; so few are counted exactly

	slowestTimer = 4000 // in quarters of a millisecond, which binary floats hold exactly
)

const (
	leastMessages = 1 << 16 // in a corpus, so that a few series still get many values
	seriesPerName = 1000    // as clients do it, most of what makes a series is in its tags
	maxTags       = 32
)

// namePrefix is what the names of a kind begin with.
var namePrefix = [numKinds]string{counter: "load.c.", gauge: "load.g.", timer: "load.t.", set: "load.s."}

// lineLoad says which DogStatsD lines a corpus has.
type lineLoad struct {
	series int
	tags   int
	mix    mix
}

// corpus makes every series' line as often as it takes to get enough lines, each time in another order: one that repeats would be
// easier on the daemon's caches than any real sender is.
func (l lineLoad) corpus(limits limits) *corpus {
	b := builder{limits: limits}
	rng := rand.New(rand.NewPCG(1, 2)) // the same corpus every time
	template := l.lines()
	var line []byte
	for range (leastMessages + l.series - 1) / l.series {
		for _, i := range rng.Perm(l.series) {
			k := l.mix.of(i)
			var samples [numKinds]int
			samples[k] = 1
			line = appendValue(append(line[:0], template.name(i)...), k, rng)
			line = append(line, template.tags(i)...)
			b.add(line, "\n", samples)
		}
	}
	return b.corpus()
}

// lines writes the names and tags of lines.
type lines struct {
	lineLoad
	nameDigits, idDigits int
	moreTags             string
	buf                  []byte
}

func (l lineLoad) lines() *lines {
	t := &lines{lineLoad: l, idDigits: len(strconv.Itoa(l.series - 1)), nameDigits: len(strconv.Itoa((l.series - 1) / seriesPerName))}
	for i := 1; i < l.tags; i++ {
		t.moreTags += "," + tagOf(i-1)
	}
	return t
}

// name returns the name of series i, valid until the next call of a method.
func (t *lines) name(i int) []byte {
	number, digits := i, t.idDigits
	if t.lineLoad.tags > 0 {
		number, digits = i/seriesPerName, t.nameDigits
	}
	t.buf = append(append(t.buf[:0], namePrefix[t.mix.of(i)]...), padded(number, digits)...)
	return t.buf
}

func (t *lines) tags(i int) []byte {
	t.buf = t.buf[:0]
	if t.lineLoad.tags == 0 {
		return t.buf
	}
	t.buf = append(append(t.buf, "|#id:"...), padded(i, t.idDigits)...)
	t.buf = append(t.buf, t.moreTags...)
	return t.buf
}

// padded writes numbers in equal lengths, so that datagrams are of equal length too, as GSO wants them.
func padded(i, digits int) string { return fmt.Sprintf("%0*d", digits, i) }

// tagOf returns the i-th of the tags that all series have.
func tagOf(i int) string {
	common := [...]string{"env:prod", "az:eu-1b", "service:checkout", "version:2026.01.07", "method:POST", "status:200", "canary:false", "currency:eur"}
	if i < len(common) {
		return common[i]
	}
	return fmt.Sprintf("tag%d:value%d", i, i)
}

func appendValue(dst []byte, k kind, rng *rand.Rand) []byte {
	switch k {
	case gauge:
		dst = append(dst, ':')
		dst = strconv.AppendFloat(dst, gaugeValue, 'f', -1, 64)
	case timer:
		dst = append(dst, ':')
		dst = strconv.AppendFloat(dst, float64(1+rng.IntN(slowestTimer))/4, 'f', -1, 64)
	case set:
		dst = append(dst, ":m"...)
		dst = append(dst, padded(rng.IntN(setMembers), 3)...)
	default:
		dst = append(dst, ':')
		dst = strconv.AppendInt(dst, counterValue, 10)
	}
	return append(append(dst, '|'), kindNames[k]...)
}
