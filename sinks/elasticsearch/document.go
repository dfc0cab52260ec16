package elasticsearch

import (
	"time"

	"github.com/veneurd/veneur/internal/jsonappend"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks/jsondoc"
	"github.com/veneurd/veneur/ssf"
)

// layout appends documents of one form, each one JSON object without a newline. tags are those to write; to is where the document goes.
// An error is a constant, and then dst comes back as it was.
type layout interface {
	span(dst []byte, s *ssf.SSFSpan, tags []ssf.Tag, to *stream) ([]byte, error)
	sample(dst []byte, s *ssf.SSFSpan, m *ssf.SSFSample, tags []ssf.Tag, to *stream) ([]byte, error)
	point(dst []byte, p *metric.Point, in *period, tags []string, to *stream) ([]byte, error)
	digest(dst []byte, p *metric.DigestPoint, in *period, tags []string, to *stream) ([]byte, error)
	event(dst []byte, e *metric.Event, tags []string, to *stream) ([]byte, error)
	check(dst []byte, c *metric.Check, tags []string, to *stream) ([]byte, error)
}

// period is the interval of a batch.
type period struct {
	end    time.Time
	length time.Duration
}

// writer is what the layouts have in common. It is one sink's.
type writer struct {
	*jsondoc.Encoder
	host   string
	times  jsonappend.Times // of documents but those of points
	points jsonappend.Times // of those
	array  bool             // spans carry their samples
	fields bool             // a field a metric
	cut    uint64           // texts that had been cut when the document began
}

// Keys of our own among the tags.
const (
	keyIndicator = "ssf.indicator"
	keyRootStart = "ssf.root_start_timestamp"
	keyTruncated = "veneur.truncated"
)

func newWriter(c *Config, host string) *writer {
	w := &writer{host: host, array: c.Samples == samplesArray}
	options := jsondoc.DefaultOptions()
	options.MaxText = c.MaxTextBytes
	options.Keys.Max = maxKeyBytes
	options.Keys.Reserved = []string{keyIndicator, keyRootStart, keyTruncated}
	switch c.Layout {
	case layoutOTel:
		w.times, w.points = jsonappend.EpochMillisNanos, jsonappend.EpochMillis
		options.Keys.Reserved = append(options.Keys.Reserved, logKeys[:]...)
	case layoutECS:
		options.Keys.Dot = '_'
		options.Keys.Reserved = []string{"ssf_indicator", "ssf_root_start_timestamp", "veneur_truncated"}
	case layoutJaeger:
		options.Keys.Paths = c.JaegerTagsAsFields
		options.Keys.Reserved = nil // a list may have a key twice
		if c.JaegerTagsAsFields {
			options.Keys.Dot = '@'
			options.Keys.Reserved = []string{"error", "ssf@indicator", "ssf@root_start_timestamp", "veneur@truncated"}
		}
	}
	switch c.Timestamps {
	case timesRFC3339:
		w.times, w.points = jsonappend.RFC3339, jsonappend.RFC3339
	case timesMillis:
		w.times, w.points = jsonappend.EpochMillis, jsonappend.EpochMillis
	}
	w.Encoder = jsondoc.New(options)
	return w
}

// maxKeyBytes bounds keys of tags. Where tags are one field, key and value together are a term, which has 32766 bytes at most.
const maxKeyBytes = 512

// begin begins a document with its time and the stream's own fields.
func (w *writer) begin(dst []byte, nanos int64, to *stream) []byte {
	w.Times, w.cut = w.times, w.Counts.CutTexts
	dst = w.TimeNanos(append(dst, `{"@timestamp":`...), nanos)
	return append(append(dst, ','), to.fields...)
}

// beginAt is begin for whole seconds; ok is false for a time that no document can have.
func (w *writer) beginAt(dst []byte, seconds int64, times jsonappend.Times, to *stream) (_ []byte, ok bool) {
	w.Times, w.cut = times, w.Counts.CutTexts
	start := len(dst)
	if dst, ok = w.Time(append(dst, `{"@timestamp":`...), seconds, 0); !ok {
		return dst[:start], false
	}
	return append(append(dst, ','), to.fields...), true
}

