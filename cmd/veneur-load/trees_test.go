package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/spantree"
	"github.com/veneurd/veneur/protocol"
	"github.com/veneurd/veneur/ssf"
)

func TestTreesAreWhatTheCorpusSays(t *testing.T) {
	for _, stream := range []bool{false, true} {
		c := treeCorpus(limits{messages: 1, stream: stream})
		require.Equal(t, c, treeCorpus(limits{messages: 1, stream: stream}), "it is the same every time")
		var got tally
		failed, traces, ids := 0, map[int64]int{}, map[int64]bool{}
		for i := range c.packets() {
			packet := c.bytes(i, 1)
			got.Packets++
			got.Bytes += uint64(len(packet))
			if stream {
				var err error
				packet, err = protocol.ReadFrame(bytes.NewReader(packet), nil)
				require.NoError(t, err)
			}
			span, err := protocol.ParseSSF(packet)
			require.NoError(t, err)
			require.NoError(t, ssf.ValidateTrace(span))
			require.Empty(t, span.Metrics)
			traces[span.TraceId]++
			ids[span.Id] = true
			if span.ParentId == 0 && span.Error {
				failed++
			}
			got.Messages++
		}
		require.Equal(t, got, c.whole())
		require.Len(t, traces, treeTraces)
		require.Len(t, ids, treeTraces*spantree.SpansPerTrace)
		for _, n := range traces {
			require.Equal(t, spantree.SpansPerTrace, n)
		}
		require.Equal(t, treeTraces/20, failed)
	}
}
