package aggregate

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
)

// packets returns lines of n counter series with three tags, in any order, 20 a packet, each line once.
func packets(n int) [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	var all [][]byte
	var packet []byte
	for i, id := range r.Perm(n) {
		packet = fmt.Appendf(packet, "service.requests.count:%d|c|#env:production,az:eu-west-1a,id:%d\n", id%10, id)
		if i%20 == 19 || i == n-1 {
			all = append(all, packet)
			packet = nil
		}
	}
	return all
}

// addPackets adds packets the way that ingest does, and returns how many lines they had.
func (d *daemon) addPackets(table *Table, packets [][]byte) (n int) {
	for i, packet := range packets {
		d.parser.Reset(packet, 1)
		for {
			if line := d.parser.Fill(&d.batch); line != nil {
				d.tb.Fatal("no metric")
			}
			full := d.batch.Full()
			if !full && i < len(packets)-1 {
				break // the next packet is of the same receive call
			}
			for _, outcome := range d.addBatch(table, 1, 0) {
				if outcome != Applied {
					d.tb.Fatal("not applied")
				}
				n++
			}
			if !full {
				break
			}
		}
	}
	return n
}

// packetsPerCall is how many packets one receive call brings.
const packetsPerCall = 64

// BenchmarkTableAdd parses, looks up and adds. An operation is a sample.
func BenchmarkTableAdd(b *testing.B) {
	for _, bb := range []struct {
		name   string
		series int
	}{{"1k", 1000}, {"100k", 100_000}, {"1M", 1_000_000}} {
		b.Run(bb.name, func(b *testing.B) {
			d := newDaemon(b, 1, func(c *Config) { c.MaxSeries, c.MaxSeriesPerName = 2_000_000, 2_000_000 })
			all := packets(bb.series)
			size := 0
			for _, packet := range all {
				size += len(packet)
			}
			d.addPackets(d.tables[0], all)
			b.SetBytes(int64(size / bb.series))
			b.ReportAllocs()
			b.ResetTimer()
			for rest, n := all, 0; n < b.N; {
				call := rest[:min(packetsPerCall, len(rest))]
				n += d.addPackets(d.tables[0], call)
				if rest = rest[len(call):]; len(rest) == 0 {
					rest = all
				}
			}
		})
	}
}

// BenchmarkLaneMerge collects what two lanes have of the same series. An operation is an entry.
func BenchmarkLaneMerge(b *testing.B) {
	const series, lanes = 100_000, 2
	d := newDaemon(b, lanes)
	all := packets(series)
	fill := func() {
		for _, table := range d.tables {
			d.addPackets(table, all)
			table.Flip()
		}
	}
	fill()
	d.c.Release(d.c.Collect()) // which makes the series
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; n += series * lanes {
		b.StopTimer()
		fill()
		b.StartTimer()
		d.c.Release(d.c.Collect())
	}
}

// BenchmarkNewSeries adds samples of series that nobody knows, and of such as a limit keeps out.
func BenchmarkNewSeries(b *testing.B) {
	for _, bb := range []struct {
		name  string
		limit int
	}{{"admitted", 8_000_000}, {"kept out", 1000}} {
		b.Run(bb.name, func(b *testing.B) {
			d := newDaemon(b, 1, func(c *Config) { c.MaxSeries, c.MaxSeriesPerName = 8_000_000, bb.limit })
			tags := []byte("env:production,az:eu-west-1a,id:0000000000")
			s := metric.Sample{Kind: metric.Counter, Name: []byte("service.requests.count"), Tags: tags, Values: []float64{1}, Rate: 1}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				for at, v := len(tags)-1, i; v > 0; at, v = at-1, v/10 {
					tags[at] = byte('0' + v%10)
				}
				d.tables[0].Add(&s, 1, 0)
			}
		})
	}
}

// BenchmarkFirstCollect collects series that the collector has not met. An operation is a series.
func BenchmarkFirstCollect(b *testing.B) {
	const series = 100_000
	d := newDaemon(b, 1)
	d.addPackets(d.tables[0], packets(series))
	d.tables[0].Flip()
	g := &d.tables[0].gens[d.tables[0].cur^1]
	view := g.view
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; n += series {
		b.StopTimer()
		d.c.series, d.c.slab = paged[*metric.Series]{}, slab{}
		g.active.reset(func() {})
		for i := range uint32(series) {
			g.active.Push(i + 1)
		}
		g.view, g.pending = view, true
		b.StartTimer()
		iv := d.c.Collect()
		b.StopTimer()
		require.Equal(b, series, iv.Counters.Len())
		d.c.Release(iv)
		b.StartTimer()
	}
}