// wasCut says whether a text of this document was cut.
func (w *writer) wasCut() bool { return w.Counts.CutTexts != w.cut }

// text appends a field, and nothing for no text. The name stands with all its punctuation.
func (w *writer) text(dst []byte, name, s string) []byte {
	if s == "" {
		return dst
	}
	return w.Text(append(dst, name...), s)
}

// member is text behind whatever stands before it in its object.
func (w *writer) member(dst []byte, name, s string) []byte {
	if s == "" {
		return dst
	}
	return w.Text(append(comma(dst), name...), s)
}

func comma(dst []byte) []byte {
	if dst[len(dst)-1] == '{' {
		return dst
	}
	return append(dst, ',')
}

// metricKey is the name of a metric as the key of a field. It is lent until the encoder writes the next tags.
func (w *writer) metricKey(name string) string {
	o := w.Order()
	o.Add(name, 0, &w.Keys, &w.Counts)
	key, _ := o.At(0)
	return key
}

// pointTime is the time of a point in seconds.
func pointTime(p *metric.Point, end time.Time) int64 {
	if p.Time != 0 {
		return p.Time
	}
	return end.Unix()
}

var sampleTypes = [...]string{"counter", "gauge", "histogram", "set", "status"}

var statusNames = [...]string{"OK", "WARNING", "CRITICAL", "UNKNOWN"}

func nameAt(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return "unknown"
	}
	return names[i]
}

// sampleFields appends what a sample says, but for its tags, as members of an object: `"name":…`. ok is false for a value that is not
// finite, which is then left out.
func (w *writer) sampleFields(dst []byte, m *ssf.SSFSample) (_ []byte, ok bool) {
	dst = w.text(dst, `"message":`, m.Message)
	if m.Message != "" {
		dst = append(dst, ',')
	}
	dst = w.Text(append(dst, `"name":`...), m.Name)
	if m.SampleRate != 0 && m.SampleRate != 1 {
		before := len(dst)
		if dst, ok = w.Float32(append(dst, `,"sample_rate":`...), m.SampleRate); !ok {
			dst = dst[:before]
		}
	}
	if m.Metric == ssf.SSFSample_STATUS {
		dst = append(append(append(dst, `,"status":"`...), nameAt(statusNames[:], int(m.Status))...), '"')
	}
	dst = append(append(append(dst, `,"type":"`...), nameAt(sampleTypes[:], int(m.Metric))...), '"')
	dst = w.text(dst, `,"unit":`, m.Unit)
	before := len(dst)
	if dst, ok = w.Float32(append(dst, `,"value":`...), m.Value); !ok {
		dst = dst[:before]
	}
	return dst, ok
}

// sampleArray appends the samples of a span, as the field ssf, when they are to be there.
func (w *writer) sampleArray(dst []byte, s *ssf.SSFSpan) []byte {
	if !w.array || len(s.Metrics) == 0 {
		return dst
	}
	dst = append(dst, `,"ssf":{"samples":[`...)
	for i := range s.Metrics {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst, _ = w.sampleFields(append(dst, '{'), &s.Metrics[i])
		dst = w.AppendTags(append(dst, `,"tags":`...), s.Metrics[i].Tags)
		dst = append(dst, '}')
	}
	return append(dst, `]}`...)
}

// histogram appends a distribution as values and how often each was there. Elasticsearch takes whole counts: what was sampled at a rate is
// rounded, and each centroid counts once at least.
func histogram(dst []byte, d metric.Digest) []byte {
	dst = append(dst, `{"counts":[`...)
	start := len(dst)
	d.EachCentroid(func(_, weight float64) bool {
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = jsonappend.Int(dst, max(1, int64(weight+0.5)))
		return true
	})
	dst = append(dst, `],"values":[`...)
	start = len(dst)
	d.EachCentroid(func(mean, _ float64) bool {
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = jsonappend.Float(dst, mean)
		return true
	})
	return append(dst, ']', '}')
}
