package ingest

import (
	"slices"

	"github.com/veneurd/veneur/protocol/dogstatsd"
	"github.com/veneurd/veneur/protocol/metric"
)

// event copies an event out of its line and into the table.
func (in *intake) event(e *dogstatsd.Event) dogstatsd.Reason {
	if !in.tags.Parse(metric.TagsList, e.Tags) {
		return dogstatsd.ReasonUTF8
	}
	return refusal(in.lane.table.AddEvent(metric.Event{
		Title:          string(e.Title),
		Text:           string(e.Text),
		Time:           in.timeOr(e.Time),
		Host:           string(e.Host),
		AggregationKey: string(e.AggregationKey),
		Priority:       e.Priority,
		AlertType:      e.AlertType,
		SourceType:     string(e.SourceType),
		Tags:           slices.Clone(in.tags.Tags),
		SinkOnly:       in.tags.SinkOnly,
	}, in.stamp))
}

// check copies a service check out of its line and into the table.
func (in *intake) check(c *dogstatsd.Check) dogstatsd.Reason {
	return in.addCheck(metric.Check{
		Name:    string(c.Name),
		Status:  c.Status,
		Message: string(c.Message),
		Time:    in.timeOr(c.Time),
		Host:    string(c.Host),
	}, metric.TagsList, c.Tags)
}

// addCheck completes a check, whose texts are its own already, by its tags and puts it into the table.
func (in *intake) addCheck(c metric.Check, form metric.TagForm, tags []byte) dogstatsd.Reason {
	if !in.tags.Parse(form, tags) {
		return dogstatsd.ReasonUTF8
	}
	scope, conflict := joinScopes(c.Scope, in.tags.Scope)
	if conflict || in.tags.Conflict {
		in.counts.conflicts++
	}
	c.Scope = scope
	c.Tags = slices.Clone(in.tags.Tags)
	c.SinkOnly = in.tags.SinkOnly
	return refusal(in.lane.table.AddCheck(c, in.stamp))
}

// joinScopes is the scope of what states one beside its tags and one by them: both at once is a conflict, and local.
func joinScopes(a, b metric.Scope) (scope metric.Scope, conflict bool) {
	switch {
	case a == metric.Mixed:
		return b, false
	case b == metric.Mixed || a == b:
		return a, false
	default:
		return metric.Local, true
	}
}

func (in *intake) timeOr(t int64) int64 {
	if t == 0 {
		return in.now
	}
	return t
}
