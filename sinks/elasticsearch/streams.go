package elasticsearch

import (
	"strings"

	"github.com/veneurd/veneur/internal/jsonappend"
)

// family is what a document is of, and so which index it belongs to.
type family uint8

const (
	traces family = iota
	points
	samples // that spans carry
	logs    // events and service checks
	numFamilies
)

// stream is one data stream or index.
type stream struct {
	name   string
	action []byte // begins an action line, up to the name
	fields []byte // of every document: `"data_stream":{…},`, or nothing
	keys   keySet
	ready  bool // it was made sure that the backend has a template for it
	// problem is why that could not be made sure of, for the chunk that is under way.
	problem error
}

// streams knows the data streams or indexes that documents go to. It is one sink's.
type streams struct {
	config   *Config
	patterns [numFamilies]pattern // with the target index
	fixed    [numFamilies]*stream // with the target data_stream, of dataset and namespace
	byName   map[string]*stream
	routed   int // streams that tags made
	last     [numFamilies]dated
}

// dated is the index of one hour, the last that was asked for.
type dated struct {
	hour   int64
	stream *stream
}

func newStreams(c *Config) *streams {
	s := &streams{config: c, byName: map[string]*stream{}}
	if c.target() == targetIndex {
		for of, text := range [numFamilies]string{traces: c.traceIndex(), points: c.MetricIndex, samples: c.MetricIndex, logs: c.LogIndex} {
			s.patterns[of], _ = parsePattern(text) // Validate has seen to it
		}
		return s
	}
	for of := range numFamilies {
		s.fixed[of] = s.dataStream(of, c.Dataset, c.Namespace)
	}
	return s
}

// of returns where a document of a sort goes. seconds is its time; tag looks up one of its tags.
func (s *streams) of(of family, seconds int64, tag func(key string) string) *stream {
	c := s.config
	if s.fixed[of] == nil {
		return s.index(of, seconds)
	}
	if c.DatasetTag == "" && c.NamespaceTag == "" {
		return s.fixed[of]
	}
	part := func(key, otherwise string) string {
		if key == "" {
			return otherwise
		}
		if value := cleanPart(tag(key)); value != "" {
			return value
		}
		return otherwise
	}
	dataset, namespace := part(c.DatasetTag, c.Dataset), part(c.NamespaceTag, c.Namespace)
	if dataset == c.Dataset && namespace == c.Namespace {
		return s.fixed[of]
	}
	if known := s.byName[s.streamName(of, dataset, namespace)]; known != nil {
		return known
	}
	if s.routed == c.MaxStreams {
		return s.fixed[of]
	}
	s.routed++
	return s.dataStream(of, dataset, namespace)
}

const secondsPerHour = 3600

// index returns the index of a time. An hour is the smallest part of a time that a name has.
func (s *streams) index(of family, seconds int64) *stream {
	hour := seconds / secondsPerHour
	if last := &s.last[of]; last.stream != nil && last.hour == hour {
		return last.stream
	}
	name := s.patterns[of].at(seconds)
	known := s.byName[name]
	if known == nil {
		// Old days are forgotten all at once: what is asked again of them is cheap.
		if len(s.byName) >= maxIndexes {
			clear(s.byName)
		}
		known = newStream(name, nil)
		s.byName[name] = known
	}
	s.last[of] = dated{hour, known}
	return known
}

const maxIndexes = 64

var typeOf = [numFamilies]string{traces: "traces", points: "metrics", samples: "metrics", logs: "logs"}

// dataset is the dataset as the layout and the sort make it. Samples of spans are apart: a time series data stream, which points may have,
// takes one document a series and time only, and none with an id.
func (s *streams) dataset(of family, dataset string) string {
	switch {
	case of == samples:
		return dataset + ".samples"
	case s.config.Layout == layoutOTel:
		return dataset + ".otel"
	}
	return dataset
}

func (s *streams) streamName(of family, dataset, namespace string) string {
	return typeOf[of] + "-" + s.dataset(of, dataset) + "-" + namespace
}

func (s *streams) dataStream(of family, dataset, namespace string) *stream {
	fields := append([]byte(nil), `"data_stream":{"dataset":`...)
	fields = jsonappend.String(fields, s.dataset(of, dataset))
	fields = jsonappend.String(append(fields, `,"namespace":`...), namespace)
	fields = jsonappend.String(append(fields, `,"type":`...), typeOf[of])
	fields = append(fields, '}', ',')
	made := newStream(s.streamName(of, dataset, namespace), fields)
	s.byName[made.name] = made
	return made
}

func newStream(name string, fields []byte) *stream {
	return &stream{name: name, action: jsonappend.String([]byte(`{"create":{"_index":`), name), fields: fields}
}

// forget has every stream be made sure of again.
func (s *streams) forget() {
	for _, known := range s.byName {
		known.ready = false
	}
	for i := range s.last {
		s.last[i] = dated{}
	}
}

// tagOf returns the value of a tag among "key:value".
func tagOf(tags []string, key string) string {
	for _, tag := range tags {
		if k, value, _ := strings.Cut(tag, ":"); k == key {
			return value
		}
	}
	return ""
}
