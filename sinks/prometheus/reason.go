package prometheus

import (
	"fmt"
	"strings"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/sinks"
)

// reason says why an item is not on the page.
type reason int

const (
	accepted    reason = iota
	typeTaken          // its name, made one that Prometheus takes, belongs to a series of another type
	seriesLimit        // a new series beyond max_series, while no other can be let go
	negative           // a counter cannot go down
	tooOld             // a gauge with a time of its own for which the page no longer has a place
	overwritten        // another gauge, which became equal by its name or labels, has a newer value in the same interval
	numReasons
)

// reasonNames are the values of the tag.
var reasonNames = [numReasons]string{"", "type_conflict", "series_limit", "negative_counter", "too_old", "gauge_collision"}

// refusals are the items of one Send that are not on the page.
type refusals struct {
	counts [numReasons]int
	name   string // of the first
}

func (r *refusals) add(why reason, name string) {
	if r.name == "" {
		r.name = name
	}
	r.counts[why]++
}

// take tells the registry and returns what Send returns.
func (r *refusals) take(counters *[numReasons]*telemetry.Metric) error {
	n := 0
	var said []string
	for why, count := range r.counts {
		if count == 0 {
			continue
		}
		n += count
		counters[why].Add(uint64(count))
		said = append(said, fmt.Sprintf("%d %s", count, reasonNames[why]))
	}
	if n == 0 {
		return nil
	}
	err := fmt.Errorf("%s; one is %.64q", strings.Join(said, ", "), r.name)
	*r = refusals{}
	return &sinks.PartialError{Refused: n, Err: err}
}

// leaving says why a series is held no more.
type leaving int

const (
	expired          leaving = iota // no value for expire_after
	evicted                         // to make room for a new one; a scraper has seen its last value
	evictedUnscraped                // the same, and nobody has
	numLeavings
)

// leavingNames are the values of the tag.
var leavingNames = [numLeavings]string{"expired", "evicted", "evicted_unscraped"}
