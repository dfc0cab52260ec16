package ingest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// accounts returns what was counted since before, without what depends on how messages are cut into packets.
func (r *rig) accounts(before map[string]float64) map[string]float64 {
	now := map[string]float64{}
	for _, reading := range r.reg.Gather() {
		name := reading.Desc.Name
		if !strings.HasPrefix(name, "ingest.") || name == "ingest.packets" || name == "ingest.bytes" {
			continue
		}
		name += strings.Join(reading.Values, ",")
		if grown := reading.Value - before[name]; grown != 0 {
			now[name] = grown
		}
	}
	return now
}

// nonEmptyLines counts as a reader of the specification would.
func nonEmptyLines(data []byte) (n float64) {
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		if len(bytes.TrimSuffix(line, []byte("\r"))) > 0 {
			n++
		}
	}
	return n
}

// seedLines adds every case of the DogStatsD table.
func seedLines(f *testing.F, add func(line []byte)) {
	file, err := os.Open("../../protocol/dogstatsd/testdata/dogstatsd.jsonl")
	require.NoError(f, err)
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var c struct{ Line string }
		require.NoError(f, json.Unmarshal(lines.Bytes(), &c))
		add([]byte(c.Line))
	}
}

// renewed is an intake for one input after the other, and a new one before its table's limits could tell two inputs apart.
type renewed struct {
	uses int
	r    *rig
	in   *intake
}

func (n *renewed) get(t *testing.T) (*rig, *intake) {
	if n.uses%1000 == 0 {
		n.r = build(t, statsd(loopback))
		n.in = n.r.in.newIntake()
	}
	n.uses++
	n.r.t = t
	return n.r, n.in
}

// Whatever a datagram holds, each of its lines is accounted for, once.
func FuzzDatagram(f *testing.F) {
	seedLines(f, func(line []byte) { f.Add(line, len(line)%2 == 0) })
	var fresh renewed
	f.Fuzz(func(t *testing.T, data []byte, truncated bool) {
		r, in := fresh.get(t)
		src := newSource(0, loopback, false, false, r.reg)
		before := r.reg.Value("ingest.lines")
		refused := r.reg.Value("ingest.refused", "reason:truncated")
		in.datagrams(src, []packet{{data: data, truncated: truncated}}, time.Now())
		want := nonEmptyLines(data)
		if truncated {
			// The end of line that never came might have followed a lone CR: that is something, not an empty line.
			rest := data[bytes.LastIndexByte(data, '\n')+1:]
			want = nonEmptyLines(data[:len(data)-len(rest)])
			if len(rest) > 0 {
				want++
			}
			require.Equal(t, len(rest) > 0, r.reg.Value("ingest.refused", "reason:truncated") == refused+1)
		}
		require.Equal(t, want, r.reg.Value("ingest.lines")-before)
		r.requireLaws()
	})
}

// However a stream is cut into reads, its messages are the same.
func FuzzStream(f *testing.F) {
	var all []byte
	seedLines(f, func(line []byte) {
		all = append(append(all, line...), '\n')
		f.Add(append([]byte("a:1|c\n"), line...), byte(3), byte(0))
	})
	f.Add(all, byte(7), byte(0))
	f.Add([]byte(blocks("a:1|c", "b:1|c\nbad", "")), byte(2), byte(1))
	f.Add([]byte(frame(packetOf(traceSpan(1)))+frame("\xff")+frame("")), byte(5), byte(2))
	var fresh renewed
	f.Fuzz(func(t *testing.T, data []byte, cut, kind byte) {
		r, in := fresh.get(t)
		newCodec := []func() codec{
			func() codec { return &lineCodec{limit: minMaxLine} },
			func() codec { return blockCodec{} },
			func() codec { return frameCodec{} },
		}[kind%3]
		src := newSource(0, loopback, kind%3 == 2, false, r.reg)
		run := func(cut int) map[string]float64 {
			before := r.accounts(nil)
			c := newCodec()
			var buf []byte
			for rest := data; len(rest) > 0; {
				n := min(max(cut, 1), len(rest), c.room()-len(buf))
				require.Positive(t, n, "stuck")
				buf = append(buf, rest[:n]...)
				rest = rest[n:]
				in.begin(src, time.Now())
				done, err := c.take(in, buf)
				in.end()
				if err != nil {
					return r.accounts(before)
				}
				buf = append([]byte(nil), buf[done:]...)
			}
			in.begin(src, time.Now())
			c.rest(in, buf, io.EOF)
			in.end()
			return r.accounts(before)
		}
		require.Equal(t, run(len(data)), run(int(cut)))
		r.requireLaws()
	})
}
