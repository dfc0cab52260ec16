package localfile

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/sinks"
)

// newFile returns a sink that writes to a new place, and its path.
func newFile(t testing.TB, change func(*Config)) (*sink, string) {
	t.Helper()
	c := DefaultConfig()
	c.Path = filepath.Join(t.TempDir(), "out")
	if change != nil {
		change(&c)
	}
	require.NoError(t, c.Validate())
	k, err := newSink(c, settingsOf("host"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = k.Close() })
	return k, c.Path
}

// numberedPoints returns a batch of n points whose values count on from first.
func numberedPoints(first, n int) *sinks.Batch {
	b := &sinks.Batch{End: time.Unix(1_700_000_000, 0), Interval: 10 * time.Second}
	for i := range n {
		b.Points = append(b.Points, metric.Point{Series: &metric.Series{Name: "x"}, Name: "x", Value: float64(first + i)})
	}
	return b
}

// line is what a point of that value becomes.
func line(value int) string {
	return fmt.Sprintf(`{"kind":"metric","name":"x","tags":[],"type":"counter","value":%d,"timestamp":1700000000,"interval_s":10,"hostname":"host"}`, value)
}

// lines reads a file, every line of which must be whole.
func lines(t testing.TB, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	if len(text) == 0 {
		return nil
	}
	require.True(t, strings.HasSuffix(string(text), "\n"), "%s ends within a line", path)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

func send(t testing.TB, k *sink, b *sinks.Batch) {
	t.Helper()
	require.NoError(t, k.Send(t.Context(), b))
}

// within is a context for what must not take long.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func settingsOf(hostname string) sinks.Settings {
	return sinks.Settings{Hostname: hostname, Stdout: io.Discard}
}
