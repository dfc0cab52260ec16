package debug

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/veneurd/veneur/internal/jsonappend"
	"github.com/veneurd/veneur/protocol/metric"
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
	if !p || s == "" || code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// number writes plain digits as long as people can read them.
func number(v float64) string { return string(jsonappend.Float(nil, v)) }

// maxText is how many characters of a text are shown.
const maxText = 1000

// clean makes text of strangers safe for a terminal: what is not printable, such as an escape sequence or a change of the direction of
// writing, is shown as Go would quote it, and what is very long is cut.
func clean(s string) string {
	if len(s) <= maxText && utf8.ValidString(s) && strings.IndexFunc(s, unprintable) < 0 {
		return s
	}
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > maxText {
			b.WriteString("…")
			break
		}
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
