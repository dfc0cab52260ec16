package main

import (
	"context"
	"math"
	"time"
)

const (
	// burst is how often a paced sender sends, about. The runtime's timers are not finer.
	burst = time.Millisecond
	// longestNap bounds a wait between sends, so that the end is not slept through and a slow rate still starts at once.
	longestNap = 20 * time.Millisecond
	// A sender that could not send for longer than this, because the machine was busy or nobody read, does not catch up with what it
	// missed: the burst would be its doing, not the rate's.
	mostDebt = 20 * time.Millisecond
)

// sender sends packets of a corpus, from one on and round and round, over a socket of its own.
type sender struct {
	corpus *corpus
	out    transport
	first  int     // packet
	batch  int     // packets a call
	rate   float64 // messages a second; 0 is as fast as possible
	count  uint64  // messages to send; 0 is without limit. The last packet may take it past that.
	holds  *holds  // nil when nobody wants to know
}

// run sends until end, and returns how many packets it was.
func (s *sender) run(ctx context.Context, end time.Time) (packets uint64, err error) {
	next := s.first
	messages := uint64(0)
	now := time.Now()
	begin := now
	for ctx.Err() == nil && now.Before(end) && (s.count == 0 || messages < s.count) {
		n := min(s.batch, s.corpus.packets()-next)
		if s.rate > 0 {
			due := s.rate * now.Sub(begin).Seconds()
			if ahead := float64(messages) - due; ahead >= 0 {
				// What is sent at once is worth one burst, so that is how long to wait for it.
				nap := min(time.Duration(ahead/s.rate*float64(time.Second))+burst, longestNap, end.Sub(now))
				now = s.sleep(now, nap)
				continue
			} else if debt := time.Duration(-ahead / s.rate * float64(time.Second)); debt > mostDebt+burst {
				begin = begin.Add(debt - burst)
				continue
			} else {
				n = min(n, s.worth(next, -ahead))
			}
		}
		if s.count > 0 {
			n = min(n, max(1, int(min((s.count-messages)/uint64(s.corpus.most), uint64(n)))))
		}
		before := now
		sent, err := s.out.send(s.corpus, next, n)
		now = time.Now()
		if err != nil {
			return packets, err
		}
		if s.holds != nil {
			s.holds.note(before, now)
		}
		packets += uint64(sent)
		messages += s.corpus.messages(next, sent)
		if next += sent; next == s.corpus.packets() {
			next = 0
		}
	}
	return packets, nil
}

// sleep returns when it woke up.
func (s *sender) sleep(now time.Time, nap time.Duration) time.Time {
	time.Sleep(nap)
	woke := time.Now()
	if s.holds != nil {
		s.holds.late = max(s.holds.late, woke.Sub(now)-nap)
	}
	return woke
}

// worth returns how many packets so many messages are, rounded up.
func (s *sender) worth(next int, messages float64) int {
	return int(math.Ceil(messages / float64(s.corpus.messages(next, 1))))
}
