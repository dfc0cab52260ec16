//go:build !invariants

// With invariants every packet that goes to the decoder has memory of its own.

package jsondoc_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks/jsondoc"
	"github.com/veneurd/veneur/ssf"
)

func TestAllocations(t *testing.T) {
	o := jsondoc.DefaultOptions()
	o.Samples = true
	o.Keys.Reserved = []string{"env"}
	e := jsondoc.New(o)
	list := spans()
	var packets [][]byte
	for _, s := range list {
		packets = append(packets, ssf.AppendSpan(nil, s))
	}
	tags := []string{"a:1", "a:2", ".b", "c:\xff"}
	p := &metric.Point{Series: &metric.Series{Tags: tags}, Name: "x", Value: 0.1}
	event, check := &metric.Event{Title: "x", Tags: tags}, &metric.Check{Name: "x", Tags: tags}
	sample := &list[0].Metrics[0]
	end := time.Unix(1_700_000_000, 5)
	bad := packets[0][:len(packets[0])-1]
	buf := make([]byte, 0, 64<<10)
	for name, do := range map[string]func(){
		"spans": func() {
			for _, s := range list {
				_, _ = e.AppendSpan(buf, s)
			}
		},
		"packets": func() {
			for _, p := range packets {
				if _, err := e.AppendWireSpan(buf, p); err != nil {
					t.Fatal(err)
				}
			}
		},
		"packets that are refused": func() {
			if _, err := e.AppendWireSpan(buf, bad); err == nil {
				t.Fatal("not refused")
			}
		},
		"others": func() {
			_, _ = e.AppendPoint(buf, p, end, time.Second)
			_, _ = e.AppendEvent(buf, event)
			_, _ = e.AppendCheck(buf, check)
			_, _ = e.AppendSample(buf, sample, 5)
		},
		"sorted tags": func() { e.Sorted(list[0].Tags) },
	} {
		require.Zero(t, testing.AllocsPerRun(100, do), name)
	}
}
