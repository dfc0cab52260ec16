package dogstatsd

import (
	"bytes"
	"math"
	"strconv"

	"github.com/veneurd/veneur/protocol/metric"
)

// AppendLine appends the message of an accepted line, with its origin, and without a line end. A parser reads from it what it read
// to make l; what it passed over is gone.
func AppendLine(dst []byte, l *Line) []byte {
	start := len(dst)
	switch l.Kind {
	case MetricLine:
		dst = appendMetric(dst, &l.Sample)
	case EventLine:
		dst = appendEvent(dst, &l.Event)
	case CheckLine:
		dst = appendCheck(dst, &l.Check)
	}
	return endMessage(appendOrigin(dst, &l.Origin), start)
}

// AppendMetric appends s as one message without a line end. Tags are those of metric.TagsList. Numbers are the shortest decimals
// that give the same float64 again. Name, Tags and Text are written as they are: see [AppendCleanName].
func AppendMetric(dst []byte, s *metric.Sample) []byte {
	return endMessage(appendMetric(dst, s), len(dst))
}

// AppendEvent appends e as one message without a line end. Newlines of title and text are escaped; a backslash followed by an n
// cannot be told from an escaped newline and arrives as one. The other texts are written as they are: see [AppendCleanText].
// Zero fields are left out.
func AppendEvent(dst []byte, e *Event) []byte {
	return endMessage(appendEvent(dst, e), len(dst))
}

// AppendCheck appends c as one message without a line end. Newlines of the message are escaped; everything else is written as
// it is: see [AppendCleanText]. Zero fields are left out.
func AppendCheck(dst []byte, c *Check) []byte {
	return endMessage(appendCheck(dst, c), len(dst))
}

// endMessage protects a carriage return that ends the message from the reader, who takes one off.
func endMessage(dst []byte, start int) []byte {
	if n := len(dst); n > start && dst[n-1] == '\r' {
		return append(dst, '\r')
	}
	return dst
}

var typeLetters = [...]string{
	metric.Counter:      "|c",
	metric.Gauge:        "|g",
	metric.Histogram:    "|h",
	metric.Timer:        "|ms",
	metric.Distribution: "|d",
	metric.Set:          "|s",
}

func appendMetric(dst []byte, s *metric.Sample) []byte {
	dst = append(dst, s.Name...)
	if s.Kind == metric.Set {
		dst = append(append(dst, ':'), s.Text...)
	}
	for _, v := range s.Values {
		dst = append(dst, ':')
		if s.Delta && v >= 0 {
			dst = append(dst, '+')
		}
		dst = appendNumber(dst, v)
	}
	dst = append(dst, typeLetters[s.Kind]...)
	if s.Rate != 1 && s.Rate != 0 {
		dst = appendNumber(append(dst, "|@"...), s.Rate)
	}
	dst = appendField(dst, "|#", s.Tags)
	return appendTime(dst, "|T", s.Time)
}

func appendEvent(dst []byte, e *Event) []byte {
	dst = append(dst, eventPrefix...)
	dst = strconv.AppendInt(dst, int64(escapedLen(e.Title)), 10)
	dst = append(dst, ',')
	dst = strconv.AppendInt(dst, int64(escapedLen(e.Text)), 10)
	dst = append(dst, "}:"...)
	dst = appendEscaped(dst, e.Title)
	dst = append(dst, '|')
	dst = appendEscaped(dst, e.Text)
	dst = appendTime(dst, "|d:", e.Time)
	dst = appendField(dst, "|h:", e.Host)
	dst = appendField(dst, "|k:", e.AggregationKey)
	if e.Priority != "" && e.Priority != "normal" {
		dst = append(append(dst, "|p:"...), e.Priority...)
	}
	dst = appendField(dst, "|s:", e.SourceType)
	if e.AlertType != "" && e.AlertType != "info" {
		dst = append(append(dst, "|t:"...), e.AlertType...)
	}
	return appendField(dst, "|#", e.Tags)
}

func appendCheck(dst []byte, c *Check) []byte {
	dst = append(append(dst, checkPrefix...), c.Name...)
	dst = append(dst, '|', '0'+byte(c.Status))
	dst = appendTime(dst, "|d:", c.Time)
	dst = appendField(dst, "|h:", c.Host)
	dst = appendField(dst, "|#", c.Tags)
	if len(c.Message) > 0 {
		dst = appendEscaped(append(dst, "|m:"...), c.Message)
	}
	return dst
}

func appendOrigin(dst []byte, o *Origin) []byte {
	switch {
	case len(o.ContainerID) > 0 && o.ContainerInode > 0:
		dst = append(append(dst, "|c:ci-"...), o.ContainerID...)
		dst = strconv.AppendUint(append(dst, ",in-"...), o.ContainerInode, 10)
	case len(o.ContainerID) > 0:
		dst = append(append(dst, "|c:ci-"...), o.ContainerID...)
	case o.ContainerInode > 0:
		dst = strconv.AppendUint(append(dst, "|c:in-"...), o.ContainerInode, 10)
	}
	if x := &o.External; x.Init || len(x.ContainerName) > 0 || len(x.PodUID) > 0 {
		dst = strconv.AppendBool(append(dst, "|e:it-"...), x.Init)
		dst = appendField(dst, ",cn-", x.ContainerName)
		dst = appendField(dst, ",pu-", x.PodUID)
	}
	if o.Cardinality != "" {
		dst = append(append(dst, "|card:"...), o.Cardinality...)
	}
	return dst
}

func appendField(dst []byte, mark string, value []byte) []byte {
	if len(value) == 0 {
		return dst
	}
	return append(append(dst, mark...), value...)
}

func appendTime(dst []byte, mark string, seconds int64) []byte {
	if seconds == 0 {
		return dst
	}
	return strconv.AppendInt(append(dst, mark...), seconds, 10)
}

// appendNumber appends the shortest decimal that reads as v again, without an exponent where people would write none.
func appendNumber(dst []byte, v float64) []byte {
	format := byte('f')
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, v, format, -1, 64)
}

func escapedLen(s []byte) int {
	return len(s) + bytes.Count(s, []byte{'\n'})
}

func appendEscaped(dst, s []byte) []byte {
	for {
		i := bytes.IndexByte(s, '\n')
		if i < 0 {
			return append(dst, s...)
		}
		dst = append(append(dst, s[:i]...), escapedNewline...)
		s = s[i+1:]
	}
}
