package aggregate

import "github.com/veneurd/veneur/protocol/metric"

// MergeScopes merges the states of series that differ in scope alone. It is for a daemon that forwards to nobody: it is every tier at once, so
// that such series would give equal points. What is merged has the series of the lowest scope.
func (c *Collector) MergeScopes(iv *Interval) {
	if !iv.scoped {
		return
	}
	mergeScopes(c, &iv.Counters, func(s *CounterState) (**metric.Series, bool) { return &s.Series, s.scoped },
		func(into, from *CounterState) {
			total := sum{into.Value, into.rest}
			if total.addSum(sum{from.Value, from.rest}) {
				c.in.stats.saturated.Inc()
			}
			total = total.rounded()
			into.Value, into.rest = total.hi, total.lo
			into.Contested = into.Contested || from.Contested
		})
	mergeScopes(c, &iv.Gauges, func(s *GaugeState) (**metric.Series, bool) { return &s.Series, s.scoped },
		func(into, from *GaugeState) {
			if from.Stamp >= into.Stamp {
				into.Value, into.Stamp = from.Value, from.Stamp
			}
			into.Contested = into.Contested || from.Contested
		})
	mergeScopes(c, &iv.Histograms, func(s *HistogramState) (**metric.Series, bool) { return &s.Series, s.scoped },
		func(into, from *HistogramState) {
			c.mergeDigests(into, from.Digest)
			into.Contested = into.Contested || from.Contested
		})
	mergeScopes(c, &iv.Sets, func(s *SetState) (**metric.Series, bool) { return &s.Series, s.scoped },
		func(into, from *SetState) {
			c.mergeSketches(into, from.Sketch)
			into.Contested = into.Contested || from.Contested
		})
}

// mergeScopes merges states of one class into the first of each kind, in place.
func mergeScopes[S any](c *Collector, states *List[S], look func(*S) (series **metric.Series, scoped bool), merge func(into, from *S)) {
	first := map[string]int{}
	var key []byte
	kept := 0
	for from := range states.Paced(stepItems, c.step) {
		series, scoped := look(from)
		if scoped {
			key = appendScopeless(key[:0], *series)
			if i, ok := first[string(key)]; ok {
				into, _ := look(states.At(i))
				if (*series).Scope < (*into).Scope {
					*into = *series
				}
				merge(states.At(i), from)
				continue
			}
			first[string(key)] = kept
		}
		*states.At(kept) = *from
		kept++
	}
	states.truncate(kept)
}

// appendScopeless appends what identifies a series among those of its class, but for the scope.
func appendScopeless(b []byte, s *metric.Series) []byte {
	b = appendCounted(appendCounted(b, s.SinkOnly), s.Name)
	for _, tag := range s.Tags {
		b = appendCounted(b, tag)
	}
	return b
}
