package elasticsearch

import "strings"

// template is an index template as the daemon makes it. Its types are the document's own; nothing is guessed.
type template struct {
	name string
	body object
}

type object = map[string]any

// priority is above that of the templates that Elasticsearch comes with.
const priority = 500

// retention is for how long Elasticsearch keeps a data stream.
const retention = "7d"

// templates returns those for every sort of document that the configuration can give.
func templates(c *Config, b *backend) []template {
	t := templater{c: c, b: b, fields: metricsAsFields(c, b)}
	list := []template{t.template(traces, t.spans())}
	if c.Layout == layoutJaeger {
		return list
	}
	if c.target() == targetIndex {
		// Points and samples share an index.
		return append(list, t.template(points, t.metrics(true)), t.template(logs, t.logs()))
	}
	return append(list,
		t.template(points, t.metrics(false)),
		t.template(samples, t.metrics(true)),
		t.template(logs, t.logs()))
}

// templater makes templates for one backend.
type templater struct {
	c      *Config
	b      *backend
	fields bool
}

// template is named by what it is for, so that several sinks each have their own.
func (t *templater) template(of family, mappings object) template {
	var matches string
	settings := object{}
	if t.b.atLeast(8, 14) {
		settings["index.mapping.total_fields.ignore_dynamic_beyond_limit"] = true
	}
	body := object{"priority": priority}
	inner := object{"settings": settings, "mappings": mappings}
	if t.c.target() == targetDataStream {
		dataset, namespace := t.c.Dataset, t.c.Namespace
		if t.c.DatasetTag != "" {
			dataset = "*"
		}
		if t.c.NamespaceTag != "" {
			namespace = "*"
		}
		s := streams{config: t.c}
		matches = s.streamName(of, dataset, namespace)
		body["data_stream"] = object{}
		if t.b.atLeast(8, 11) {
			inner["lifecycle"] = object{"data_retention": retention}
		}
		if of == points && t.fields {
			settings["index.mode"] = "time_series"
			settings["index.routing_path"] = []string{"attributes.*", "_metric_names_hash"}
		}
	} else {
		names := [numFamilies]string{traces: t.c.traceIndex(), points: t.c.MetricIndex, logs: t.c.LogIndex}
		p, _ := parsePattern(names[of]) // Validate has seen to it
		matches = p.wild()
	}
	body["index_patterns"] = []string{matches}
	body["template"] = inner
	return template{"veneur-" + strings.ReplaceAll(matches, "*", "any"), body}
}

// Fields, by their types.
var (
	long     = object{"type": "long"}
	double   = object{"type": "double"}
	text     = object{"type": "text"}
	moment   = object{"type": "date_nanos"}
	keyword  = object{"type": "keyword", "ignore_above": 1024}
	constant = object{"type": "keyword"}
)

func properties(fields object) object { return object{"properties": fields} }

func alias(path string) object { return object{"type": "alias", "path": path} }

// tags is one field for all tags, however many keys there are and whatever dots are in them.
func (t *templater) tags() object {
	if t.b.openSearch {
		return object{"type": "flat_object"}
	}
	return object{"type": "flattened", "ignore_above": 8191}
}

// mappings are the fields of a sort of document, and none else.
func mappings(fields object) object {
	return object{"dynamic": false, "date_detection": false, "numeric_detection": false, "properties": fields}
}

func (t *templater) stream(fields object) object {
	if t.c.target() == targetDataStream {
		fields["data_stream"] = properties(object{"type": constant, "dataset": constant, "namespace": constant})
	}
	return mappings(fields)
}

func (t *templater) sampleFields() object {
	return object{
		"name": keyword, "type": constant, "value": double, "unit": keyword, "message": keyword, "status": constant, "sample_rate": double,
	}
}

func (t *templater) spans() object {
	array := t.sampleFields()
	array["tags"] = t.tags()
	samples := properties(object{"samples": properties(array)})
	switch t.c.Layout {
	case layoutECS:
		operation := properties(object{"id": keyword, "name": keyword, "duration": properties(object{"us": long})})
		return t.stream(object{
			"@timestamp": moment, "event": properties(object{"outcome": constant}), "host": properties(object{"name": keyword}),
			"service": properties(object{"name": keyword}), "parent": properties(object{"id": keyword}),
			"processor": properties(object{"event": constant, "name": constant}), "transaction": operation, "span": operation,
			"timestamp": properties(object{"us": long}), "trace": properties(object{"id": keyword}), "labels": t.tags(), "ssf": samples,
		})
	case layoutJaeger:
		return t.jaeger(samples)
	}
	return t.stream(object{
		"@timestamp": moment, "trace_id": keyword, "span_id": keyword, "parent_span_id": keyword, "name": keyword, "kind": constant,
		"duration": long, "status": properties(object{"code": constant}), "scope": properties(object{"name": constant}),
		"resource": properties(object{"attributes": t.resource()}), "attributes": t.tags(), "ssf": samples,
		"trace": properties(object{"id": alias("trace_id")}), "span": properties(object{"id": alias("span_id"), "name": alias("name")}),
		"parent": properties(object{"id": alias("parent_span_id")}),
	})
}

