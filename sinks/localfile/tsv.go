package localfile

import (
	"strconv"
	"unicode/utf8"

	"github.com/veneurd/veneur/internal/jsonappend"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/ssf"
)

// tsv writes the columns name, tags, type, hostname, interval in seconds, unix time in seconds, value, text. Inside a column a tab, a newline
// and a carriage return are written \t, \n and \r; a backslash, another delimiter, and inside a tag a comma get a backslash before
// them. With tabs between the columns a plain split therefore finds them.
type tsv struct {
	delimiter rune
	hostname  string
}

func (t *tsv) point(dst []byte, p *metric.Point, b *sinks.Batch) []byte {
	dst = t.head(dst, p.Name, p.Series.Tags, p.Type.String(), t.hostname)
	dst = jsonappend.Float(dst, b.Interval.Seconds())
	dst = utf8.AppendRune(dst, t.delimiter)
	dst = strconv.AppendInt(dst, pointTime(p, b), 10)
	dst = utf8.AppendRune(dst, t.delimiter)
	dst = jsonappend.Float(dst, p.Value)
	return t.text(dst, "")
}

// event has the alert type as its value.
func (t *tsv) event(dst []byte, e *metric.Event) []byte {
	dst = t.head(dst, e.Title, e.Tags, "event", e.Host)
	dst = utf8.AppendRune(dst, t.delimiter)
	dst = strconv.AppendInt(dst, e.Time, 10)
	dst = utf8.AppendRune(dst, t.delimiter)
	dst = t.column(dst, e.AlertType)
	return t.text(dst, e.Text)
}

// check has the number of the status as its value.
func (t *tsv) check(dst []byte, c *metric.Check) []byte {
	dst = t.head(dst, c.Name, c.Tags, "service_check", c.Host)
	dst = utf8.AppendRune(dst, t.delimiter)
	dst = strconv.AppendInt(dst, c.Time, 10)
	dst = utf8.AppendRune(dst, t.delimiter)
	dst = strconv.AppendUint(dst, uint64(c.Status), 10)
	return t.text(dst, c.Message)
}

// span has its end as the time, its duration in nanoseconds (0 when it ends before it starts) as the value, its service as the host and its
// ids as the text.
func (t *tsv) span(dst []byte, s *ssf.SSFSpan) []byte {
	tags := make([]string, len(s.Tags))
	for i := range s.Tags {
		tags[i] = s.Tags[i].Key + ":" + s.Tags[i].Value
	}
	dst = t.head(dst, s.Name, tags, "span", s.Service)
	dst = utf8.AppendRune(dst, t.delimiter)
	dst = strconv.AppendInt(dst, s.EndTimestamp/1e9, 10)
	dst = utf8.AppendRune(dst, t.delimiter)
	took, _ := s.Duration()
	dst = strconv.AppendInt(dst, took.Nanoseconds(), 10)
	ids := strconv.FormatInt(s.TraceId, 10) + "/" + strconv.FormatInt(s.Id, 10) + "/" + strconv.FormatInt(s.ParentId, 10)
	return t.text(dst, ids)
}

func (t *tsv) head(dst []byte, name string, tags []string, typ, host string) []byte {
	dst = t.column(dst, name)
	dst = utf8.AppendRune(dst, t.delimiter)
	for i, tag := range tags {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = t.escaped(dst, tag, ',')
	}
	dst = utf8.AppendRune(dst, t.delimiter)
	dst = append(dst, typ...)
	dst = utf8.AppendRune(dst, t.delimiter)
	dst = t.column(dst, host)
	return utf8.AppendRune(dst, t.delimiter)
}

func (t *tsv) text(dst []byte, text string) []byte {
	dst = utf8.AppendRune(dst, t.delimiter)
	dst = t.column(dst, text)
	return append(dst, '\n')
}

func (t *tsv) column(dst []byte, s string) []byte { return t.escaped(dst, s, t.delimiter) }

// escaped appends text in which the delimiter and one other character have a meaning of their own.
func (t *tsv) escaped(dst []byte, s string, other rune) []byte {
	for _, r := range s {
		switch r {
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		case '\\', t.delimiter, other:
			dst = append(dst, '\\')
			dst = utf8.AppendRune(dst, r)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}
