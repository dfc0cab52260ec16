package elasticsearch

import (
	"strings"
	"time"
	"unicode/utf8"
)

// pattern is the name of an index with parts of a time in it.
type pattern []string // texts and, at odd places, one of Y m d H

// parsePattern reads a name with %Y, %m, %d and %H in it. fault says what is wrong with it.
func parsePattern(text string) (p pattern, fault string) {
	rest := text
	for {
		before, after, found := strings.Cut(rest, "%")
		p = append(p, before)
		if !found {
			break
		}
		if after == "" || !strings.Contains("YmdH", after[:1]) {
			return nil, "has a % that is not one of %Y %m %d %H"
		}
		p = append(p, after[:1])
		rest = after[1:]
	}
	switch name := p.at(0); {
	case name == "" || name != strings.ToLower(name) || strings.ContainsAny(name, `\/*?"<>|,#: `) || strings.ContainsAny(name[:1], "-_+."):
		return nil, `is not the name of an index: lower case, without any of \/*?"<>|,#: and blanks, and beginning with none of -_+.`
	case len(name) > maxIndexName:
		return nil, "is too long for the name of an index"
	}
	return p, ""
}

const (
	maxIndexName = 200
	maxPart      = 100 // bytes of a dataset or namespace
)

// at returns the name for a time in seconds since 1970.
func (p pattern) at(seconds int64) string {
	if len(p) == 1 {
		return p[0]
	}
	t := time.Unix(seconds, 0).UTC()
	var b strings.Builder
	for i, part := range p {
		if i%2 == 0 {
			b.WriteString(part)
			continue
		}
		switch part {
		case "Y":
			b.WriteString(t.Format("2006"))
		case "m":
			b.WriteString(t.Format("01"))
		case "d":
			b.WriteString(t.Format("02"))
		case "H":
			b.WriteString(t.Format("15"))
		}
	}
	return b.String()
}

// wild returns the pattern that matches every name: a star for each part of a time.
func (p pattern) wild() string {
	var b strings.Builder
	for i, part := range p {
		if i%2 == 1 {
			part = "*"
		}
		b.WriteString(part)
	}
	return b.String()
}

// cleanPart makes a text fit for the dataset or namespace of a data stream: what must not be there becomes an underscore, letters are made
// small, and what is too long is cut.
func cleanPart(text string) string {
	text = strings.ToLower(strings.ToValidUTF8(text, "_"))
	text = strings.Map(func(r rune) rune {
		if r <= ' ' || strings.ContainsRune(`-\/*?"<>|,#:`, r) {
			return '_'
		}
		return r
	}, text)
	if len(text) > maxPart {
		cut := maxPart
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut]
	}
	return text
}
