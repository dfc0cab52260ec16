package ingest

import (
	"errors"

	"github.com/veneurd/veneur/protocol/dogstatsd"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/ssf"
)

// span takes one SSF packet. Its samples, and the timers derived from it, go into the lane's table; the span itself, if it is one of a
// trace, to the span sinks. The error is the reason for which the packet was refused. A span that cannot be part of its trace does not
// make it so once a sample was taken: who sends such a packet again would have it counted twice.
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
	before := in.taken
	in.deriver.Span(span, fault == nil)
	if fault != nil && ssf.InTrace(span) {
		if in.taken == before {
			return in.refuseSSF(fault, data)
		}
		in.broken(fault, data)
	}
	in.counts.spans++
	if fault != nil {
		return nil // it was a carrier of samples
	}
	in.counts.traceSpans++
	if in.recorder != nil {
		in.recorder.Add(span, in.now)
	}
	if in.spans.Wants() {
		for _, key := range in.exclude {
			span.DeleteTag(key)
		}
		for _, tag := range in.extend {
			span.SetTag(tag.Key, tag.Value)
		}
		in.spans.OfferSpan(span.Clone())
	}
	return nil
}

// refuseSSF counts and returns err, which is one of the reasons of package ssf, or wraps one.
func (in *intake) refuseSSF(err error, data []byte) error {
	reason := reasonOf(err)
	in.counts.refusedSSF[reason]++
	in.log.Note(in.ssfMessage("ssf refused: ", reason), data)
	return err
}

// broken counts a span that meant to be part of a trace and is lost to it, while its samples were taken.
func (in *intake) broken(err error, data []byte) {
	reason := reasonOf(err)
	in.counts.brokenTraces[reason]++
	in.log.Note(in.ssfMessage("span lost to its trace: ", reason), data)
}

func reasonOf(err error) ssf.Reason {
	reason, ok := err.(ssf.Reason) //nolint:errorlint // unwrapped but for framing errors; As would allocate for every bad packet
	if !ok {
		reason = "other"
		_ = errors.As(err, &reason)
	}
	return reason
}

// ssfMessage returns what the reason is logged under, which is made once for each of them.
func (in *intake) ssfMessage(what string, reason ssf.Reason) string {
	key := ssfMessage{what, reason}
	message, ok := in.ssfMessages[key]
	if !ok {
		message = what + string(reason)
		in.ssfMessages[key] = message
	}
	return message
}

// ssfMessage names a message of the log.
type ssfMessage struct {
	what   string
	reason ssf.Reason
}

// target is the intake as package derive sees it.
type target struct{ in *intake }

// AddSample takes a sample that a span carried.
func (t target) AddSample(s *metric.Sample) {
	if t.add(s, fromSpan) {
		t.in.taken++
	}
}

// AddTimer takes a sample made from a span's duration.
func (t target) AddTimer(s *metric.Sample) { t.add(s, fromDerived) }

func (t target) add(s *metric.Sample, from origin) bool {
	reason := t.in.add(s, from)
	if reason != dogstatsd.ReasonNone {
		_ = t.in.refuseSSF(ssf.Reason(reason.String()), s.Name)
	}
	return reason == dogstatsd.ReasonNone
}

// AddCheck takes a status that a span carried.
func (t target) AddCheck(c metric.Check, tags []byte) {
	c.Time = t.in.timeOr(c.Time)
	if reason := t.in.addCheck(c, metric.TagsPairs, tags); reason != dogstatsd.ReasonNone {
		_ = t.in.refuseSSF(ssf.Reason(reason.String()), []byte(c.Name))
		return
	}
	t.in.counts.outcomes[fromSpan][applied]++
	t.in.taken++
}

// RefuseSample takes a sample that a span carried and that makes no sense.
func (t target) RefuseSample(name string, reason error) { _ = t.in.refuseSSF(reason, []byte(name)) }
