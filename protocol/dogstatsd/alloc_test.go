package dogstatsd

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Once its memory has grown to the packets it sees, a parser allocates nothing, whatever is in them.
func TestParseDoesNotAllocate(t *testing.T) {
	var everything []byte
	for _, c := range loadCases(t) {
		everything = append(append(everything, c.Line...), '\n')
	}
	packets := map[string][]byte{
		"every case":  everything,
		"large pack":  []byte("a" + strings.Repeat(":1.5", 10_000) + "|d"),
		"long number": []byte("a:0." + strings.Repeat("123456789", 1000) + "|g"),
		"escapes":     []byte(`_e{4,6}:a\nb|a\nb c|c:ci-a,in-1|e:it-true,cn-n|card:low` + "\n" + `_sc|n|2|m:a\nb`),
	}
	for _, tt := range benchLines {
		packets[tt.name] = []byte(strings.Repeat(tt.packet+"\n", 50))
	}
	for name, packet := range packets {
		t.Run(name, func(t *testing.T) {
			var p Parser
			require.Zero(t, testing.AllocsPerRun(100, func() {
				p.Reset(packet, testNow)
				for p.Next() != nil {
				}
			}))
			var b Batch
			require.Zero(t, testing.AllocsPerRun(100, func() {
				p.Reset(packet, testNow)
				for p.Fill(&b) != nil || b.Full() {
					b.Reset()
				}
			}))
		})
	}
}

func TestAppendDoesNotAllocate(t *testing.T) {
	var p Parser
	buf := make([]byte, 0, 1024)
	for _, in := range []string{benchLines[1].packet, "s:member|s|#a:b", `_e{4,6}:a\nb|a\nb c|d:5|#x`, `_sc|n|2|m:a\nb`} {
		p.Reset([]byte(in), testNow)
		l := p.Next()
		require.Zero(t, testing.AllocsPerRun(100, func() { buf = AppendLine(buf[:0], l) }), in)
	}
}
