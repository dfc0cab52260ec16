package dogstatsd

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fillAll is parseAll by way of batches: each packet is one of packets, and a batch goes over their borders.
func fillAll(p *Parser, packets ...string) []string {
	var b Batch
	var rows []string
	take := func() {
		for i := range b.Samples() {
			l := Line{Kind: MetricLine, Raw: b.Raw(i), Ignored: b.Ignored(i), Sample: b.Samples()[i]}
			rows = append(rows, rowOf(&l))
		}
		b.Reset()
	}
	for _, packet := range packets {
		p.Reset([]byte(packet), testNow)
		for {
			l := p.Fill(&b)
			if l == nil && !b.Full() {
				break
			}
			take()
			if l != nil {
				rows = append(rows, rowOf(l))
			}
		}
	}
	take()
	return rows
}

// rowOf writes all that a line says. Origins are not for batches.
func rowOf(l *Line) string {
	if l.Kind == RefusedLine {
		return fmt.Sprintf("%q refused: %v", l.Raw, l.Reason)
	}
	l.Origin = Origin{}
	return fmt.Sprintf("%q %+v ignored: %d", l.Raw, copyOf(l), l.Ignored)
}

func nextAll(p *Parser, packets ...string) []string {
	var rows []string
	for _, packet := range packets {
		p.Reset([]byte(packet), testNow)
		for l := p.Next(); l != nil; l = p.Next() {
			rows = append(rows, rowOf(l))
		}
	}
	return rows
}

func TestFillSaysWhatNextSays(t *testing.T) {
	var every []string
	for _, c := range loadCases(t) {
		every = append(every, c.Line)
	}
	pack := "a" + strings.Repeat(":1.5", 3000) + "|d"
	tests := []struct {
		name    string
		packets []string
	}{
		{"nothing", []string{"", "\n\r\n"}},
		{"every case by itself", every},
		{"every case in one packet", []string{strings.Join(every, "\n")}},
		{"every case and CRLF", []string{strings.Join(every, "\r\n")}},
		{"one more than a batch", []string{strings.Repeat("a:1|c\n", BatchLen+1)}},
		{"just a batch", []string{strings.Repeat("a:1|c\n", BatchLen)}},
		{"packs", []string{"a:1:2|c\nb:3:4:5|h\na:6|c", "c:7:8|g\n" + pack + "\n" + pack, "d:1:2|c"}},
		{"a row that was used for much", []string{
			strings.Repeat("a:1:2|c|@0.5|c:x|zz\ns:m|s\ng:1|g|T1\n", BatchLen/3), strings.Repeat("b:1|c\n", BatchLen),
		}},
		{"refused between", []string{"a:1|c\nb\nc:1|c\n\nd:1\ne:1:2|c\nf:1:x|c\ng:1|c"}},
		{"others between", []string{"a:1|c\n_e{1,1}:t|x\nb:1|c\n_sc|n|0\n_c:1|c\nd:1|c"}},
	}
	for _, tt := range tests {
		for _, deltas := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				require.Equal(t, nextAll(&Parser{GaugeDeltas: deltas}, tt.packets...), fillAll(&Parser{GaugeDeltas: deltas}, tt.packets...))
			})
		}
	}
}

func TestBatchEndsAtManyValues(t *testing.T) {
	var p Parser
	var b Batch
	line := "a" + strings.Repeat(":1", maxPacked/2) + "|c\n"
	p.Reset([]byte(strings.Repeat(line, 5)), testNow)
	for _, want := range []int{2, 2, 1, 0} {
		require.Nil(t, p.Fill(&b))
		require.Equal(t, want == 2, b.Full())
		require.Len(t, b.Samples(), want)
		b.Reset()
	}
}

func FuzzFill(f *testing.F) {
	addSeeds(f)
	f.Add([]byte("a:1|c\r\nb:2:3|h|@0.5\n\nx\n_sc|n|1\ne:1|c"), true)
	f.Fuzz(func(t *testing.T, packet []byte, deltas bool) {
		packets := []string{string(packet), "a:1|c\n" + string(packet), string(packet)}
		require.Equal(t, nextAll(&Parser{GaugeDeltas: deltas}, packets...), fillAll(&Parser{GaugeDeltas: deltas}, packets...))
	})
}

func TestScan(t *testing.T) {
	index := func(b []byte, i int, chars string) int {
		if n := bytes.IndexAny(b[i:], chars); n >= 0 {
			return i + n
		}
		return len(b)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		b := make([]byte, r.IntN(40))
		for i := range b {
			b[i] = byte('a' + r.IntN(26))
			if r.IntN(8) == 0 {
				b[i] = byte(r.IntN(256))
			}
		}
		if len(b) > 0 && r.IntN(2) == 0 {
			b[r.IntN(len(b))] = ":|\n"[r.IntN(3)]
		}
		i := r.IntN(len(b) + 1)
		require.Equal(t, index(b, i, ":|\n"), nameEnd(b, i), "%q from %d", b, i)
		require.Equal(t, index(b, i, "|\n"), fieldEnd(b, i), "%q from %d", b, i)
	}
}
