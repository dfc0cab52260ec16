package telemetry

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestLogWriterWritesEveryLineInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		w := NewLogWriter(&out, New())
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		line := []byte("0\n")
		for i := range 10 {
			line[0] = byte('0' + i)
			_, err := w.Write(line) // reused, as loggers do
			require.NoError(t, err)
		}
		cancel()
		require.NoError(t, <-done)
		require.Equal(t, "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n", out.String())
	})
}

func TestLogWriterNeverWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		r := New()
		w := NewLogWriter(writer, r)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		const lines = 3 * maxLogLines
		for i := range lines {
			fmt.Fprintf(w, "%d\n", i)
		}
		synctest.Wait()
		dropped := r.Value("log.dropped_lines")
		require.GreaterOrEqual(t, dropped, float64(lines-maxLogLines-1))
		cancel()
		var read bytes.Buffer
		finished := make(chan struct{})
		go func() {
			defer close(finished)
			_, _ = io.Copy(&read, reader)
		}()
		require.NoError(t, <-done)
		require.NoError(t, writer.Close())
		<-finished
		require.Equal(t, lines-int(dropped), bytes.Count(read.Bytes(), []byte("\n")))
	})
}
