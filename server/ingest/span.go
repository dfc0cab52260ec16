package ingest

import (
	"errors"

	"github.com/veneurd/veneur/protocol/dogstatsd"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/ssf"
)

// span takes one SSF packet. Its samples, and the timers derived from it, go into the lane's table; the span itself, if it is one of a
// trace, to the span sinks. The error is the reason for which the packet, or its span, was refused.
func (in *intake) span(data []byte) error {
	in.count(data)
	span, err := in.decoder.Decode(data)
	if err != nil {
		return in.refuseSSF(err, data)
	}
	ssf.Normalize(span)
	if err := ssf.ValidateSpan(span); err != nil {
		return in.refuseSSF(err, data)
	}
	fault := ssf.ValidateTrace(span)
	in.deriver.Span(span, fault == nil)
	if fault != nil {
		if !ssf.InTrace(span) {
			in.counts.spans++ // it never was more than a carrier of samples
			return nil
		}
		return in.refuseSSF(fault, data)
	}
	in.counts.spans++
	in.counts.traceSpans++
	if in.spans.Wants() {
		for _, tag := range in.extend {
			span.SetTag(tag.Key, tag.Value)
		}
		in.spans.OfferSpan(span.Clone())
	}
	return nil
}

// refuseSSF counts and returns err, which is one of the reasons of package ssf, or wraps one.
func (in *intake) refuseSSF(err error, data []byte) error {
	reason, ok := err.(ssf.Reason) //nolint:errorlint // unwrapped but for framing errors; As would allocate for every bad packet
	if !ok {
		reason = "other"
		_ = errors.As(err, &reason)
	}
	in.counts.refusedSSF[reason]++
	in.log.Note(in.refusedSSFMessage(reason), data)
	return err
}

// refusedSSFMessage returns what the reason is logged under, which is made once for each of them.
func (in *intake) refusedSSFMessage(reason ssf.Reason) string {
	message, ok := in.ssfMessages[reason]
	if !ok {
		message = "ssf refused: " + string(reason)
		in.ssfMessages[reason] = message
	}
	return message
}

// target is the intake as package derive sees it.
type target struct{ in *intake }

// AddSample takes a sample that a span carried.
func (t target) AddSample(s *metric.Sample) { t.add(s, fromSpan) }

// AddTimer takes a sample made from a span's duration.
func (t target) AddTimer(s *metric.Sample) { t.add(s, fromDerived) }

func (t target) add(s *metric.Sample, from origin) {
	if reason := t.in.add(s, from); reason != dogstatsd.ReasonNone {
		_ = t.in.refuseSSF(ssf.Reason(reason.String()), s.Name)
	}
}

// AddCheck takes a status that a span carried.
func (t target) AddCheck(c metric.Check, tags []byte) {
	c.Time = t.in.timeOr(c.Time)
	if reason := t.in.addCheck(c, metric.TagsPairs, tags); reason != dogstatsd.ReasonNone {
		_ = t.in.refuseSSF(ssf.Reason(reason.String()), []byte(c.Name))
		return
	}
	t.in.counts.outcomes[fromSpan][applied]++
}

// RefuseSample takes a sample that a span carried and that makes no sense.
func (t target) RefuseSample(name string, reason error) { _ = t.in.refuseSSF(reason, []byte(name)) }
