package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// amount is a number on the command line, which may end in k for thousands or M for millions.
type amount uint64

// Set reads it.
func (a *amount) Set(s string) error {
	digits, unit := s, 1.0
	switch {
	case strings.HasSuffix(s, "k"):
		digits, unit = s[:len(s)-1], 1e3
	case strings.HasSuffix(s, "M"):
		digits, unit = s[:len(s)-1], 1e6
	}
	v, err := strconv.ParseFloat(digits, 64)
	v *= unit
	if err != nil || !(v >= 1 && v <= 1e15) || v != math.Trunc(v) {
		return errors.New("not a whole number above 0, such as 5000, 5k or 1.5M")
	}
	*a = amount(v)
	return nil
}

// String writes it out.
func (a *amount) String() string { return strconv.FormatUint(uint64(*a), 10) }

// pace is messages a second; 0 is as fast as possible.
type pace float64

// Set reads it.
func (p *pace) Set(s string) error {
	if s == "max" {
		*p = 0
		return nil
	}
	var a amount
	if err := a.Set(s); err != nil {
		return fmt.Errorf("%w, or max", err)
	}
	*p = pace(a)
	return nil
}

// String writes it out.
func (p *pace) String() string {
	if *p == 0 {
		return "max"
	}
	return strconv.FormatFloat(float64(*p), 'f', 0, 64)
}

// kind is a type of metric.
type kind uint8

const (
	counter kind = iota
	gauge
	timer
	set
	numKinds = iota
)

var kindNames = [numKinds]string{counter: "c", gauge: "g", timer: "ms", set: "s"}

// mix is how many of so many series are of which kind.
type mix [numKinds]int

const maxWeight = 1000

// Set reads "c", "c,ms", or "c:70,g:10,ms:15,s:5".
func (m *mix) Set(s string) error {
	var out mix
	for part := range strings.SplitSeq(s, ",") {
		name, weight, weighted := strings.Cut(part, ":")
		w := 1
		if weighted {
			var err error
			if w, err = strconv.Atoi(weight); err != nil || w < 1 || w > maxWeight {
				return fmt.Errorf("the weight in %q is no number from 1 to %d", part, maxWeight)
			}
		}
		k := slices.Index(kindNames[:], name)
		switch {
		case k < 0:
			return fmt.Errorf("%q is none of %s", name, strings.Join(kindNames[:], ", "))
		case out[k] != 0:
			return fmt.Errorf("%s stands there twice", name)
		}
		out[k] = w
	}
	*m = out
	return nil
}

// String writes it as Set reads it.
func (m *mix) String() string {
	var parts []string
	for k, w := range m {
		if w > 0 {
			parts = append(parts, fmt.Sprintf("%s:%d", kindNames[k], w))
		}
	}
	return strings.Join(parts, ",")
}

// of returns the kind of series i. Of every so many consecutive series as the weights' sum, each kind has as many as its weight.
func (m *mix) of(i int) kind {
	sum := 0
	for _, w := range m {
		sum += w
	}
	i %= sum
	for k, w := range m {
		if i < w {
			return kind(k)
		}
		i -= w
	}
	return counter
}

// only returns the kind, if there is but one.
func (m *mix) only() (k kind, ok bool) {
	n := 0
	for i, w := range m {
		if w > 0 {
			k = kind(i)
			n++
		}
	}
	return k, n == 1
}

// word is one of a few words.
type word struct {
	chosen string
	words  []string
}

// Set takes one of them.
func (w *word) Set(s string) error {
	if !slices.Contains(w.words, s) {
		return fmt.Errorf("none of %s", strings.Join(w.words, ", "))
	}
	w.chosen = s
	return nil
}

// String returns the chosen one.
func (w *word) String() string { return w.chosen }
