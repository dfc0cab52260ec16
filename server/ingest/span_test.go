package ingest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol"
	"github.com/veneurd/veneur/ssf"
)

// traceSpan is a valid span of a trace that carries a counter.
func traceSpan(id int64) *ssf.SSFSpan {
	return &ssf.SSFSpan{
		TraceId: 1, Id: id, StartTimestamp: 1e18, EndTimestamp: 1e18 + 5e6, Name: "op", Service: "svc",
		Tags:    []ssf.Tag{{Key: "added", Value: "no"}, {Key: "k", Value: "v"}},
		Metrics: []ssf.SSFSample{ssf.Count("carried", 2, map[string]string{"k": "v"}, ssf.SampleRate(0.5))},
	}
}

func packetOf(span *ssf.SSFSpan) string { return string(ssf.AppendSpan(nil, span)) }

func frame(payload string) string {
	b := []byte{0, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(b[1:], uint32(len(payload)))
	return string(b) + payload
}

func TestSpans(t *testing.T) {
	dir := t.TempDir()
	tests := []struct{ name, address string }{
		{"udp", loopback},
		{"unixgram", "unixgram://" + filepath.Join(dir, "d.sock")},
		{"tcp", tcp},
		{"unix", "unix://" + filepath.Join(dir, "s.sock")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := ssfAt(tt.address)
			c.Derive.IndicatorSpanTimerName, c.Derive.ObjectiveSpanTimerName = "ind", "obj"
			r := start(t, c)
			indicator := traceSpan(2)
			indicator.Indicator = true
			packets := []string{packetOf(traceSpan(1)), packetOf(indicator), packetOf(&ssf.SSFSpan{Metrics: []ssf.SSFSample{
				ssf.Set("set", "m", nil), ssf.Status("check", ssf.SSFSample_WARNING, map[string]string{"k": "v"}, ssf.Message("text")), ssf.Count("", 1, nil),
			}})}
			conn := r.dial(0)
			for _, p := range packets {
				if strings.HasPrefix(tt.name, "u") && tt.name != "unix" {
					write(t, conn, p)
				} else {
					write(t, conn, frame(p))
				}
			}
			r.wait(4, "ingest.span_samples")
			r.wait(1, "ingest.refused", "protocol:ssf", "reason:no_name")
			r.stop()
			got := r.flush()
			require.Equal(t, map[string]float64{"carried{k:v}": 8}, got.values)
			require.Equal(t, map[string]float64{"set": 1, "ind{error:false,service:svc}": 1, "obj{error:false,objective:op,service:svc}": 1}, got.counts)
			require.Len(t, got.checks, 1)
			require.Equal(t, "check WARNING text [added:yes k:v]", fmt.Sprint(got.checks[0].Name, " ", got.checks[0].Status, " ",
				got.checks[0].Message, " ", got.checks[0].Tags))
			require.InDelta(t, time.Now().Unix(), got.checks[0].Time, 60)
			r.requireValue(3, "ingest.spans")
			r.requireValue(2, "ingest.trace_spans")
			r.requireValue(2, "ingest.derived_samples")
			r.requireValue(3, "ingest.packets")
			r.requireLaws()
			spans := r.spans.spans()
			require.Len(t, spans, 2)
			want := traceSpan(1)
			want.Tags[0].Value = "yes" // extend_tags override
			require.Equal(t, want, spans[0])
		})
	}
}

func TestSpanThatMeansToBeInATraceAndIsNot(t *testing.T) {
	r := start(t, ssfAt(loopback))
	broken := traceSpan(1)
	broken.EndTimestamp = 0
	empty := &ssf.SSFSpan{Name: "x"}
	named := traceSpan(3)
	named.Name = ""
	named.SetTag("name", "by tag")
	r.send(0, packetOf(broken), packetOf(empty), packetOf(named), "\xff")
	r.wait(2, "ingest.spans")
	r.wait(2, "ingest.refused")
	r.stop()
	r.requireValue(1, "ingest.broken_traces", "reason:no_end")
	r.requireValue(1, "ingest.trace_spans")
	r.requireValue(1, "ingest.refused", "protocol:ssf", "reason:empty")
	r.requireValue(1, "ingest.refused", "protocol:ssf", "reason:truncated")
	r.requireValue(2, "ingest.span_samples")
	require.Equal(t, "by tag", r.spans.spans()[0].Name)
}

