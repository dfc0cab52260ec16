package delivery

// Ledger says what became of everything offered to one sink, in items. A Ledger returned by Delivery or Spans is a consistent moment: its
// Sum is its Offered.
type Ledger struct {
	Offered  uint64
	Sent     uint64 // the backend has it
	Refused  uint64
	Filtered uint64
	Overflow uint64
	Expired  uint64
	Waiting  uint64 // queued or being sent, on disk included

	Existing     uint64 // of those sent: the backend had them already
	Replayed     uint64 // of those offered: an earlier process had left them on disk
	Stored       uint64 // of those waiting: on disk, where they stay when Run ends
	WaitingBytes uint64 // the memory of what waits, estimated; an interval counts whole until its last chunk is settled
}

// Sum adds up every place an item can be at.
func (l Ledger) Sum() uint64 {
	return l.Sent + l.Refused + l.Filtered + l.Overflow + l.Expired + l.Waiting
}

// Lost adds up what the backend will never have because of a fault: refused, overflow and expired.
func (l Ledger) Lost() uint64 {
	return l.Refused + l.Overflow + l.Expired
}

// outcome is how an item leaves the queue.
type outcome int

const (
	sent outcome = iota
	refused
	overflow
	expired
	existing // sent, and there already
)

func (l *Ledger) settle(n int, o outcome) {
	count := uint64(n)
	l.Waiting -= count
	switch o {
	case sent:
		l.Sent += count
	case existing:
		l.Sent += count
		l.Existing += count
	case refused:
		l.Refused += count
	case overflow:
		l.Overflow += count
	case expired:
		l.Expired += count
	}
}
