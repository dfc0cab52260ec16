package httpsend

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// lines are n documents, as sinks send them.
func lines(n int) (b []byte) {
	for i := range n {
		b = fmt.Appendf(b, `{"@timestamp":"2026-11-30T18:00:%02d.%09dZ","name":"http.server.duration","value":%d.5,`+
			`"attributes":{"env":"prod","host":"web-%d","route":"/a/{id}","status":"200"}}`+"\n", i%60, i*7919, i, i%17)
	}
	return b
}

func packed(t testing.TB, bs *bodies, plain []byte) int {
	b, err := bs.pack(plain)
	if err != nil {
		t.Fatal(err)
	}
	r := b.open()
	b.release()
	n := b.len()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return n
}

func newTestBodies(compression string) *bodies {
	c := DefaultConfig()
	c.Compression = compression
	return newBodies(&c)
}

func TestPackAllocatesOnlyItsReader(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	plain := lines(1000)
	for _, compression := range []string{compressNone, compressGzip, compressZstd} {
		bs := newTestBodies(compression)
		packed(t, bs, plain)
		require.LessOrEqual(t, testing.AllocsPerRun(20, func() { packed(t, bs, plain) }), 1.0, compression)
	}
}

func TestHugeBodyIsNotKept(t *testing.T) {
	bs := newTestBodies(compressNone)
	packed(t, bs, make([]byte, maxKeptBody+1))
	require.Empty(t, bs.free)
	packed(t, bs, make([]byte, 10))
	require.Len(t, bs.free, 1)
}

func BenchmarkPack(b *testing.B) {
	plain := lines(5000)
	for _, compression := range []string{compressNone, compressGzip, compressZstd} {
		b.Run(compression, func(b *testing.B) {
			bs := newTestBodies(compression)
			b.SetBytes(int64(len(plain)))
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n = packed(b, bs, plain)
			}
			b.ReportMetric(float64(len(plain))/float64(n), "ratio")
		})
	}
}
