package debug

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/ssf"
)

// points writes the first rows of the points, by name and tags.
func (t *table) points(b *sinks.Batch, rows int) {
	if len(b.Points) == 0 {
		return
	}
	t.title(b.End, fmt.Sprintf("%s in %s", count(len(b.Points), "point"), b.Interval.Round(time.Millisecond)))
	t.header("NAME", "TYPE", "VALUE", "TAGS")
	// Chunks are shared with other sinks: the order is that of a copy.
	sorted := slices.SortedStableFunc(slices.Values(b.Points), func(x, y metric.Point) int {
		return cmp.Or(strings.Compare(x.Name, y.Name), slices.Compare(x.Series.Tags, y.Series.Tags))
	})
	for i := range sorted[:rows] {
		p := &sorted[i]
		tags := joined(p.Series.Tags)
		if p.Time != 0 {
			tags = strings.TrimSpace(tags + " @" + time.Unix(p.Time, 0).UTC().Format(time.RFC3339))
		}
		t.row(cell{text: clean(p.Name), color: bold}, cell{text: p.Type.String(), color: dim},
			cell{text: number(p.Value), color: cyan, right: true}, cell{text: tags})
	}
	t.flush(len(sorted))
}

// events writes the first rows of the events, in the order in which they came.
func (t *table) events(b *sinks.Batch, rows int) {
	if len(b.Events) == 0 {
		return
	}
	t.title(b.End, count(len(b.Events), "event"))
	t.header("EVENT", "ALERT", "TEXT", "TAGS")
	for i := range b.Events[:rows] {
		e := &b.Events[i]
		t.row(cell{text: clean(e.Title), color: bold}, cell{text: clean(e.AlertType), color: alertColor(e.AlertType)},
			cell{text: clean(e.Text)}, cell{text: joined(e.Tags)})
	}
	t.flush(len(b.Events))
}

// checks writes the first rows of the service checks, in the order in which they came.
func (t *table) checks(b *sinks.Batch, rows int) {
	if len(b.Checks) == 0 {
		return
	}
	t.title(b.End, count(len(b.Checks), "service check"))
	t.header("CHECK", "STATUS", "MESSAGE", "TAGS")
	for i := range b.Checks[:rows] {
		c := &b.Checks[i]
		t.row(cell{text: clean(c.Name), color: bold}, cell{text: c.Status.String(), color: statusColor(c.Status)},
			cell{text: clean(c.Message)}, cell{text: joined(c.Tags)})
	}
	t.flush(len(b.Checks))
}

// spans writes the first rows of the spans, in the order in which they came.
func (t *table) spans(spans []*ssf.SSFSpan, rows int) {
	if len(spans) == 0 {
		return
	}
	t.title(time.Time{}, count(len(spans), "span"))
	t.header("SERVICE", "SPAN", "DURATION", "TRACE/ID<PARENT", "TAGS")
	for _, s := range spans[:rows] {
		took, _ := s.Duration()
		duration := cell{text: took.String(), color: cyan, right: true}
		if s.Error {
			duration.color = red
			duration.text = "error " + duration.text
		}
		tags := make([]string, len(s.Tags))
		for j := range s.Tags {
			tags[j] = s.Tags[j].Key + ":" + s.Tags[j].Value
		}
		t.row(cell{text: clean(s.Service)}, cell{text: clean(s.Name), color: bold}, duration,
			cell{text: fmt.Sprintf("%d/%d<%d", s.TraceId, s.Id, s.ParentId), color: dim}, cell{text: joined(tags)})
	}
	t.flush(len(spans))
}

func joined(tags []string) string { return clean(strings.Join(tags, " ")) }
