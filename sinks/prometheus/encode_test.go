package prometheus

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/sinktest"
)

// manyOfAll returns an interval of families of n series, of every type, with up to 40 labels and with exemplars.
func manyOfAll(n int) *sinks.Batch {
	b := &sinks.Batch{End: time.Unix(1_700_000_000, 0), Interval: interval}
	for i := range n {
		tags := []string{fmt.Sprintf("id:%d", i), "path:" + strings.Repeat("\"\\\n", i%5) + "x"}
		for j := range i % 39 {
			tags = append(tags, fmt.Sprintf("tag%02d:value of it", j))
		}
		c := counter("c.of\nmany", float64(i), tags...)
		b.Points = append(b.Points, c, gauge("g", float64(i)/3, tags...))
		if i%3 == 0 {
			b.Exemplars = append(b.Exemplars, metric.Exemplar{Series: c.Series, TraceID: int64(i + 1), Value: 0.5, Time: int64(i % 2 * 1_700_000_000)})
		}
		h := &metric.Series{Name: "h", Tags: tags, Kind: metric.Timer}
		b.Distributions = append(b.Distributions, metric.DigestPoint{Series: h, Digest: sinktest.NewDigest(1, float64(i), -3)})
	}
	return b
}

// A family is written in pieces, and is what it would be in one: the texts are those that the encoders make of the whole families that protobuf
// has.
func TestFamiliesInPiecesAreWhole(t *testing.T) {
	for _, histograms := range []string{asSummary, asNative} {
		for _, n := range []int{1, maxPiece - 1, maxPiece, 3*maxPiece + 1} {
			t.Run(fmt.Sprint(n, " ", histograms), func(t *testing.T) {
				r := newRig(t, func(c *Config) { c.Histograms = histograms })
				require.NoError(t, r.Send(t.Context(), manyOfAll(n)))
				p := r.current.Load()
				body, err := encoded(p, protoForm)
				require.NoError(t, err)
				families := decoded(t, body)
				require.Len(t, families, 3)
				names := slices.Sorted(maps.Keys(families))
				for name, f := range families {
					require.Len(t, f.Metric, n, name)
				}
				for f := range numForms {
					if f == openForm && !p.open {
						continue
					}
					var want bytes.Buffer
					enc := expfmt.NewEncoder(&want, f.format())
					for _, name := range names {
						require.NoError(t, enc.Encode(families[name]))
					}
					require.NoError(t, enc.(expfmt.Closer).Close())
					got, err := encoded(p, f)
					require.NoError(t, err)
					require.True(t, bytes.Equal(want.Bytes(), got), "form %d", f)
				}
			})
		}
	}
}

// However long the page is, encoding it takes the same memory, and no write is long.
func TestEncodingTakesLittleMemory(t *testing.T) {
	r := newRig(t, nil)
	b := &sinks.Batch{}
	for i := range 40_000 {
		b.Points = append(b.Points, gauge("g", float64(i), fmt.Sprintf("n:%060d", i)))
	}
	require.Zero(t, r.interval(b))
	for f := range numForms {
		w := &widest{}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		require.NoError(t, r.current.Load().encode(w, f))
		runtime.ReadMemStats(&after)
		assert.Greater(t, w.all, 2_500_000)
		assert.Less(t, w.most, 64<<10, "form %d", f)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), "form %d", f)
	}
	body, err := r.current.Load().body(textForm)
	require.NoError(t, err)
	assert.Less(t, body.pieces.size, body.size/5)
	for _, piece := range body.pieces.list {
		assert.LessOrEqual(t, cap(piece), 2*pieceSize)
	}
}

// widest is a writer that remembers the longest write.
type widest struct{ most, all int }

func (w *widest) Write(b []byte) (int, error) {
	w.most, w.all = max(w.most, len(b)), w.all+len(b)
	return len(b), nil
}

// Scrapers that ask at once, of whom some do not take it compressed, cost one encoding and a small buffer each.
func TestManyScrapersCostOneEncoding(t *testing.T) {
	const scrapers = 40
	r := newRig(t, nil)
	b := &sinks.Batch{}
	for i := range 40_000 {
		b.Points = append(b.Points, gauge("g", float64(i), fmt.Sprintf("n:%060d", i)))
	}
	require.Zero(t, r.interval(b))
	p := r.current.Load()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var all sync.WaitGroup
	sizes := make([]widest, scrapers)
	for i := range scrapers {
		all.Go(func() {
			body, err := p.body(textForm)
			if !assert.NoError(t, err) {
				return
			}
			write := body.writePlain
			if i%2 == 0 {
				write = body.writeCompressed
			}
			assert.NoError(t, write(&sizes[i]))
		})
	}
	all.Wait()
	runtime.ReadMemStats(&after)
	for i, w := range sizes {
		assert.Equal(t, sizes[i%2].all, w.all)
		assert.LessOrEqual(t, w.most, pieceSize)
	}
	assert.Greater(t, sizes[1].all, 2_500_000)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20+scrapers/2*(128<<10)))
}

// A scraper that gets all of the page has seen it, in whatever form; one that asks for its head, or breaks off, has not.
func TestWhoHasSeenThePage(t *testing.T) {
	r := newRig(t, nil)
	b := &sinks.Batch{}
	for i := range 50_000 {
		b.Points = append(b.Points, gauge("g", 1, fmt.Sprintf("n:%0200d", i)))
	}
	r.interval(b)
	stop := r.run()
	_, _ = request(t, http.MethodHead, r.url())
	conn := r.raw("")
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4<<10)) // so that the page does not fit into buffers on the way
	_, err := io.WriteString(conn, ask)
	require.NoError(t, err)
	_, err = io.CopyN(io.Discard, conn, 1000)
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	stop() // and so all that were asked are done
	assert.Zero(t, r.scraped.Load())

	r = newRig(t, nil)
	r.interval(b)
	stop = r.run()
	for n, encoding := range []string{"gzip", "identity"} {
		_, _ = request(t, http.MethodGet, r.url(), "Accept-Encoding", encoding)
		require.Eventually(t, func() bool { return r.scraped.Load() == uint32(n+1) }, time.Minute, time.Millisecond)
		r.interval(b)
	}
	stop()
}

func TestTagsWithTheSeparator(t *testing.T) {
	r := newRig(t, nil)
	for n := range 2 {
		require.Zero(t, r.points(
			counter("c", 1, "a:1\xffb:2"), counter("c", 10, "a:1", "b:2"), counter("c", 100, "a:1\xff", "b:2"), counter("c", 1000, "a:1", "b:2\xff"),
		), n)
	}
	assert.Equal(t, []string{
		"c_total{a=\"1\uFFFDb:2\"} 2", "c_total{a=\"1\uFFFD\",b=\"2\"} 200", "c_total{a=\"1\",b=\"2\uFFFD\"} 2000", `c_total{a="1",b="2"} 20`,
	}, r.lines())
	assert.Len(t, r.board.entries, 4)
}
