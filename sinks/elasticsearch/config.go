package elasticsearch

import (
	"strings"

	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/sinks/httpsend"
)

// The values of settings that are one of a few.
const (
	layoutOTel   = "otel"
	layoutECS    = "ecs"
	layoutJaeger = "jaeger"

	targetDataStream = "data_stream"
	targetIndex      = "index"

	idsDeterministic = "deterministic"
	idsAuto          = "auto"

	samplesDocuments = "documents"
	samplesArray     = "array"
	samplesNone      = "none"

	metricsAuto   = "auto"
	metricsFields = "fields"
	metricsValue  = "value"

	timesLayout  = "layout"
	timesRFC3339 = "rfc3339"
	timesMillis  = "epoch_millis"

	flavourAuto          = "auto"
	flavourElasticsearch = "elasticsearch"
	flavourOpenSearch    = "opensearch"
)

// Config says where documents go and what they look like.
type Config struct {
	httpsend.Config `yaml:",inline"`

	// Flavour is elasticsearch or opensearch; auto asks the backend before the first write. Other programs that speak the bulk protocol are
	// elasticsearch here, mostly with check_templates off.
	Flavour string `yaml:"flavour"`
	// Layout of the documents: otel, ecs, or jaeger, which is for spans only.
	Layout string `yaml:"layout"`
	// Target is data_stream, or index for plain indexes whose names have the date in them. By default it is data_stream, and index with the
	// layout jaeger.
	Target string `yaml:"target"`
	// Dataset is the middle of a data stream's name, such as traces-veneur.otel-default; the layout otel puts .otel behind it.
	Dataset string `yaml:"dataset"`
	// Namespace is the end of a data stream's name.
	Namespace string `yaml:"namespace"`
	// DatasetTag is a tag whose value is the dataset of what has it, made fit for a name; none by default.
	DatasetTag string `yaml:"dataset_tag"`
	// NamespaceTag is the same for the namespace.
	NamespaceTag string `yaml:"namespace_tag"`
	// MaxStreams is how many data streams the two tags may make. What is beyond goes to dataset and namespace.
	MaxStreams int `yaml:"max_streams"`
	// TraceIndex is the index of spans when target is index. %Y, %m, %d and %H are the parts of a document's own time, in UTC. By default it is
	// veneur-traces-%Y.%m.%d, and jaeger-span-%Y-%m-%d with the layout jaeger.
	TraceIndex string `yaml:"trace_index"`
	// MetricIndex is the index of points and of samples that spans carry.
	MetricIndex string `yaml:"metric_index"`
	// LogIndex is the index of events and service checks.
	LogIndex string `yaml:"log_index"`

	// IDs are deterministic, so that what is sent twice is there once, or auto, which the backend makes: that is faster to index, and a
	// retry after a timeout may then give duplicates.
	IDs string `yaml:"ids"`
	// Samples says what becomes of the samples that spans carry: documents of their own, an array within the span's document, or none.
	Samples string `yaml:"samples"`
	// Metrics says how points are written: fields names a field by the metric, as time series data streams of Elasticsearch want it; value has
	// the name in one field and the number in another, which no number of names and no dots in them disturb. auto is fields for
	// data streams of Elasticsearch from version 8.16 on in the layout otel, and value everywhere else.
	Metrics string `yaml:"metrics"`
	// Histograms sends the whole distribution of histograms and timers too, as Elasticsearch's type histogram. OpenSearch has no such type:
	// there they are refused.
	Histograms bool `yaml:"histograms"`
	// Timestamps are those of the layout, or rfc3339 or epoch_millis for a backend that reads no other. epoch_millis has no parts of
	// a millisecond.
	Timestamps string `yaml:"timestamps"`
	// JaegerTagsAsFields writes tags of the layout jaeger as an object, with @ for each dot, instead of a list of nested documents.
	JaegerTagsAsFields bool `yaml:"jaeger_tags_as_fields"`

	// TagKeys, when there are any, are the only keys of tags that are written.
	TagKeys []string `yaml:"tag_keys"`
	// DropTagKeys are keys of tags that are not written.
	DropTagKeys []string `yaml:"drop_tag_keys"`
	// MaxTagKeys is how many different keys of tags an index gets; tags with further ones are left out of their documents and counted. 0 is any
	// number. The default leaves room below the 1000 fields that an index may have where its mapping makes two of each tag, as it does
	// by default; raise it where tags are one field, as with the templates of this sink.
	MaxTagKeys int `yaml:"max_tag_keys"`
	// MaxTextBytes is how much of a text is written; a document in which one was cut says so. 0 is everything. Beyond 32766 bytes a backend
	// refuses the document.
	MaxTextBytes int `yaml:"max_text_bytes"`
	// MaxRequestBytes bounds a request, before compression: backends measure it so. A document that is larger alone is dropped.
	MaxRequestBytes int `yaml:"max_request_bytes"`

	// InstallTemplates makes an index template for each sort of document before the first write, where there is none of its name.
	InstallTemplates bool `yaml:"install_templates"`
	// CheckTemplates refuses to write to an index for which the backend has no template: it would guess the types of fields by the first
	// document, for ever. Turn it off for templates of the legacy sort, and for programs that have none.
	CheckTemplates bool `yaml:"check_templates"`
	// RequireDataStream has Elasticsearch, from version 8.13 on, refuse documents for a data stream that does not exist and has no template.
	RequireDataStream bool `yaml:"require_data_stream"`
}

