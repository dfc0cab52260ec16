package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/veneurd/veneur/protocol/metric"
)

// The types of flags beside those of package flag. Each says what to write when it gets something else.

// number is a finite decimal.
type number float64

func (n *number) String() string { return strconv.FormatFloat(float64(*n), 'g', -1, 64) }

func (n *number) Set(s string) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return errors.New("write a finite number, such as 3 or 1.5")
	}
	*n = number(v)
	return nil
}

// length is how long something took.
type length time.Duration

func (l *length) String() string { return time.Duration(*l).String() }

func (l *length) Set(s string) error {
	v, err := time.ParseDuration(s)
	if err != nil {
		if _, err := strconv.ParseFloat(s, 64); err == nil {
			return fmt.Errorf("the unit is missing: write %sms for milliseconds, or %ss for seconds", s, s)
		}
		return errors.New("write a duration with its unit, such as 5ms or 1.5s")
	}
	if v < 0 {
		return errors.New("nothing takes less than no time")
	}
	*l = length(v)
	return nil
}

// moment is a point in time; the zero value, or an empty text, is none.
type moment struct{ time.Time }

func (m *moment) String() string {
	if m.IsZero() {
		return ""
	}
	return m.Format(time.RFC3339Nano)
}

func (m *moment) Set(s string) (err error) {
	if s == "" {
		*m = moment{}
		return nil
	}
	m.Time, err = parseTime(s)
	return err
}

// seconds returns unix seconds, or 0 for none.
func (m *moment) seconds() int64 {
	if m.IsZero() {
		return 0
	}
	return m.Unix()
}

// word is one of a few words. The first is the default.
type word struct {
	words  []string
	chosen string
}

func (w *word) String() string { return w.chosen }

func (w *word) Set(s string) error {
	if !slices.Contains(w.words, s) {
		return fmt.Errorf("write one of %s", strings.Join(w.words, ", "))
	}
	w.chosen = s
	return nil
}

func words(w ...string) word { return word{w, w[0]} }

// state is what a service check found, by number or by name.
type state metric.Status

func (s *state) String() string { return metric.Status(*s).String() }

func (s *state) Set(text string) error {
	for _, status := range []metric.Status{metric.OK, metric.Warning, metric.Critical, metric.Unknown} {
		if text == strconv.Itoa(int(status)) || strings.EqualFold(text, status.String()) {
			*s = state(status)
			return nil
		}
	}
	return errors.New("write 0 or OK, 1 or WARNING, 2 or CRITICAL, 3 or UNKNOWN")
}
