package sinks_test

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/sinktest"
)

func TestErrorClasses(t *testing.T) {
	tests := []struct {
		err  error
		want string
	}{
		{sinks.Permanent(io.EOF), "refused: EOF"},
		{&sinks.RetryAfter{After: time.Minute, Err: io.EOF}, "retry after 1m0s: EOF"},
		{sinks.Refusal(sinks.ReasonLimit, io.EOF), "refused: EOF"},
		{&sinks.ConfigError{Err: io.EOF}, "not configured for this: EOF"},
		{&sinks.PartialError{Refused: 3, Err: io.EOF}, "3 items refused: EOF"},
		{
			&sinks.PartialError{Refused: 1, Err: io.EOF, Items: []sinks.Item{{Fate: sinks.Refused}, {Fate: sinks.Retry}, {}}},
			"3 items refused, 1 to be tried again: EOF",
		},
		{
			&sinks.PartialError{Err: io.EOF, Items: []sinks.Item{{Fate: sinks.Existing}}},
			"0 items refused, 0 to be tried again, 1 already there: EOF",
		},
		{&sinks.TooLargeError{Err: io.EOF}, "too large: EOF"},
	}
	for _, tt := range tests {
		t.Run(tt.want, func(t *testing.T) {
			require.EqualError(t, tt.err, tt.want)
			require.ErrorIs(t, tt.err, io.EOF)
		})
	}
	require.NoError(t, sinks.Permanent(nil))
	var permanent *sinks.PermanentError
	require.ErrorAs(t, fmt.Errorf("post: %w", sinks.Permanent(io.EOF)), &permanent)
}

func TestKindConfiguresOverItsDefaults(t *testing.T) {
	kind := LinesKind()
	assert.Equal(t, "lines", kind.Name())
	assert.True(t, kind.TakesMetrics())
	assert.False(t, kind.TakesSpans())
	configured, err := kind.Configure(func(into any) error {
		assert.Equal(t, &LinesConfig{Separator: " "}, into)
		into.(*LinesConfig).Separator = "="
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, &LinesConfig{Separator: "="}, configured.Config)
	assert.Equal(t, &LinesConfig{Separator: " "}, kind.Defaults(), "the defaults are as they were")
}

func TestKindReportsFaults(t *testing.T) {
	_, err := LinesKind().Configure(func(any) error { return io.EOF })
	require.Equal(t, io.EOF, err)
	_, err = LinesKind().Configure(func(into any) error {
		into.(*LinesConfig).Separator = ""
		return nil
	})
	require.EqualError(t, err, "separator: must be set")
}

func TestKindThatDoesNotTakeASignal(t *testing.T) {
	none := sinks.Define("none", DefaultLinesConfig, nil, nil)
	configured, err := none.Configure(func(any) error { return nil })
	require.NoError(t, err)
	_, err = configured.Metrics(sinks.Settings{})
	require.ErrorIs(t, err, sinks.ErrNoMetrics)
	_, err = configured.Spans(sinks.Settings{})
	require.ErrorIs(t, err, sinks.ErrNoSpans)
}

func TestKindThatCannotBeBuilt(t *testing.T) {
	broken := errors.New("bad certificate")
	kind := sinks.Define("broken", DefaultLinesConfig,
		func(LinesConfig, sinks.Settings) (sinks.MetricSink, error) { return nil, broken },
		func(LinesConfig, sinks.Settings) (sinks.SpanSink, error) { return nil, broken })
	configured, err := kind.Configure(func(any) error { return nil })
	require.NoError(t, err)
	_, err = configured.Metrics(sinks.Settings{Name: "main"})
	require.EqualError(t, err, "sink main: bad certificate")
	require.ErrorIs(t, err, broken)
	_, err = configured.Spans(sinks.Settings{Name: "main"})
	require.EqualError(t, err, "sink main: bad certificate")
}

func TestBatchLenCountsEverySort(t *testing.T) {
	b := sinktest.Batch()
	assert.Equal(t, len(b.Points)+len(b.Distributions)+len(b.Events)+len(b.Checks), b.Len())
	assert.Zero(t, (&sinks.Batch{}).Len())
}

// The example keeps the contract too.
func TestExampleKeepsTheContract(t *testing.T) {
	sinktest.Run(t, sinktest.Case{
		Kind:   LinesKind(),
		YAML:   `separator: " = "`,
		Output: func(_ testing.TB, e *sinktest.Env) []byte { return e.Stdout.Bytes() },
	})
}
