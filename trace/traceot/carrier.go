package traceot

import (
	"io"
	"net/url"
	"strings"

	"github.com/opentracing/opentracing-go"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace/propagation"
)

const (
	baggagePrefix = "ot-baggage-"

	// maxBinary bounds what is read from a binary carrier, which is somebody else's.
	maxBinary = 64 << 10
	// maxBaggage is how many items are taken from a carrier.
	maxBaggage = 64
)

// Inject writes a context of this package. Text maps and HTTP headers get the headers of Write, and baggage as ot-baggage-key; in HTTP its
// values are escaped. The binary format is that of the original: a span of SSF with ids alone, here with baggage as its tags.
func (t *tracer) Inject(sc opentracing.SpanContext, format, carrier any) error {
	c, ok := sc.(spanContext)
	if !ok || !c.ids().Valid() {
		return opentracing.ErrInvalidSpanContext
	}
	switch format {
	case opentracing.TextMap, opentracing.HTTPHeaders:
		w, ok := carrier.(opentracing.TextMapWriter)
		if !ok {
			return opentracing.ErrInvalidCarrier
		}
		propagation.Inject(w.Set, c.ids(), t.write...)
		for key, value := range c.baggage {
			if format == opentracing.HTTPHeaders {
				value = url.QueryEscape(value)
			}
			w.Set(baggagePrefix+key, value)
		}
		return nil
	case opentracing.Binary:
		w, ok := carrier.(io.Writer)
		if !ok {
			return opentracing.ErrInvalidCarrier
		}
		ids := c.ids()
		_, err := w.Write(ssf.AppendSpan(nil, &ssf.SSFSpan{TraceId: ids.TraceID, Id: ids.SpanID, Tags: ssf.TagsFromMap(c.baggage)}))
		return err
	}
	return opentracing.ErrUnsupportedFormat
}

// Extract reads a context. It is opentracing.ErrSpanContextNotFound when there is none that is well formed.
func (t *tracer) Extract(format, carrier any) (opentracing.SpanContext, error) {
	switch format {
	case opentracing.TextMap, opentracing.HTTPHeaders:
		r, ok := carrier.(opentracing.TextMapReader)
		if !ok {
			return nil, opentracing.ErrInvalidCarrier
		}
		return t.extractText(r, format == opentracing.HTTPHeaders)
	case opentracing.Binary:
		r, ok := carrier.(io.Reader)
		if !ok {
			return nil, opentracing.ErrInvalidCarrier
		}
		return extractBinary(r)
	}
	return nil, opentracing.ErrUnsupportedFormat
}

func (t *tracer) extractText(r opentracing.TextMapReader, escaped bool) (opentracing.SpanContext, error) {
	values, baggage := map[string][]string{}, map[string]string{}
	err := r.ForeachKey(func(key, value string) error {
		key = strings.ToLower(key)
		item, ok := strings.CutPrefix(key, baggagePrefix)
		if !ok {
			values[key] = append(values[key], value)
			return nil
		}
		if escaped {
			if plain, err := url.QueryUnescape(value); err == nil {
				value = plain
			}
		}
		if len(baggage) < maxBaggage {
			baggage[item] = value
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	sc, ok := propagation.Extract(func(key string) []string { return values[strings.ToLower(key)] }, t.read...)
	if !ok {
		return nil, opentracing.ErrSpanContextNotFound
	}
	return spanContext{remote: sc, baggage: baggage}, nil
}

func extractBinary(r io.Reader) (opentracing.SpanContext, error) {
	packet, err := io.ReadAll(io.LimitReader(r, maxBinary+1))
	switch {
	case err != nil:
		return nil, err
	case len(packet) == 0:
		return nil, opentracing.ErrSpanContextNotFound
	case len(packet) > maxBinary:
		return nil, opentracing.ErrSpanContextCorrupted
	}
	s, err := new(ssf.Decoder).Decode(packet)
	if err != nil || s.TraceId == 0 || s.Id == 0 {
		return nil, opentracing.ErrSpanContextCorrupted
	}
	c := spanContext{baggage: map[string]string{}}
	c.remote.TraceID, c.remote.SpanID = s.TraceId, s.Id
	for _, tag := range s.Tags[:min(len(s.Tags), maxBaggage)] {
		c.baggage[strings.Clone(tag.Key)] = strings.Clone(tag.Value)
	}
	return c, nil
}