// A packet is refused only when nothing of it was taken.
func TestBrokenSpans(t *testing.T) {
	counter := ssf.Count("a", 1, nil)
	check := ssf.Status("check", ssf.SSFSample_OK, nil)
	bad := ssf.Count("", 1, nil)
	tests := []struct {
		name                     string
		span                     ssf.SSFSpan
		err                      error
		spans, broken, refusedID float64
	}{
		{"an id and a sample", ssf.SSFSpan{Id: 1, Metrics: []ssf.SSFSample{counter}}, nil, 1, 1, 0},
		{"an id and a check", ssf.SSFSpan{Id: 1, Metrics: []ssf.SSFSample{bad, check}}, nil, 1, 1, 0},
		{"an id and a bad sample", ssf.SSFSpan{Id: 1, Metrics: []ssf.SSFSample{bad}}, ssf.ReasonNoTraceID, 0, 0, 1},
		{"an id alone", ssf.SSFSpan{Id: 1}, ssf.ReasonNoTraceID, 0, 0, 1},
		{"a sample alone", ssf.SSFSpan{Metrics: []ssf.SSFSample{counter}}, nil, 1, 0, 0},
		{"a bad sample alone", ssf.SSFSpan{Metrics: []ssf.SSFSample{bad}}, nil, 1, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := build(t, ssfAt(loopback))
			in := r.in.newIntake()
			in.begin(newSource(0, loopback, true, false, r.reg), time.Now())
			err := in.span([]byte(packetOf(&tt.span)))
			in.end()
			require.Equal(t, tt.err, err)
			r.requireValue(tt.spans, "ingest.spans")
			r.requireValue(0, "ingest.trace_spans")
			r.requireValue(tt.broken, "ingest.broken_traces", "reason:no_trace_id")
			r.requireValue(tt.refusedID, "ingest.refused", "reason:no_trace_id")
			require.Empty(t, r.spans.spans())
		})
	}
}

// On the wire tags are a map: of a key that stands twice the last value counts, for samples and for span sinks.
func TestLastOfEqualKeys(t *testing.T) {
	r := build(t, ssfAt(loopback))
	in := r.in.datagrams[0].intakes[0]
	span := traceSpan(1)
	span.Tags = []ssf.Tag{{Key: "k", Value: "old"}, {Key: "k", Value: "new"}}
	span.Metrics[0].Tags = span.Tags
	in.datagrams(r.in.bindings[0].src, []packet{{data: []byte(packetOf(span))}}, time.Now())
	require.Equal(t, map[string]float64{"carried{k:new}": 4}, r.flush().values)
	require.Equal(t, []ssf.Tag{{Key: "k", Value: "new"}, {Key: "added", Value: "yes"}}, r.spans.spans()[0].Tags)
}

// Some clients probe with nothing. That is a packet, and nothing is refused.
func TestEmptyDatagramsArePackets(t *testing.T) {
	c := ssfAt(loopback)
	c.StatsdListenAddresses = []Listener{NewListener("udp://[::1]:0")}
	r := start(t, c)
	r.send(0, "")
	r.send(1, "")
	for _, listener := range []string{"udp://[::1]:0", loopback} {
		r.wait(1, "ingest.packets", "listener:"+listener)
	}
	r.requireValue(0, "ingest.bytes")
	r.requireValue(0, "ingest.lines")
	r.requireValue(0, "ingest.spans")
	r.requireValue(0, "ingest.refused")
}

func TestSpansAreNotCopiedForNobody(t *testing.T) {
	r := build(t, ssfAt(loopback))
	in := r.in.newIntake()
	in.spans = nowhere{}
	src := newSource(0, loopback, true, false, r.reg)
	span := traceSpan(1)
	span.Metrics = nil
	packets := []packet{{data: []byte(packetOf(span))}}
	now := time.Now()
	in.datagrams(src, packets, now)
	if allocs := testing.AllocsPerRun(100, func() { in.datagrams(src, packets, now) }); allocs > 0 && exactAllocs {
		t.Errorf("%v allocations a span, want 0", allocs)
	}
}

func TestTruncatedSpanIsRefused(t *testing.T) {
	r := start(t, ssfAt("unixgram://"+filepath.Join(t.TempDir(), "d.sock")))
	conn := r.dial(0)
	require.NoError(t, conn.(*net.UnixConn).SetWriteBuffer(1<<20))
	big := traceSpan(1)
	big.SetTag("big", strings.Repeat("x", 70_000))
	write(t, conn, packetOf(big))
	r.wait(1, "ingest.refused", "reason:truncated")
	r.wait(1, "ingest.truncated")
}

