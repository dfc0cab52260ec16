// Package jsondoc appends JSON documents of spans, samples, points, events and checks to a buffer, for every sink that writes JSON. It is one
// package so that strings, numbers, times and keys are right in one place.
//
// An Encoder appends whole documents in the layout below, which is for sinks without one of their own: AppendSpan, AppendWireSpan,
// AppendSample, AppendPoint, AppendEvent, AppendCheck. A sink whose backend has a layout (Elasticsearch, Jaeger) writes its fields
// itself, constants together with the punctuation around them, and takes the values from the pieces here:
//
//	dst = append(dst, `{"@timestamp":`...)
//	dst = e.TimeNanos(dst, span.StartTimestamp)
//	dst = append(dst, `,"trace_id":`...)
//	dst = jsondoc.AppendTraceID(dst, span.TraceId)
//	dst = append(dst, `,"name":`...)
//	dst = e.Text(dst, span.Name)
//	dst = append(dst, `,"attributes":`...)
//	dst = e.AppendTags(dst, span.Tags)
//	dst = append(dst, '}')
//
// The pieces are those of internal/jsonappend.Writer, which every Encoder has in it (Text, Float64, Float32, Time, TimeNanos, Tree), and
// here:
//   - AppendTraceID and AppendSpanID: ids as 32 and 16 lower-case hexadecimal digits;
//   - Encoder.AppendTags: span tags as an object, by key, each key once; Encoder.AppendTagMembers: the same into an object that has
//     been begun, behind fields of the sink's own (name these in Options.Keys.Reserved);
//   - Encoder.Sorted: the same tags as a list, to be written in any other way;
//   - Encoder.AppendMetricTags and AppendMetricTagMembers: tags of a series ("key:value" or "bare") as an object; a key with several values
//     has a list of them;
//   - jsonappend.Tree for objects whose values are not all text.
//
// # Rules
//
// A document is one line of valid UTF-8, whatever comes in. Fields stand in a fixed order, keys that strangers have chosen in the order of
// their bytes, each once: of tags that have the same key the last one counts. The same input gives the same bytes. An error is a
// constant, a Reason or one of package ssf, and then dst is returned as it came. Nothing is allocated in steady state.
//
// Keys of tags are written by the rules in Options.Keys, which jsonappend.Keys describes; with DefaultOptions they are such that Elasticsearch
// and OpenSearch take every one of them. What was rewritten, cut or left out is counted in Encoder.Counts, which the caller reads.
//
// # Layout
//
// Fields in the order of their names. Those in brackets are left out when there is nothing to say.
//
//	span    @timestamp (its start) duration (ns) error id indicator kind name [parent_id] [root_timestamp] [samples] service tags trace_id [version]
//	sample  [@timestamp kind] [message] metric name [sample_rate] [scope] [status] tags [timestamp] [unit] value
//	point   @timestamp interval (ns) kind name tags type value
//	event   @timestamp [aggregation_key] [alert_type] [host] kind [priority] [source_type] tags text title
//	check   @timestamp [host] kind [message] name status tags
//
// A sample within a span has no @timestamp and kind; timestamp is the sample's own time, where it has one. A span that ends before it
// starts has the duration 0.
package jsondoc
