package aggregate

import "github.com/veneurd/veneur/protocol/metric"

// MergeScopes merges the states of series that differ in scope alone. It is for a daemon that forwards to nobody: it is every tier at once, so
// that such series would give equal points. What is merged has the series of the lowest scope.
func (c *Collector) MergeScopes(iv *Interval) {
	if !iv.scoped {
		return
	}
	iv.Counters = mergeScopes(iv.Counters, func(s *CounterState) (**metric.Series, bool) { return &s.Series, s.scoped },
		func(into, from *CounterState) {
			total := sum{into.Value, into.rest}
			if total.addSum(sum{from.Value, from.rest}) {
				c.in.stats.saturated.Inc()
			}
			total = total.rounded()
			into.Value, into.rest = total.hi, total.lo
			into.Contested = into.Contested || from.Contested
		})
	iv.Gauges = mergeScopes(iv.Gauges, func(s *GaugeState) (**metric.Series, bool) { return &s.Series, s.scoped },
		func(into, from *GaugeState) {
			if from.Stamp >= into.Stamp {
				into.Value, into.Stamp = from.Value, from.Stamp
			}
			into.Contested = into.Contested || from.Contested
		})
	iv.Histograms = mergeScopes(iv.Histograms, func(s *HistogramState) (**metric.Series, bool) { return &s.Series, s.scoped },
		func(into, from *HistogramState) {
			c.mergeDigests(into, from.Digest)
			into.Contested = into.Contested || from.Contested
		})
	iv.Sets = mergeScopes(iv.Sets, func(s *SetState) (**metric.Series, bool) { return &s.Series, s.scoped },
		func(into, from *SetState) {
			c.mergeSketches(into, from.Sketch)
			into.Contested = into.Contested || from.Contested
		})
}

// mergeScopes merges states of one class into the first of each kind, in place.
func mergeScopes[S any](states []S, look func(*S) (series **metric.Series, scoped bool), merge func(into, from *S)) []S {
	first := map[string]int{}
	var key []byte
	out := states[:0]
	for i := range states {
		series, scoped := look(&states[i])
		if scoped {
			key = appendScopeless(key[:0], *series)
			if j, ok := first[string(key)]; ok {
				into, _ := look(&out[j])
				if (*series).Scope < (*into).Scope {
					*into = *series
				}
				merge(&out[j], &states[i])
				continue
			}
			first[string(key)] = len(out)
		}
		out = append(out, states[i])
	}
	clear(states[len(out):])
	return out
}

// appendScopeless appends what identifies a series among those of its class, but for the scope.
func appendScopeless(b []byte, s *metric.Series) []byte {
	b = appendCounted(appendCounted(b, s.SinkOnly), s.Name)
	for _, tag := range s.Tags {
		b = appendCounted(b, tag)
	}
	return b
}
