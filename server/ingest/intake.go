package ingest

import (
	"bytes"
	"time"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/protocol/dogstatsd"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/server/aggregate"
	"github.com/veneurd/veneur/server/derive"
	"github.com/veneurd/veneur/ssf"
)

// SpanSink takes the spans of traces. It may be called from many goroutines at once.
type SpanSink interface {
	// Wants says whether anybody takes spans; if not, no copies are made.
	Wants() bool
	// OfferSpan takes a span over. It must not block: a lane is locked meanwhile.
	OfferSpan(span *ssf.SSFSpan)
}

// SpanRecorder counts the spans of one lane, of which it keeps nothing. A span is a valid part of a trace, with each tag once; unix is when it
// came, in seconds.
type SpanRecorder interface {
	Add(span *ssf.SSFSpan, unix int64)
}

// intake turns what arrives into entries of its lane's table. Between begin and end, which hold the lane's lock, everything belongs to the
// goroutine that called begin.
type intake struct {
	lane  *Lane
	stats *stats
	log   *telemetry.LogSampler
	start time.Time // which stamps count from: a step of the wall clock must not put the last value of a gauge before the first

	parser   dogstatsd.Parser
	batch    dogstatsd.Batch // metrics read and not yet added; empty by end
	outcomes [dogstatsd.BatchLen]aggregate.Outcome
	tags     metric.TagSet
	decoder  ssf.Decoder
	deriver  *derive.Deriver
	spans    SpanSink
	recorder SpanRecorder // nil when nothing counts spans
	extend   []ssf.Tag    // set on every span that is passed on
	exclude  []string     // keys of tags taken from it

	src    *source
	stamp  int64 // when the batch was received, nanoseconds since start
	now    int64 // the same in unix seconds
	counts counts
	taken  uint64 // how many samples that spans carried were added so far

	ssfMessages map[ssfMessage]string // what is logged; an entry a reason, and those are constants
}

// begin starts a batch of what src received by one call.
func (in *intake) begin(src *source, received time.Time) {
	in.lane.mu.Lock()
	in.src = src
	in.stamp = int64(received.Sub(in.start))
	in.now = received.Unix()
	in.parser.GaugeDeltas = src.gaugeDeltas
}

// end adds what still waits to be, and accounts for the batch. Until then all that was handed over must stay as it is.
func (in *intake) end() {
	in.addBatch()
	in.counts.addTo(in.stats, in.src)
	if in.src.ssf {
		in.decoder.Release()
	}
	in.lane.mu.Unlock()
}

// datagrams takes one batch of datagrams.
func (in *intake) datagrams(src *source, packets []packet, received time.Time) {
	in.begin(src, received)
	for i := range packets {
		in.datagram(&packets[i])
	}
	in.end()
}

func (in *intake) datagram(p *packet) {
	if p.truncated {
		in.counts.truncated++
	}
	switch {
	case !in.src.ssf:
		in.block(p.data, p.truncated)
	case p.truncated:
		in.count(p.data)
		_ = in.refuseSSF(ssf.ReasonTruncated, p.data)
	case len(p.data) == 0:
		in.count(p.data) // some clients probe with nothing
	default:
		_ = in.span(p.data)
	}
}

// block takes a datagram, or what was read of a stream up to the end of a line. The last line of a truncated one, unless it has its
// line end, is refused: nobody knows how it went on.
func (in *intake) block(data []byte, truncated bool) {
	in.count(data)
	if truncated {
		whole := bytes.LastIndexByte(data, '\n') + 1
		if rest := data[whole:]; len(rest) > 0 {
			in.refuseRest(dogstatsd.ReasonTruncated, rest)
		}
		data = data[:whole]
	}
	in.parser.Reset(data, in.now)
	for {
		line := in.parser.Fill(&in.batch)
		switch {
		case line != nil:
			if line.Kind != dogstatsd.RefusedLine {
				in.addBatch() // which came before
			}
			in.line(line)
		case in.batch.Full():
			in.addBatch()
		default:
			return // the next datagram of the call may fill it
		}
	}
}

