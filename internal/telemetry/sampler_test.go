package telemetry

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"
)

// sampling runs a sampler in a bubble; logged returns what was logged since it was last called.
func sampling(t *testing.T) (s *LogSampler, logged func() []string, stop func()) {
	log, hook := logtest.NewNullLogger()
	s = NewLogSampler(log)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	logged = func() []string {
		synctest.Wait()
		var lines []string
		for _, e := range hook.AllEntries() {
			require.Equal(t, logrus.WarnLevel, e.Level)
			lines = append(lines, fmt.Sprint(e.Message, " ", e.Data["count"], " ", e.Data["example"]))
		}
		hook.Reset()
		return lines
	}
	return s, logged, func() {
		cancel()
		require.NoError(t, <-done)
	}
}

func TestSamplerLogsOneExampleAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, logged, stop := sampling(t)
		s.Note("no type", []byte("a:1|\n"))
		require.Equal(t, []string{`no type 1 "a:1|\n"`}, logged(), "the first at once")

		for i := range 1000 {
			s.Note("no type", fmt.Append(nil, i))
		}
		s.Note("no value", []byte("x"))
		require.Equal(t, []string{`no value 1 "x"`}, logged(), "another reason has a minute of its own")

		time.Sleep(59 * time.Second)
		require.Empty(t, logged())
		time.Sleep(time.Second)
		require.Equal(t, []string{`no type 1000 "0"`}, logged(), "the rest without a further event")

		time.Sleep(10 * time.Minute)
		require.Empty(t, logged(), "nothing new")
		s.Note("no type", []byte("b"))
		require.Equal(t, []string{`no type 1 "b"`}, logged(), "after a quiet minute at once again")

		s.Note("no type", []byte("c"))
		stop()
		require.Equal(t, []string{`no type 1 "c"`}, logged(), "what is left at the end")
	})
}

func TestSamplerQuotesAndCutsTheExample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, logged, stop := sampling(t)
		defer stop()
		line := append([]byte("\x1b[2J\"é\xff"), make([]byte, 70_000)...)
		s.Note("odd", line)
		got := logged()
		require.Len(t, got, 1)
		require.Contains(t, got[0], `odd 1 "\x1b[2J\"é\xff\x00`)
		require.Less(t, len(got[0]), 64*4+20)

		s.Note("nothing", nil)
		require.Equal(t, []string{`nothing 1 ""`}, logged())
	})
}

func TestSamplerIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, logged, stop := sampling(t)
		defer stop()
		for i := range 1000 {
			s.Note(fmt.Sprint("key ", i), nil)
		}
		require.LessOrEqual(t, len(*s.keys.Load()), maxSampleKeys+1)
		time.Sleep(3 * time.Minute)
		logged()
		s.Note("key 999", []byte("x"))
		s.Note("key 0", []byte("y"))
		require.Equal(t, []string{`key 0 1 "y"`, `other 1 "x"`}, logged())
	})
}

func TestSamplerCountsEveryEventOfManyGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, hook := logtest.NewNullLogger()
		s := NewLogSampler(log)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for i := range 1000 {
					s.Note("flood", []byte("x"))
					if i%100 == 0 {
						time.Sleep(17 * time.Second)
					}
				}
			})
		}
		wg.Wait()
		cancel()
		require.NoError(t, <-done)
		var sum uint64
		for _, e := range hook.AllEntries() {
			sum += e.Data["count"].(uint64)
		}
		require.Equal(t, uint64(8000), sum)
		require.LessOrEqual(t, len(hook.AllEntries()), 5, "about three minutes")
	})
}

func TestNoteDoesNotAllocate(t *testing.T) {
	log, _ := logtest.NewNullLogger()
	s := NewLogSampler(log)
	line := []byte("a:1|c|#x:y")
	s.Note("no type", line)
	require.Zero(t, testing.AllocsPerRun(1000, func() { s.Note("no type", line) }))
}

func BenchmarkNote(b *testing.B) {
	log, _ := logtest.NewNullLogger()
	s := NewLogSampler(log)
	line := []byte("a:1|c|#x:y")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			s.Note("no type", line)
		}
	})
}
