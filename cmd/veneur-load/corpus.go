package main

// corpus is everything that will be sent, over and over, made before the clock starts: the senders only hand it to the kernel. It does not
// change once it is built, and all senders read it at once.
//
// Any run of its packets has exact totals, which is how everybody knows what was sent without counting while sending.
type corpus struct {
	data []byte // the packets, one after the other with nothing between
	ends []int  // where each ends
	sums []sum  // of all packets before each, and of all of them at the end

	fewest, most int // messages in a packet
}

// sum is a tally of a part of the corpus, in small words since there is one a packet.
type sum struct {
	messages uint32
	samples  [numKinds]uint32
}

// tally says how many there are of what.
type tally struct {
	Messages uint64 // lines, or spans
	Packets  uint64 // datagrams; on a stream, what ends with a whole message
	Bytes    uint64
	Samples  [numKinds]uint64
}

func (t *tally) add(o tally) {
	t.Messages += o.Messages
	t.Packets += o.Packets
	t.Bytes += o.Bytes
	for k := range t.Samples {
		t.Samples[k] += o.Samples[k]
	}
}

func (t *tally) samples() (n uint64) {
	for _, s := range t.Samples {
		n += s
	}
	return n
}

func (c *corpus) packets() int { return len(c.ends) }

func (c *corpus) start(i int) int {
	if i == 0 {
		return 0
	}
	return c.ends[i-1]
}

// bytes returns n packets from the first on; they must not go past the last.
func (c *corpus) bytes(first, n int) []byte { return c.data[c.start(first):c.ends[first+n-1]] }

// messages returns how many messages these packets hold.
func (c *corpus) messages(first, n int) uint64 {
	return uint64(c.sums[first+n].messages - c.sums[first].messages)
}

// whole is the tally of the corpus, once around.
func (c *corpus) whole() tally { return c.between(0, c.packets()) }

// between is the tally of packets from, up to and without to.
func (c *corpus) between(from, to int) tally {
	t := tally{Messages: uint64(c.sums[to].messages - c.sums[from].messages), Packets: uint64(to - from)}
	if to > from {
		t.Bytes = uint64(c.ends[to-1] - c.start(from))
	}
	for k := range t.Samples {
		t.Samples[k] = uint64(c.sums[to].samples[k] - c.sums[from].samples[k])
	}
	return t
}

// tally is that of n packets from the first on, in order and as often around as it takes.
func (c *corpus) tally(first int, n uint64) tally {
	var t tally
	size := uint64(c.packets())
	once := c.whole()
	for range n / size {
		t.add(once)
	}
	rest := int(n % size)
	if tail := c.packets() - first; rest > tail {
		t.add(c.between(first, c.packets()))
		first, rest = 0, rest-tail
	}
	t.add(c.between(first, first+rest))
	return t
}

// limits are those of one packet. A message that is longer than bytes goes alone.
type limits struct {
	messages int
	bytes    int // 0 is no limit
	stream   bool
}

// builder makes a corpus.
type builder struct {
	limits
	out  corpus
	open int // messages in the last packet, which may get more
	now  sum
}

// add adds a message. between is written before it when it is not the first of its packet, and after it on a stream.
func (b *builder) add(message []byte, between string, samples [numKinds]int) {
	c := &b.out
	size := len(c.data) - c.start(len(c.ends)) + len(message) + len(between)
	if b.open > 0 && (b.open == b.messages || b.bytes > 0 && size > b.bytes) {
		b.close()
	}
	if b.open == 0 {
		c.sums = append(c.sums, b.now)
	} else if !b.stream {
		c.data = append(c.data, between...)
	}
	c.data = append(c.data, message...)
	if b.stream {
		c.data = append(c.data, between...)
	}
	b.open++
	b.now.messages++
	for k, n := range samples {
		b.now.samples[k] += uint32(n)
	}
}

func (b *builder) close() {
	c := &b.out
	c.ends = append(c.ends, len(c.data))
	if c.fewest == 0 || b.open < c.fewest {
		c.fewest = b.open
	}
	c.most = max(c.most, b.open)
	b.open = 0
}

func (b *builder) corpus() *corpus {
	if b.open > 0 {
		b.close()
	}
	b.out.sums = append(b.out.sums, b.now)
	return &b.out
}
