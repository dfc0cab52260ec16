package telemetry

import (
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// TextContentType is the media type of what AppendText writes.
const TextContentType = "text/plain; version=0.0.4; charset=utf-8"

// AppendText appends every metric in the Prometheus text format, version 0.0.4: "ingest.lines" is veneur_ingest_lines_total when it is a
// counter. It reads the registry once, and costs about what Gather costs.
func (r *Registry) AppendText(dst []byte) []byte {
	family, name := "", ""
	for _, reading := range r.Gather() {
		if reading.Desc.Name != family {
			family, name = reading.Desc.Name, PrometheusName(reading.Desc)
			dst = appendHeader(dst, name, reading.Desc)
		}
		dst = append(dst, name...)
		dst = appendLabels(dst, &reading)
		dst = append(dst, ' ')
		dst = appendTextValue(dst, reading.Value)
		dst = append(dst, '\n')
	}
	return dst
}

// WriteText writes what AppendText gives, in one Write.
func (r *Registry) WriteText(w io.Writer) error {
	_, err := w.Write(r.AppendText(nil))
	return err
}

// PrometheusName returns the name of a metric on /metrics.
func PrometheusName(d *Desc) string {
	name := "veneur_" + string(appendWord(nil, d.Name))
	if d.Kind == Counter && !strings.HasSuffix(name, "_total") {
		name += "_total"
	}
	return name
}

func appendHeader(dst []byte, name string, d *Desc) []byte {
	dst = append(append(dst, "# HELP "...), name...)
	dst = append(dst, ' ')
	dst = appendEscaped(dst, d.Help, false)
	dst = append(append(dst, "\n# TYPE "...), name...)
	dst = append(dst, ' ')
	dst = append(dst, d.Kind.String()...)
	return append(dst, '\n')
}

func appendLabels(dst []byte, r *Reading) []byte {
	if len(r.Values) == 0 {
		return dst
	}
	dst = append(dst, '{')
	for i, key := range r.Desc.Tags {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendWord(dst, key)
		dst = append(dst, `="`...)
		dst = appendEscaped(dst, r.Values[i], true)
		dst = append(dst, '"')
	}
	return append(dst, '}')
}

// appendWord appends a name with everything that the format does not allow in one, dots included, as an underscore.
func appendWord(dst []byte, s string) []byte {
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
			dst = append(dst, c)
		default:
			dst = append(dst, '_')
		}
	}
	return dst
}

// appendEscaped appends text. Bytes that are not UTF-8, which a reader would refuse together with the whole page, are written as \xff is here,
// so that unequal values stay unequal.
func appendEscaped(dst []byte, s string, quotes bool) []byte {
	const hex = "0123456789abcdef"
	for len(s) > 0 {
		c, size := utf8.DecodeRuneInString(s)
		switch {
		case c == utf8.RuneError && size == 1:
			dst = append(dst, `\\x`...)
			dst = append(dst, hex[s[0]>>4], hex[s[0]&15])
		case c == '\\':
			dst = append(dst, `\\`...)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '"' && quotes:
			dst = append(dst, `\"`...)
		default:
			dst = append(dst, s[:size]...)
		}
		s = s[size:]
	}
	return dst
}

func appendTextValue(dst []byte, v float64) []byte {
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		return strconv.AppendInt(dst, int64(v), 10)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}
