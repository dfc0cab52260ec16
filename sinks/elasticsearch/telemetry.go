package elasticsearch

import (
	"sync/atomic"
	"time"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/sinks/jsondoc"
)

// The daemon's own metrics of this package. A span and each of the samples it carries are documents of their own.
var (
	descDocuments = telemetry.Desc{
		Name: "sink.elasticsearch.documents", Kind: telemetry.Counter, Unit: "documents", Tags: []string{"sink", "signal", "outcome"},
		Help: "Answers to documents: indexed, existing (an earlier request had brought it), failure_store, and retried, which is sent again.",
	}
	descDropped = telemetry.Desc{
		Name: "sink.elasticsearch.dropped", Kind: telemetry.Counter, Unit: "documents", Tags: []string{"sink", "signal", "reason"}, Loss: true,
		Help: "Documents that will never be there, by the backend's error.type or what this sink found itself.",
	}
	descTags = telemetry.Desc{
		Name: "sink.elasticsearch.tags_left_out", Kind: telemetry.Counter, Unit: "tags", Tags: []string{"sink", "signal", "reason"}, Loss: true,
		Help: "Tags left out of documents: by tag_keys and drop_tag_keys (rule), or by max_tag_keys (limit); counted again when sent again.",
	}
	descKeys = telemetry.Desc{
		Name: "sink.elasticsearch.keys", Kind: telemetry.Counter, Unit: "keys", Tags: []string{"sink", "signal", "change"},
		Help: "Keys of tags that were rewritten, cut, moved away from a reserved one, or left out since the same came later.",
	}
	descCutTexts = telemetry.Desc{
		Name: "sink.elasticsearch.texts_cut", Kind: telemetry.Counter, Unit: "texts", Tags: []string{"sink", "signal"},
		Help: "Texts that were longer than max_text_bytes.",
	}
	descBytes = telemetry.Desc{
		Name: "sink.elasticsearch.bytes", Kind: telemetry.Counter, Unit: "bytes", Tags: []string{"sink", "signal"},
		Help: "Bodies of bulk requests, before compression.",
	}
	descSeconds = telemetry.Desc{
		Name: "sink.elasticsearch.request_seconds", Kind: telemetry.Counter, Unit: "seconds", Tags: []string{"sink", "signal"},
		Help: "Time spent in bulk requests.",
	}
	descRequests = telemetry.Desc{
		Name: "sink.elasticsearch.requests", Kind: telemetry.Counter, Unit: "requests", Tags: []string{"sink", "signal"},
		Help: "Bulk requests, those without an answer included.",
	}
)

// Descs returns what this package counts, for the reference.
func Descs() []telemetry.Desc {
	return []telemetry.Desc{descDocuments, descDropped, descTags, descKeys, descCutTexts, descBytes, descSeconds, descRequests}
}

// counts is the counters of one sink.
type counts struct {
	documents [dropped]*telemetry.Metric
	dropped   [numReasons]*telemetry.Metric
	keys      [numChanges]*telemetry.Metric
	cutTexts  *telemetry.Metric
	bytes     *telemetry.Metric
	nanos     atomic.Int64 // spent in requests
	requests  *telemetry.Metric
}

var outcomeNames = [dropped]string{indexed: "indexed", stored: "failure_store", existing: "existing", again: "retried"}

const (
	changedRewritten = iota
	changedReserved
	changedCut
	changedDuplicate
	numChanges
)

var changeNames = [numChanges]string{"rewritten", "reserved", "cut", "duplicate"}

func newCounts(r *telemetry.Registry, name, signal string) *counts {
	c := &counts{
		cutTexts: r.Counter(&descCutTexts, name, signal),
		bytes:    r.Counter(&descBytes, name, signal),
		requests: r.Counter(&descRequests, name, signal),
	}
	r.Func(&descSeconds, func() float64 { return time.Duration(c.nanos.Load()).Seconds() }, name, signal)
	for i, outcome := range outcomeNames {
		c.documents[i] = r.Counter(&descDocuments, name, signal, outcome)
	}
	for i := range c.dropped {
		c.dropped[i] = r.Counter(&descDropped, name, signal, reasons[i].name)
	}
	for i, change := range changeNames {
		c.keys[i] = r.Counter(&descKeys, name, signal, change)
	}
	return c
}

// takeWriter counts what happened in a writer since the last time.
func (c *counts) takeWriter(w *writer) {
	n := &w.Counts
	c.keys[changedRewritten].Add(n.RewrittenKeys)
	c.keys[changedReserved].Add(n.ReservedKeys)
	c.keys[changedCut].Add(n.CutKeys)
	c.keys[changedDuplicate].Add(n.DuplicateKeys)
	c.cutTexts.Add(n.CutTexts)
	*n = jsondoc.Counts{}
}