// The protobuf of each is wrong, its frame is not: the span after it is taken, on the same connection.
func TestB142ProtobufLengthLies(t *testing.T) {
	lies := []struct{ name, payload string }{
		{"negative length", "\x42\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"},
		{"huge length", "\x42\xff\xff\xff\xff\x07"},
		{"huge length of a sample", "\x52\xff\xff\xff\xff\x07"},
		{"truncated varint", "\x10\xff"},
		{"varint of eleven bytes", "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"},
		{"field 0", "\x00\x01"},
		{"wire type 6", "\x0e"},
		{"wire type 7 in an unknown field", "\xa7\x06"},
		{"unmatched end of a group", "\xa4\x06"},
		{"group without an end", "\xa3\x06"},
	}
	r := start(t, ssfAt(tcp))
	conn := r.dial(0)
	for n, lie := range lies {
		write(t, conn, frame(lie.payload)+frame(packetOf(traceSpan(1))))
		r.wait(float64(n+1), "ingest.spans")
		r.wait(float64(n+1), "ingest.refused")
	}
	r.requireValue(float64(len(lies)), "ingest.refused")
	r.requireValue(0, "ingest.connections_closed")
}

func TestB143NestedGroups(t *testing.T) {
	r := start(t, ssfAt(tcp))
	r.send(0, frame(strings.Repeat("\xa3\x06", protocol.MaxFrame/2)), frame(packetOf(traceSpan(1))))
	r.wait(1, "ingest.spans")
	r.wait(1, "ingest.refused", "protocol:ssf", "reason:depth")
}

func TestBrokenFrames(t *testing.T) {
	tests := []struct{ name, bytes, reason string }{
		{"version", "\x01\x00\x00\x00\x01x", "frame_version"},
		{"HTTP", "GET / HTTP/1.1\r\n\r\n", "frame_version"},
		{"length", "\x00\x01\x00\x00\x01", "frame_length"},
		{"largest length", "\x00\xff\xff\xff\xff", "frame_length"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := start(t, ssfAt(tcp))
			conn := r.send(0, frame(packetOf(traceSpan(1)))+tt.bytes+frame(packetOf(traceSpan(2))))
			require.NoError(t, conn.SetReadDeadline(time.Now().Add(patience)))
			_, err := conn.Read(make([]byte, 1))
			require.Error(t, err)
			require.NotErrorIs(t, err, net.ErrClosed)
			r.wait(1, "ingest.connections_closed", "reason:framing")
			r.requireValue(1, "ingest.spans")
			r.requireValue(1, "ingest.refused", "protocol:ssf", "reason:"+tt.reason)
		})
	}
	t.Run("cut short", func(t *testing.T) {
		r := start(t, ssfAt(tcp))
		conn := r.send(0, frame(packetOf(traceSpan(1)))+"\x00\x00\x00")
		require.NoError(t, conn.Close())
		r.wait(1, "ingest.refused", "protocol:ssf", "reason:frame_truncated")
		r.requireValue(1, "ingest.spans")
	})
}

// A frame that announces 16 MiB and brings nothing costs a small buffer, a thousand times.
func TestMemoryGrowsWithWhatArrives(t *testing.T) {
	r := start(t, ssfAt(tcp))
	const clients = 200
	before := heap()
	for range clients {
		r.send(0, "\x00\x01\x00\x00\x00some")
	}
	r.wait(clients, "ingest.connections")
	require.Less(t, heap()-before, int64(clients*64<<10))
}

func heap() int64 {
	runtime.GC()
	runtime.GC() // pools keep what they hold for one collection
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestHugeFrameIsTakenAndItsBufferLetGo(t *testing.T) {
	r := start(t, ssfAt("unix://"+filepath.Join(t.TempDir(), "s.sock")))
	span := traceSpan(1)
	for range 15 {
		span.Tags = append(span.Tags, ssf.Tag{Key: "big", Value: strings.Repeat("x", 1<<20)})
	}
	var stream bytes.Buffer
	_, err := protocol.WriteSSF(&stream, span)
	require.NoError(t, err)
	before := heap()
	conn := r.send(0, stream.String())
	r.wait(1, "ingest.spans")
	r.spans.mu.Lock()
	r.spans.got = nil
	r.spans.mu.Unlock()
	write(t, conn, frame(packetOf(traceSpan(2))))
	r.wait(2, "ingest.spans")
	eventually(t, func() bool { return heap()-before < 4<<20 }, "the buffer stays") // it is let go before the next read
}
