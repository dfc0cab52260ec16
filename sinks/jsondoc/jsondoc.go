package jsondoc

import (
	"github.com/veneurd/veneur/internal/jsonappend"
	"github.com/veneurd/veneur/ssf"
)

// Options say how documents are written.
type Options struct {
	jsonappend.Style
	// Samples has a span's document carry the span's samples.
	Samples bool
}

// DefaultOptions keep ".0" on whole floats and write keys that Elasticsearch and OpenSearch take. Spans come without their samples.
func DefaultOptions() Options {
	return Options{Style: jsonappend.Style{Floats: jsonappend.PointedFloats, Keys: jsonappend.Keys{Paths: true}}}
}

// Encoder appends documents. Its memory is used again from one document to the next. It must not be used by two goroutines at once.
type Encoder struct {
	jsonappend.Writer
	samples bool
	tags    []ssf.Tag // what Sorted lends
	wire    wireSpan
	decoder ssf.Decoder // for packets that are not plain
}

// New returns an encoder with the options.
func New(o Options) *Encoder {
	return &Encoder{Writer: jsonappend.Writer{Style: o.Style}, samples: o.Samples}
}

// Counts is what happened to values and keys, see jsonappend.Counts.
type Counts = jsonappend.Counts

// Reason says why there is no document. It is an error by itself, and fit for the tag of a counter.
type Reason string

// Error says that it was a document and why there is none.
func (r Reason) Error() string { return "document: " + string(r) }

// Why there is no document.
const (
	// ReasonTime: a time outside of the years 0 to 9999.
	ReasonTime Reason = "time"
	// ReasonValue: a value that is not finite, where the document is nothing without it.
	ReasonValue Reason = "value"
)
