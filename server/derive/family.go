package derive

import (
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/veneurd/veneur/ssf"
)

// Family is which metrics a span counts in.
type Family uint8

const (
	// Alive is a span that only shows that its service lives.
	Alive Family = iota
	// Request is a span that a service answers for: the root of a trace, or an indicator.
	Request
	// Dependency is a span in which a service waits for another.
	Dependency
)

// MaxText is how many bytes of a name or a tag's value count: what is longer is cut, so that no span can take more memory than a key
// is meant to.
const MaxText = 256

// Dimensions says which tags of a span its measure has.
type Dimensions struct {
	Resource []string // keys of tags that, beside its name, make a service what it is
	Kind     string   // key of the tag with the kind of a request; "" is none
	Rate     string   // key of the tag with the sample rate; "" is none
	Targets  []string // keys of tags that name what is called, the first that is there counts
}

// Measure is what one span gives to span metrics. Its texts are those of the span: lent, as the span is.
type Measure struct {
	Service string
	Tags    []ssf.Tag // of Dimensions.Resource, as far as the span has them, by key
	Family  Family

	Name       string // of the operation
	Failed     bool
	Kind       string // of a request
	TargetKind string // of a dependency: the key of the tag that named the target
	Target     string

	Weight   float64 // how many spans it stands for
	Duration int64   // in nanoseconds, not negative
	TraceID  int64

	Reversed bool // the span ended before it started
	Cut      bool // a text was longer than MaxText
}

// Classifier makes the measures of one span after the other. It allocates nothing in steady state, and is used by one goroutine at a time.
type Classifier struct {
	dimensions Dimensions
	wanted     []string // keys of tags to look for: the resource's, the targets', kind and rate
	lengths    uint64   // a bit for the length of each; the highest for all that are longer
	values     []string // of wanted, of the span at hand
	kind, rate int      // which of wanted they are

	measure Measure
	rates   [4]rate // the last sample rates that were read
	next    int     // which of them gives way
}

// rate is a sample rate, and what it means.
type rate struct {
	text   []byte
	weight float64
}

// NewClassifier returns a Classifier that looks for the given tags.
func NewClassifier(d Dimensions) *Classifier {
	d.Resource = slices.Compact(slices.Sorted(slices.Values(d.Resource)))
	c := &Classifier{dimensions: d}
	c.wanted = append(append(append(c.wanted, d.Resource...), d.Targets...), d.Kind, d.Rate)
	c.rate = len(c.wanted) - 1
	c.kind = c.rate - 1
	c.values = make([]string, len(c.wanted))
	for _, key := range c.wanted {
		c.lengths |= lengthBit(key)
	}
	return c
}

func lengthBit(key string) uint64 { return 1 << min(len(key), 63) }

// Measure makes the measure of a span that is a valid part of a trace, with each tag once. It is valid until the next call, or as long as
// the span is.
func (c *Classifier) Measure(span *ssf.SSFSpan) *Measure {
	c.look(span.Tags)
	m := &c.measure
	*m = Measure{Tags: m.Tags[:0], Failed: span.Error, TraceID: span.TraceId, Weight: c.weightOf(c.values[c.rate])}
	m.Service = m.text(span.Service)
	for i, key := range c.dimensions.Resource {
		if value := c.values[i]; value != "" {
			m.Tags = append(m.Tags, ssf.Tag{Key: key, Value: m.text(value)})
		}
	}
	duration, reversed := span.Duration()
	m.Duration, m.Reversed = int64(duration), reversed
	if !(m.Weight > 0) {
		return m
	}
	if span.Indicator || span.ParentId == 0 || span.Id == span.TraceId {
		m.Family = Request
		m.Name, m.Kind = m.text(span.Name), m.text(c.values[c.kind])
		return m
	}
	for i, key := range c.dimensions.Targets {
		if value := c.values[len(c.dimensions.Resource)+i]; value != "" {
			m.Family = Dependency
			m.Name, m.TargetKind, m.Target = m.text(span.Name), key, m.text(value)
			break
		}
	}
	return m
}

// look finds the values of the wanted tags, in one pass over those there are.
func (c *Classifier) look(tags []ssf.Tag) {
	clear(c.values)
	for i := range tags {
		key := tags[i].Key
		if key == "" || c.lengths&lengthBit(key) == 0 {
			continue
		}
		for j := range c.wanted {
			if c.wanted[j] == key {
				c.values[j] = tags[i].Value
			}
		}
	}
}

// maxWeight bounds the weight of one span: a rate of one in a billion is no rate that somebody meant.
const maxWeight = 1e9

// weightOf returns how many spans one stands for that says it was sampled at a rate: 1 where it says nothing, nothing readable, or more than
// 1, and 0 where the rate is none that a span could have come through.
func (c *Classifier) weightOf(text string) float64 {
	if text == "" {
		return 1
	}
	for i := range c.rates {
		if string(c.rates[i].text) == text {
			return c.rates[i].weight
		}
	}
	weight := readWeight(text)
	if len(text) <= MaxText {
		r := &c.rates[c.next]
		r.text, r.weight = append(r.text[:0], text...), weight
		c.next = (c.next + 1) % len(c.rates)
	}
	return weight
}

func readWeight(text string) float64 {
	rate, err := strconv.ParseFloat(text, 64)
	switch {
	case math.IsNaN(rate) || rate <= 0 && (err == nil || rate < 0):
		return 0
	case err == nil && rate < 1:
		return min(1/rate, maxWeight)
	}
	return 1
}

// text returns what counts of a text, whole characters only.
func (m *Measure) text(s string) string {
	if len(s) <= MaxText {
		return s
	}
	m.Cut = true
	n := MaxText
	for n > MaxText-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