// addBatch puts the metrics of the batch into the table.
func (in *intake) addBatch() {
	samples := in.batch.Samples()
	outcomes := in.outcomes[:len(samples)]
	in.lane.table.AddBatch(samples, outcomes, in.stamp, in.src.id)
	in.stamp += int64(len(samples))
	in.counts.lines += uint64(len(samples))
	for i := range samples {
		if reason := in.account(&samples[i], outcomes[i], fromLine); reason != dogstatsd.ReasonNone {
			in.refuseLine(reason, in.batch.Raw(i))
			continue
		}
		in.counts.metricLines++
		in.counts.ignored += uint64(in.batch.Ignored(i))
	}
	in.batch.Reset()
}

func (in *intake) count(data []byte) {
	in.counts.packets++
	in.counts.bytes += uint64(len(data))
}

func (in *intake) line(line *dogstatsd.Line) {
	in.counts.lines++
	switch line.Kind {
	case dogstatsd.MetricLine:
		if reason := in.add(&line.Sample, fromLine); reason != dogstatsd.ReasonNone {
			in.refuseLine(reason, line.Raw)
			return
		}
		in.counts.metricLines++
	case dogstatsd.EventLine:
		if reason := in.event(&line.Event); reason != dogstatsd.ReasonNone {
			in.refuseLine(reason, line.Raw)
			return
		}
		in.counts.events++
	case dogstatsd.CheckLine:
		if reason := in.check(&line.Check); reason != dogstatsd.ReasonNone {
			in.refuseLine(reason, line.Raw)
			return
		}
		in.counts.checks++
	default:
		in.refuseLine(line.Reason, line.Raw)
		return
	}
	in.counts.ignored += uint64(line.Ignored)
}

// refuseRest refuses bytes that never were a whole line. They count as one line, so that the sum of all outcomes is the number of lines.
func (in *intake) refuseRest(reason dogstatsd.Reason, rest []byte) {
	in.counts.lines++
	in.refuseLine(reason, rest)
}

func (in *intake) refuseLine(reason dogstatsd.Reason, raw []byte) {
	in.counts.refusedLines[reason]++
	in.counts.anyRefused = true
	in.log.Note(refusedLineMessages[reason], raw)
}

var refusedLineMessages = func() (messages [dogstatsd.NumReasons]string) {
	for reason := range messages {
		messages[reason] = "dogstatsd line refused: " + dogstatsd.Reason(reason).String()
	}
	return messages
}()

// add puts a sample into the table and counts it, or says why the table refused it.
func (in *intake) add(s *metric.Sample, from origin) dogstatsd.Reason {
	in.stamp++
	return in.account(s, in.lane.table.Add(s, in.stamp, in.src.id), from)
}

// account counts a sample by what the table made of it, or says why it refused it.
func (in *intake) account(s *metric.Sample, outcome aggregate.Outcome, from origin) dogstatsd.Reason {
	f := applied
	switch outcome {
	case aggregate.Applied:
	case aggregate.Overflowed:
		f = overflowed
	case aggregate.PassedThrough:
		f = passedThrough
	default:
		return refusal(outcome)
	}
	in.counts.outcomes[from][f] += uint64(s.Count())
	return dogstatsd.ReasonNone
}

// refusal is the reason behind an outcome of the table.
func refusal(outcome aggregate.Outcome) dogstatsd.Reason {
	switch outcome {
	case aggregate.RefusedUTF8:
		return dogstatsd.ReasonUTF8
	case aggregate.RefusedSeriesLimit:
		return dogstatsd.ReasonSeriesLimit
	case aggregate.RefusedTimedLimit:
		return dogstatsd.ReasonTimedLimit
	case aggregate.RefusedEventLimit:
		return dogstatsd.ReasonEventLimit
	default:
		return dogstatsd.ReasonNone
	}
}
