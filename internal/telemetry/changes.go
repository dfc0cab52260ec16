package telemetry

import (
	"math"
	"strings"
)

// change is what one metric has to say since the last report: a counter its growth, a gauge its value.
type change struct {
	name  string // with "veneur."
	kind  Kind
	value float64
	tags  []string // "key:value"
}

// changes remembers what was reported. It is used by one goroutine.
type changes struct {
	reported map[string]float64 // totals of counters, by name and tag values
}

// since returns what changed, in the order of the readings. A counter that has not moved by a whole number is left out, and its fraction
// waits; one that went down, because it was made anew, counts from zero. A gauge that is not a number or infinite is left out, since
// no receiver takes it. The memory of a counter that is not in readings any more is let go.
func (c *changes) since(readings []Reading) []change {
	reported := make(map[string]float64, len(c.reported))
	out := make([]change, 0, len(readings))
	for i := range readings {
		r := &readings[i]
		value := r.Value
		if math.IsNaN(value) || math.IsInf(value, 0) {
			continue
		}
		if r.Desc.Kind == Counter {
			key := r.Desc.Name + "\x00" + strings.Join(r.Values, "\x00")
			before := c.reported[key]
			if value < before {
				before = 0
			}
			value = math.Floor(value - before)
			reported[key] = before + value
			if value == 0 {
				continue
			}
		}
		out = append(out, change{name: "veneur." + r.Desc.Name, kind: r.Desc.Kind, value: value, tags: tagsOf(r)})
	}
	c.reported = reported
	return out
}

// tagsOf returns the tags of a reading as DogStatsD writes them.
func tagsOf(r *Reading) []string {
	if len(r.Values) == 0 {
		return nil
	}
	tags := make([]string, len(r.Values))
	for i, value := range r.Values {
		tags[i] = r.Desc.Tags[i] + ":" + tagEscaper.Replace(value)
	}
	return tags
}

// tagEscaper keeps a value from ending its tag, its field or its line.
var tagEscaper = strings.NewReplacer(",", "_", "|", "_", "\n", "_", "\r", "_")
