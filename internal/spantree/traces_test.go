package spantree

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
)

func TestATraceOfTheShop(t *testing.T) {
	end := time.Unix(1_700_000_000, 0)
	id := int64(0)
	traces := Traces{Tags: []ssf.Tag{{Key: "env", Value: "dev"}}, NewID: func() int64 { id++; return id }}
	failed := 0
	for n := range Period {
		spans := traces.Next(end)
		require.Equal(t, n+1, traces.Made())
		require.Len(t, spans, SpansPerTrace)
		byID := map[int64]*ssf.SSFSpan{}
		for _, s := range spans {
			require.NoError(t, ssf.ValidateTrace(s))
			require.Equal(t, spans[0].TraceId, s.TraceId)
			env, _ := s.Tag("env")
			require.Equal(t, "dev", env)
			byID[s.Id] = s
		}
		root := spans[len(spans)-1]
		require.Zero(t, root.ParentId)
		require.Equal(t, end.UnixNano(), root.EndTimestamp)
		took, _ := root.Duration()
		require.Equal(t, 117*time.Millisecond*time.Duration(100+n)/100, took)
		for _, s := range spans[:len(spans)-1] {
			parent := byID[s.ParentId]
			require.NotNil(t, parent)
			require.LessOrEqual(t, parent.StartTimestamp, s.StartTimestamp)
			require.LessOrEqual(t, s.EndTimestamp, parent.EndTimestamp)
			require.Equal(t, s.Service != parent.Service, s.Indicator, "a request to another service")
		}
		if root.Error {
			failed++
		}
	}
	assert.Equal(t, 5, failed)
}