const (
	defaultRequestBytes = 5_000_000
	defaultTagKeys      = 450
	defaultTextBytes    = 8192
	mostTextBytes       = 30_000
	leastRequestBytes   = 10_000
	mostRequestBytes    = 100_000_000
)

// DefaultConfig returns the layout otel in data streams, with ids that make retries harmless.
func DefaultConfig() Config {
	return Config{
		Config:            httpsend.DefaultConfig(),
		Flavour:           flavourAuto,
		Layout:            layoutOTel,
		Dataset:           "veneur",
		Namespace:         "default",
		MaxStreams:        100,
		MetricIndex:       "veneur-metrics-%Y.%m.%d",
		LogIndex:          "veneur-logs-%Y.%m.%d",
		IDs:               idsDeterministic,
		Samples:           samplesDocuments,
		Metrics:           metricsAuto,
		Timestamps:        timesLayout,
		MaxTagKeys:        defaultTagKeys,
		MaxTextBytes:      defaultTextBytes,
		MaxRequestBytes:   defaultRequestBytes,
		CheckTemplates:    true,
		RequireDataStream: true,
	}
}

// Validate reports every fault.
func (c *Config) Validate() error {
	var faults config.Faults
	faults.AddIn("", c.Config.Validate())
	oneOf := func(path, value string, words ...string) {
		for _, word := range words {
			if value == word {
				return
			}
		}
		faults.Add(path, "%q is none of %s", value, strings.Join(words, ", "))
	}
	oneOf("flavour", c.Flavour, flavourAuto, flavourElasticsearch, flavourOpenSearch)
	oneOf("layout", c.Layout, layoutOTel, layoutECS, layoutJaeger)
	if c.Target != "" {
		oneOf("target", c.Target, targetDataStream, targetIndex)
	}
	oneOf("ids", c.IDs, idsDeterministic, idsAuto)
	oneOf("samples", c.Samples, samplesDocuments, samplesArray, samplesNone)
	oneOf("metrics", c.Metrics, metricsAuto, metricsFields, metricsValue)
	oneOf("timestamps", c.Timestamps, timesLayout, timesRFC3339, timesMillis)
	c.validateNames(&faults)
	if c.Metrics == metricsFields && c.Layout != layoutOTel {
		faults.Add("metrics", "fields is for the layout otel")
	}
	if c.Histograms && c.Flavour == flavourOpenSearch {
		faults.Add("histograms", "OpenSearch has no type for them")
	}
	faults.AtLeast("max_streams", c.MaxStreams, 1)
	faults.AtLeast("max_tag_keys", c.MaxTagKeys, 0)
	faults.AtLeast("max_text_bytes", c.MaxTextBytes, 0)
	faults.AtMost("max_text_bytes", c.MaxTextBytes, mostTextBytes)
	faults.AtLeast("max_request_bytes", c.MaxRequestBytes, leastRequestBytes)
	faults.AtMost("max_request_bytes", c.MaxRequestBytes, mostRequestBytes)
	return faults.Err()
}

func (c *Config) validateNames(faults *config.Faults) {
	for path, name := range map[string]string{"dataset": c.Dataset, "namespace": c.Namespace} {
		if name == "" || cleanPart(name) != name {
			faults.Add(path, `%q is not lower case without any of -\/*?"<>|,#: and blanks, of at most %d bytes`, name, maxPart)
		}
	}
	for path, text := range map[string]string{"trace_index": c.TraceIndex, "metric_index": c.MetricIndex, "log_index": c.LogIndex} {
		if text == "" && path == "trace_index" {
			continue
		}
		if _, fault := parsePattern(text); fault != "" {
			faults.Add(path, "%q %s", text, fault)
		}
	}
	for i, key := range c.TagKeys {
		if key == "" {
			faults.Add(config.Index("tag_keys", i), "must not be empty")
		}
	}
	for i, key := range c.DropTagKeys {
		if key == "" {
			faults.Add(config.Index("drop_tag_keys", i), "must not be empty")
		}
	}
}

// target is the setting with its default.
func (c *Config) target() string {
	switch {
	case c.Target != "":
		return c.Target
	case c.Layout == layoutJaeger:
		return targetIndex
	}
	return targetDataStream
}

// traceIndex is the setting with its default.
func (c *Config) traceIndex() string {
	switch {
	case c.TraceIndex != "":
		return c.TraceIndex
	case c.Layout == layoutJaeger:
		return "jaeger-span-%Y-%m-%d"
	}
	return "veneur-traces-%Y.%m.%d"
}
