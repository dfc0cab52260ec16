package debug

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/ssf"
)

// painter says whether to colour.
type painter bool

// Colours by their ANSI SGR codes.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func (p painter) paint(code, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// cell is one column of one row. Its text has no control characters; color may be "".
type cell struct {
	text  string
	color string
	right bool
}

// table collects rows and writes them with their columns aligned.
type table struct {
	paint   painter
	maxRows int
	buf     []byte
	rows    [][]cell
}

const maxKept = 1 << 20 // a buffer that one huge interval has grown is let go

func (t *table) reset(p painter, maxRows int) {
	t.paint, t.maxRows = p, maxRows
	if cap(t.buf) > maxKept {
		t.buf = nil
	}
	t.buf = t.buf[:0]
}

func (t *table) points(b *sinks.Batch) {
	if len(b.Points) == 0 && len(b.Events)+len(b.Checks) > 0 {
		return
	}
	t.title(b.End, fmt.Sprintf("%s in %s", count(len(b.Points), "point"), b.Interval.Round(time.Millisecond)))
	t.header("NAME", "TYPE", "VALUE", "TAGS")
	// Chunks are shared with other sinks: the order is that of a copy.
	sorted := slices.SortedStableFunc(slices.Values(b.Points), func(x, y metric.Point) int {
		return strings.Compare(x.Name, y.Name)
	})
	for i := range t.shown(len(sorted)) {
		p := &sorted[i]
		tags := clean(strings.Join(p.Series.Tags, " "))
		if p.Time != 0 {
			tags = strings.TrimSpace(tags + " @" + time.Unix(p.Time, 0).UTC().Format(time.RFC3339))
		}
		t.rows = append(t.rows, []cell{
			{text: clean(p.Name), color: bold}, {text: p.Type.String(), color: dim},
			{text: number(p.Value), color: cyan, right: true}, {text: tags},
		})
	}
	t.flush(len(sorted))
}

func (t *table) events(b *sinks.Batch) {
	if len(b.Events) == 0 {
		return
	}
	t.title(b.End, count(len(b.Events), "event"))
	t.header("EVENT", "ALERT", "TEXT", "TAGS")
	for i := range t.shown(len(b.Events)) {
		e := &b.Events[i]
		t.rows = append(t.rows, []cell{
			{text: clean(e.Title), color: bold}, {text: clean(e.AlertType), color: alertColor(e.AlertType)}, {text: clean(e.Text)},
			{text: clean(strings.Join(e.Tags, " "))},
		})
	}
	t.flush(len(b.Events))
}

func (t *table) checks(b *sinks.Batch) {
	if len(b.Checks) == 0 {
		return
	}
	t.title(b.End, count(len(b.Checks), "service check"))
	t.header("CHECK", "STATUS", "MESSAGE", "TAGS")
	for i := range t.shown(len(b.Checks)) {
		c := &b.Checks[i]
		t.rows = append(t.rows, []cell{
			{text: clean(c.Name), color: bold}, {text: c.Status.String(), color: statusColor(c.Status)}, {text: clean(c.Message)},
			{text: clean(strings.Join(c.Tags, " "))},
		})
	}
	t.flush(len(b.Checks))
}

func (t *table) spans(spans []*ssf.SSFSpan) {
	if len(spans) == 0 {
		return
	}
	t.title(time.Time{}, count(len(spans), "span"))
	t.header("SERVICE", "SPAN", "DURATION", "TRACE/ID<PARENT", "TAGS")
	for i := range t.shown(len(spans)) {
		s := spans[i]
		duration := cell{text: time.Duration(s.EndTimestamp - s.StartTimestamp).String(), color: cyan, right: true}
		if s.Error {
			duration.color = red
			duration.text += " error"
		}
		tags := make([]string, len(s.Tags))
		for j := range s.Tags {
			tags[j] = s.Tags[j].Key + ":" + s.Tags[j].Value
		}
		t.rows = append(t.rows, []cell{
			{text: clean(s.Service)}, {text: clean(s.Name), color: bold}, duration,
			{text: fmt.Sprintf("%d/%d<%d", s.TraceId, s.Id, s.ParentId), color: dim}, {text: clean(strings.Join(tags, " "))},
		})
	}
	t.flush(len(spans))
}

func (t *table) shown(n int) int {
	if t.maxRows > 0 && n > t.maxRows {
		return t.maxRows
	}
	return n
}

func (t *table) title(end time.Time, what string) {
	line := what
	if !end.IsZero() {
		line = end.UTC().Format("2006-01-02 15:04:05 UTC") + "  " + what
	}
	t.buf = append(t.buf, t.paint.paint(green, "== "+line)...)
	t.buf = append(t.buf, '\n')
}

func (t *table) header(names ...string) {
	row := make([]cell, len(names))
	for i, name := range names {
		row[i] = cell{text: name, color: dim, right: name == "VALUE" || name == "DURATION"}
	}
	t.rows = append(t.rows[:0], row)
}

// flush writes the rows, then how many of the total were left out.
func (t *table) flush(total int) {
	rows := t.rows
	if len(rows) > 1 { // a header alone says nothing
		widths := make([]int, len(rows[0]))
		for _, row := range rows {
			for i := range row {
				widths[i] = max(widths[i], utf8.RuneCountInString(row[i].text))
			}
		}
		for _, row := range rows {
			t.row(row, widths)
		}
	}
	if left := total - (len(rows) - 1); left > 0 {
		t.buf = append(t.buf, t.paint.paint(yellow, fmt.Sprintf("… and %d more (max_rows)", left))...)
		t.buf = append(t.buf, '\n')
	}
	clear(t.rows)
	t.rows = t.rows[:0]
}

func (t *table) row(row []cell, widths []int) {
	last := len(row) - 1
	for last > 0 && row[last].text == "" {
		last--
	}
	for i := range row[:last+1] {
		c := &row[i]
		pad := strings.Repeat(" ", min(widths[i]-utf8.RuneCountInString(c.text), maxPad))
		text := t.paint.paint(c.color, c.text)
		switch {
		case c.right:
			text = pad + text
		case i < last:
			text += pad
		}
		t.buf = append(t.buf, text...)
		if i < last {
			t.buf = append(t.buf, "  "...)
		}
	}
	t.buf = append(t.buf, '\n')
}

// maxPad keeps one name of sixty thousand bytes from blowing up every other row.
const maxPad = 80

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// clean makes text of strangers safe for a terminal: what is not printable, an escape sequence for one, is shown as Go would quote it.
func clean(s string) string {
	if strings.IndexFunc(s, unprintable) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unprintable(r) {
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

func alertColor(alert string) string {
	switch alert {
	case "error":
		return red
	case "warning":
		return yellow
	case "success":
		return green
	default:
		return ""
	}
}

func statusColor(s metric.Status) string {
	switch s {
	case metric.OK:
		return green
	case metric.Warning:
		return yellow
	case metric.Critical:
		return red
	default:
		return dim
	}
}
