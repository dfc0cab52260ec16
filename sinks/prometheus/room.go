package prometheus

import (
	"math"
	"time"
)

// latest is when the latest interval of all that came began and ended, by the clocks of a moment, which cannot go back.
type latest struct {
	begun, seen   time.Duration
	begin, ending int64
}

// take takes an interval into account that ends at the moment.
func (l *latest) take(m moment) {
	l.begun, l.seen = max(l.begun, m.seen-m.interval()), max(l.seen, m.seen)
	l.begin, l.ending = max(l.begin, m.end-int64(math.Ceil(m.interval().Seconds()))), max(l.ending, m.end)
}

// missed returns for how many of its own intervals what got its last value at a moment has had none: 1 or less when it can still come in the
// interval at hand. By both clocks, so that one that is set, or an interval that waits in a queue, makes nothing idle; and by what began after the
// moment as well, so that one long interval, after a time in which the daemon did not run, does not.
func (l *latest) missed(m moment) float64 {
	own := m.interval()
	idle := min(l.seen-m.seen, l.begun-m.seen+own, time.Duration(l.ending-m.end)*time.Second, time.Duration(l.begin-m.end)*time.Second+own)
	return float64(idle) / float64(own)
}

// idleIntervals is how many of its own intervals an entry must have been without a value to be let go for another one: it has missed one, and half
// of one is for those that are late.
const idleIntervals = 1.5

// share is what part of the limit is let go at once, so that looking through everything costs each new entry little.
const share = 16

// What is let go first is told by rank, from a sixty-fourth of a doubling of the intervals missed to the next.
const (
	rankSteps = 64
	numRanks  = rankSteps * 64
)

// ranks counts entries by rank, those that a scraper has seen apart.
type ranks [2][numRanks]int

// rank returns in which place of ranks an entry counts, if it can be let go.
func (s *store) rank(e *entry) (seen, rank int, ok bool) {
	missed := s.latest.missed(e.moment)
	if missed <= idleIntervals {
		return 0, 0, false
	}
	if e.round <= s.scraped {
		seen = 1
	}
	return seen, min(numRanks-1, int(rankSteps*math.Log2(missed))), true
}

// makeRoom lets go of up to a sixteenth of the limit, of entries that have been without a value for more than one and a half of their own intervals:
// those whose last value a scraper has seen before others, and of each of the two those that have missed the most intervals. It says
// whether there is room now. When there was nothing more to let go it looks again in the next interval only, since until then nothing more
// can be missing. It looks at every entry, twice where it finds some, which takes some 0.25 µs for each.
func (s *store) makeRoom() bool {
	if s.short == s.moment.round {
		return false
	}
	var found ranks
	total := 0
	for _, e := range s.entries {
		if seen, rank, ok := s.rank(e); ok {
			found[seen][rank]++
			total++
		}
	}
	left := max(1, s.maxSeries/share)
	if total <= left {
		s.short = s.moment.round
	}
	if total == 0 {
		return false
	}
	// From here on found is how many of a rank are to go.
	for seen := 1; seen >= 0; seen-- {
		for rank := numRanks - 1; rank >= 0; rank-- {
			found[seen][rank] = min(found[seen][rank], left)
			left -= found[seen][rank]
		}
	}
	for key, e := range s.entries {
		seen, rank, ok := s.rank(e)
		if !ok || found[seen][rank] == 0 {
			continue
		}
		found[seen][rank]--
		why := evicted
		if seen == 0 {
			why = evictedUnscraped
		}
		s.remove(key, e, why)
	}
	return true
}
