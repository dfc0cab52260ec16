package dogstatsd

import (
	"math"

	"github.com/veneurd/veneur/internal/invariants"
	"github.com/veneurd/veneur/protocol/metric"
)

// BatchLen is how many metrics a Batch takes. With as many, what they look up in memory is under way at the same time, and all they
// touch still fits the first cache of a core.
const BatchLen = 64

// Batch is a run of metrics, for who works faster on many than on one after the other. [Parser.Fill] adds to it, from one packet or from
// several. What it lends is valid until Reset, and as long as the packets are. Its zero value is empty; it must not be copied once it
// was used.
//
// It keeps some 10 KiB, and 8 bytes for each packed value of the largest run it has seen, which ends by maxPacked.
type Batch struct {
	samples [BatchLen]metric.Sample
	lines   [BatchLen]batchLine
	values  [BatchLen]float64 // the value of each sample, if it has one
	packed  []float64         // the values of those that have more
	n       int
	plain   uint64 // a bit for each sample that still is as resetSample leaves it: see Parser.asReset
}

type batchLine struct {
	size    int // of the message
	ignored int // see Line.Ignored
}

// maxPacked is the number of packed values from which on a batch is full.
const maxPacked = 4096

// Samples returns the metrics, in the order of their lines.
func (b *Batch) Samples() []metric.Sample { return b.samples[:b.n] }

// Raw returns the whole message of sample i, without its line end.
func (b *Batch) Raw(i int) []byte {
	size := b.lines[i].size
	return b.samples[i].Name[:size:size] // which is where the message starts
}

// Ignored returns how many fields of sample i's message were passed over: see [Line].
func (b *Batch) Ignored(i int) int { return b.lines[i].ignored }

// Full says whether the batch takes no more.
func (b *Batch) Full() bool { return b.n >= BatchLen || len(b.packed) >= maxPacked }

// Reset empties the batch.
func (b *Batch) Reset() {
	if invariants.Enabled {
		b.mangle()
	}
	b.n = 0
	b.packed = b.packed[:0]
}

// mangle ends the lease of the samples.
func (b *Batch) mangle() {
	for i := range b.values {
		b.values[i] = math.NaN()
	}
	for i := range b.packed {
		b.packed[i] = math.NaN()
	}
	clear(b.samples[:])
	b.plain = 0
}

// Fill adds the metrics that come next in the packet to b. It returns nil when the packet has no more lines or b is full. A line that is
// no metric, or is refused, it returns instead; the ones before it are in b by then. Such a line is valid until the next call of Fill,
// Next or Reset.
func (p *Parser) Fill(b *Batch) *Line {
	if invariants.Enabled {
		p.mangle()
	}
	for !b.Full() {
		// Most lines start with a small letter, and follow one that left nothing to reset.
		if p.pos >= len(p.buf) || p.buf[p.pos] <= '_' || !p.asReset {
			if !p.atLine() {
				break
			}
			if p.buf[p.pos] == '_' {
				return p.parseMarked()
			}
		}
		i := b.n
		s := &b.samples[i]
		if b.plain&(1<<i) == 0 {
			resetSample(s, b.values[i:i+1:i+1])
			b.lines[i].ignored = 0
			b.plain |= 1 << i
		}
		start := p.pos
		end, reason := p.parseMetric(s, &b.values[i])
		if !p.asReset {
			b.plain &^= 1 << i
			b.lines[i].ignored = p.line.Ignored
			b.keep(s)
		}
		if reason != ReasonNone {
			return p.finish(RefusedLine, start, end, reason)
		}
		b.lines[i].size = end - start
		b.n++
	}
	return nil
}

// keep moves a sample's values, if it has a pack of them, out of the parser's memory.
func (b *Batch) keep(s *metric.Sample) {
	if len(s.Values) > 1 {
		first := len(b.packed)
		b.packed = append(b.packed, s.Values...)
		s.Values = b.packed[first:len(b.packed):len(b.packed)]
	}
}
