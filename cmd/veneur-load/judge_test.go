package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sentBy returns what packets of two lines each come to, of one kind.
func sentBy(packets uint64) *tally {
	return &tally{Messages: 2 * packets, Packets: packets, Bytes: 100 * packets, Samples: [numKinds]uint64{counter: 2 * packets}}
}

func TestWhatIsReceivedMustBeExact(t *testing.T) {
	exact := counters{Lines: 200, Samples: 200, Packets: 100, Bytes: 10_000}
	dropped := counters{Lines: 180, Samples: 180, Packets: 90, Bytes: 9000, KernelDrops: 10}
	change := func(c counters, f func(*counters)) counters { f(&c); return c }
	udp := judge{mayDrop: true}
	for _, tt := range []struct {
		name string
		j    judge
		got  counters
		want string // "" is exact
	}{
		{"all", udp, exact, ""},
		{"dropped by the kernel", udp, dropped, ""},
		{"a line too few", udp, change(exact, func(c *counters) { c.Lines-- }), "1 messages are missing, and 0 datagrams"},
		{"a line too many", udp, change(exact, func(c *counters) { c.Lines++ }), "1 messages more than were sent"},
		{"a sample too few", udp, change(exact, func(c *counters) { c.Samples-- }), "199 samples of 200 were counted"},
		{"a byte too many", udp, change(exact, func(c *counters) { c.Bytes++ }), "10001 bytes of 10000"},
		{"a datagram too many", udp, change(exact, func(c *counters) { c.Packets++ }), "1 datagrams more than were sent"},
		{"refused", udp, change(exact, func(c *counters) { c.Refused = 3; c.Samples -= 3 }), "refused 3"},
		{"truncated", udp, change(exact, func(c *counters) { c.Truncated = 1 }), "1 datagrams lost their end"},
		{"a datagram lost that the kernel knows nothing of", udp, change(dropped, func(c *counters) { c.KernelDrops-- }), "10 datagrams are missing, and the kernel dropped 9"},
		{"more dropped than missing", udp, change(dropped, func(c *counters) { c.KernelDrops++ }), "10 datagrams are missing, and the kernel dropped 11"},
		{"a line more is missing", udp, change(dropped, func(c *counters) { c.Lines-- }), "21 messages are missing, and 10 datagrams that the kernel dropped explain 20 to 20"},
		{"trains dropped", judge{mayDrop: true, gso: true}, change(dropped, func(c *counters) { c.KernelDrops = 2 }), ""},
		{"too few trains", judge{mayDrop: true, gso: true}, change(dropped, func(c *counters) { c.KernelDrops = 0 }), "the kernel dropped 0 trains"},
		{"nothing drops on a stream", judge{}, dropped, "20 messages are missing, and 0 datagrams"},
		{"reads are no packets on a stream", judge{}, change(exact, func(c *counters) { c.Packets = 7 }), ""},
		{"frames", judge{framed: true}, change(exact, func(c *counters) { c.Lines, c.Spans, c.Bytes = 0, 200, 9000 }), ""},
		{"nothing arrived", judge{}, counters{}, "200 messages are missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.j.corpus = &corpus{fewest: 2, most: 2}
			got := strings.Join(tt.j.received(sentBy(100), tt.got), "\n")
			if tt.want == "" {
				require.Empty(t, got)
			}
			require.Contains(t, got, tt.want)
		})
	}
}

func TestSumsMustBeExact(t *testing.T) {
	all := counters{Samples: 200}
	some := counters{Samples: 180}
	two := mix{counter: 1, timer: 1}
	both := &tally{Samples: [numKinds]uint64{counter: 100, timer: 100}}
	for _, tt := range []struct {
		name string
		mix  mix
		sent *tally
		got  counters
		sums sums
		want string
	}{
		{"all", mix{1}, sentBy(100), all, sums{Counters: 600}, ""},
		{"a little less", mix{1}, sentBy(100), all, sums{Counters: 599}, "counters sum up to 599, and 600 to 600"},
		{"a little more", mix{1}, sentBy(100), all, sums{Counters: 601}, "counters sum up to 601"},
		{"what was lost is lost", mix{1}, sentBy(100), some, sums{Counters: 540}, ""},
		{"more is lost", mix{1}, sentBy(100), some, sums{Counters: 537}, "counters sum up to 537, and 540 to 540"},
		{"two kinds", two, both, all, sums{Counters: 300, Timings: 100}, ""},
		{"two kinds, some lost", two, both, some, sums{Counters: 270, Timings: 90}, ""},
		{"two kinds, more lost of one", two, both, some, sums{Counters: 300, Timings: 79}, "counts of timers sum up to 79, and 80 to 100"},
		{"a timer from nowhere", mix{1}, sentBy(100), all, sums{Counters: 600, Timings: 1}, "counts of timers sum up to 1"},
		{"a gauge that is wrong", mix{1}, sentBy(100), all, sums{Counters: 600, Wrong: 1}, "1 gauges or sets"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := judge{mix: tt.mix}
			got := strings.Join(j.summed(tt.sent, tt.got, tt.sums), "\n")
			if tt.want == "" {
				require.Empty(t, got)
			}
			require.Contains(t, got, tt.want)
		})
	}
}

func TestReadSums(t *testing.T) {
	s, err := readSums(strings.NewReader(`{"kind":"metric","name":"load.c.1","type":"counter","value":9}
{"kind":"metric","name":"load.c.2","type":"counter","value":0.5}
{"kind":"metric","name":"load.t.1.count","type":"counter","value":7}
{"kind":"metric","name":"load.t.1.max","type":"gauge","value":1000}
{"kind":"metric","name":"load.g.1","type":"gauge","value":42.5}
{"kind":"metric","name":"load.g.2","type":"gauge","value":42}
{"kind":"metric","name":"load.s.1","type":"gauge","value":1000}
{"kind":"metric","name":"load.s.2","type":"gauge","value":0}
{"kind":"metric","name":"other","type":"counter","value":1}`))
	require.NoError(t, err)
	assert.Equal(t, sums{Counters: 9.5, Timings: 7, Gauges: 2, Sets: 2, Wrong: 2}, s)
	_, err = readSums(strings.NewReader("{}\n{"))
	require.ErrorContains(t, err, "line 2 of the daemon's points")
}
