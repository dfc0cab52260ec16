//go:build !invariants

package trace_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/trace/tracetest"
)

const invariantsEnabled = false

func TestUseAfterFinishIsHarmless(t *testing.T) {
	client, recorder := tracetest.New(t)
	first := client.StartTrace("first")
	first.Finish()
	second := client.StartTrace("second") // very likely in the memory of the first
	first.SetTag("from", "first")
	first.SetName("third")
	first.Finish()
	_, ok := first.Tag("from")
	require.False(t, ok)
	second.Finish()
	first.Finish()
	recorder.HasSpans("first", "second")
	recorder.Span("second").HasNoTag("from")
	require.EqualValues(t, 2, client.Stats().Recorded)
}
