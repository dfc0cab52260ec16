package main

import "fmt"

// verdict is a list of what does not add up.
type verdict []string

func (v *verdict) failf(format string, args ...any) { *v = append(*v, fmt.Sprintf(format, args...)) }

// judge says what of a load is missing, or too much, beyond what the kernel dropped on the way and counted.
type judge struct {
	corpus  *corpus
	mayDrop bool // the kernel
	gso     bool
	framed  bool // spans on a stream
	mix     mix
}

// received compares what was sent with what the daemon counted.
func (j *judge) received(s *tally, got counters) (v verdict) {
	if got.Refused > 0 {
		v.failf("the daemon refused %d messages or samples", got.Refused)
	}
	if got.Truncated > 0 {
		v.failf("%d datagrams lost their end", got.Truncated)
	}
	if got.messages() > s.Messages {
		v.failf("the daemon got %d messages more than were sent: does anybody else send to it?", got.messages()-s.Messages)
		return v
	}
	dropped := uint64(0) // datagrams
	if j.mayDrop {
		dropped = j.dropped(&v, s, got)
	}
	lost := s.Messages - got.messages()
	if least, most := dropped*uint64(j.corpus.fewest), dropped*uint64(j.corpus.most); lost < least || lost > most {
		v.failf("%d messages are missing, and %d datagrams that the kernel dropped explain %d to %d", lost, dropped, least, most)
	}
	if dropped == 0 && lost == 0 {
		if n := s.samples(); n != got.Samples+got.Refused {
			v.failf("%d samples of %d were counted", got.Samples, n)
		}
		want := s.Bytes
		if j.framed {
			want -= s.Messages * frameHeader // which is not part of the span
		}
		if want != got.Bytes {
			v.failf("%d bytes of %d were counted", got.Bytes, want)
		}
	}
	return v
}

// dropped returns how many datagrams the kernel dropped.
func (j *judge) dropped(v *verdict, s *tally, got counters) uint64 {
	if got.Packets > s.Packets {
		v.failf("the daemon got %d datagrams more than were sent: does anybody else send to it?", got.Packets-s.Packets)
		return 0
	}
	missing := s.Packets - got.Packets
	switch {
	case !j.gso && missing != got.KernelDrops:
		v.failf("%d datagrams are missing, and the kernel dropped %d", missing, got.KernelDrops)
	case j.gso && (missing < got.KernelDrops || missing > got.KernelDrops*maxTrainLength):
		v.failf("%d datagrams are missing, and the kernel dropped %d trains of up to %d", missing, got.KernelDrops, maxTrainLength)
	}
	return missing
}

// frameHeader is what stands before a span on a stream, in bytes.
const frameHeader = 5

// maxTrainLength is how many datagrams go into one send by GSO.
const maxTrainLength = 64

// summed compares what was sent with the totals that the daemon wrote. What was lost may have been of any kind.
func (j *judge) summed(s *tally, got counters, written sums) (v verdict) {
	if written.Wrong > 0 {
		v.failf("%d gauges or sets have a value that nobody sent", written.Wrong)
	}
	lost := float64(s.samples() - min(got.Samples, s.samples()))
	check := func(what string, k kind, value, total float64) {
		most := value * float64(s.Samples[k])
		least := max(0, most-value*lost)
		if _, alone := j.mix.only(); alone {
			most = least // all that is lost is of this kind
		}
		if total < least || total > most {
			v.failf("%s sum up to %.0f, and %.0f to %.0f would be right", what, total, least, most)
		}
	}
	check("counters", counter, counterValue, written.Counters)
	check("counts of timers", timer, 1, written.Timings)
	return v
}
