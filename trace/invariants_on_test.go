//go:build invariants

package trace_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/trace"
	"github.com/veneurd/veneur/trace/tracetest"
)

const invariantsEnabled = true

func TestUseAfterFinishIsDetected(t *testing.T) {
	client, recorder := tracetest.New(t)
	for name, use := range map[string]func(trace.Span){
		"tag":    func(s trace.Span) { s.SetTag("a", "b") },
		"finish": func(s trace.Span) { s.Finish() },
	} {
		span := client.StartTrace(name)
		span.Finish()
		require.PanicsWithValue(t, "trace: a span is used after it was finished", func() { use(span) }, name)
		span.StartChild("child of " + name).Finish() // which is allowed
	}
	recorder.HasSpans("tag", "finish", "child of tag", "child of finish")
}
