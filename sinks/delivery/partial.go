package delivery

import (
	"slices"

	"github.com/veneurd/veneur/sinks"
)

// tally is what a partial answer means for the items of a chunk, each counted once.
type tally struct {
	taken    int // existing included
	existing int
	refused  map[sinks.Reason]int
	again    []int // places of those to send again, ascending
}

// tallyOf reads an answer about c. It believes no more than there is: see sinks.PartialError.
func tallyOf(c cargo, answer *sinks.PartialError) tally {
	t := tally{taken: c.len()}
	unnamed := c.len()
	for at, item := range named(c, answer.Items) {
		if item == nil {
			continue
		}
		unnamed--
		switch fateOf(item) {
		case sinks.Existing:
			t.existing++
		case sinks.Retry:
			t.again = append(t.again, at)
			t.taken--
		default:
			t.refuse(1, known(item.Reason))
		}
	}
	t.refuse(max(0, min(answer.Refused, unnamed)), sinks.ReasonOther)
	return t
}

func (t *tally) refuse(n int, r sinks.Reason) {
	if n == 0 {
		return
	}
	if t.refused == nil {
		t.refused = map[sinks.Reason]int{}
	}
	t.refused[r] += n
	t.taken -= n
}

// named returns, for each place of c, what was said of it at worst, or nil.
func named(c cargo, items []sinks.Item) []*sinks.Item {
	if len(items) == 0 {
		return nil
	}
	byPlace := make([]*sinks.Item, c.len())
	for i := range items {
		item := &items[i]
		at := c.place(item.List, item.Index)
		if at >= 0 && (byPlace[at] == nil || fateOf(item) > fateOf(byPlace[at])) {
			byPlace[at] = item
		}
	}
	return byPlace
}

// fateOf is what becomes of an item: what a sink does not say is a refusal.
func fateOf(item *sinks.Item) sinks.Fate {
	if item.Fate == 0 || item.Fate > sinks.Retry {
		return sinks.Refused
	}
	return item.Fate
}

// known returns the reason, or ReasonOther for one that is none.
func known(r sinks.Reason) sinks.Reason {
	if slices.Contains(sinks.Reasons(), r) {
		return r
	}
	return sinks.ReasonOther
}