// resource is who sent it: two fields, so that both can be aggregated by.
func (t *templater) resource() object {
	return properties(object{
		"host": properties(object{"name": keyword}), "service": properties(object{"name": keyword}),
	})
}

func (t *templater) jaeger(samples object) object {
	short := object{"type": "keyword", "ignore_above": 256}
	pair := object{"type": "nested", "dynamic": false, "properties": object{"key": short, "type": short, "value": short}}
	return mappings(object{
		"traceID": short, "spanID": short, "operationName": short, "startTime": long, "duration": long, "flags": object{"type": "integer"},
		"startTimeMillis": object{"type": "date", "format": "epoch_millis"},
		"references":      object{"type": "nested", "dynamic": false, "properties": object{"refType": short, "traceID": short, "spanID": short}},
		"process":         properties(object{"serviceName": short, "tags": pair}),
		"logs":            object{"type": "nested", "dynamic": false, "properties": object{"timestamp": long, "fields": pair}},
		"tags":            pair, "tag": t.tags(), "ssf": samples,
	})
}

// metrics are points, or with samples what spans carry.
func (t *templater) metrics(samples bool) object {
	value := t.sampleFields()
	if t.c.Histograms && !t.b.openSearch {
		value["histogram"] = object{"type": "histogram"}
	}
	if t.c.Layout == layoutECS {
		return t.stream(object{
			"@timestamp": moment, "host": properties(object{"name": keyword}), "service": properties(object{"name": keyword}),
			"metric": properties(value), "metricset": properties(object{"name": constant, "interval": long}),
			"processor": properties(object{"event": constant, "name": constant}), "labels": t.tags(),
			"span": properties(object{"id": keyword}), "trace": properties(object{"id": keyword}),
		})
	}
	if t.fields && !samples {
		return t.series()
	}
	return t.stream(object{
		"@timestamp": moment, "start_timestamp": moment, "metric": properties(value), "scope": properties(object{"name": constant}),
		"resource": properties(object{"attributes": t.resource()}), "attributes": t.tags(), "trace_id": keyword, "span_id": keyword,
	})
}

// series are points with a field for each metric, in a time series data stream of Elasticsearch. Attributes are its dimensions.
func (t *templater) series() object {
	dimension := object{"type": "keyword", "time_series_dimension": true}
	m := t.stream(object{
		"@timestamp": object{"type": "date"}, "start_timestamp": moment, "_metric_names_hash": dimension,
		"metrics":    object{"type": "passthrough", "dynamic": true, "priority": 10},
		"attributes": object{"type": "passthrough", "dynamic": true, "priority": 20, "time_series_dimension": true},
		"scope":      properties(object{"name": constant}), "resource": properties(object{"attributes": t.resource()}),
	})
	m["dynamic_templates"] = []object{
		{mappingGauge: object{"mapping": object{"type": "double", "time_series_metric": "gauge"}}},
		{mappingHistogram: object{"mapping": object{"type": "histogram"}}},
		{"tags": object{"match_mapping_type": "string", "mapping": object{"type": "keyword", "ignore_above": 1024}}},
	}
	return m
}

func (t *templater) logs() object {
	if t.c.Layout == layoutECS {
		return t.stream(object{
			"@timestamp": moment, "host": properties(object{"name": keyword}), "message": text, "labels": t.tags(),
			"log": properties(object{"level": constant}), "event": properties(object{"kind": constant}),
			"dogstatsd": properties(object{
				"aggregation_key": keyword, "alert_type": keyword, "priority": keyword, "source_type": keyword, "title": keyword, "check": keyword,
				"status": constant,
			}),
		})
	}
	return t.stream(object{
		"@timestamp": moment, "body": properties(object{"text": text}), "event_name": constant, "severity_number": long,
		"severity_text": constant, "scope": properties(object{"name": constant}), "resource": properties(object{"attributes": t.resource()}),
		"attributes": t.tags(),
	})
}
