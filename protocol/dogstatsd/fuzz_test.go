package dogstatsd

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func addSeeds(f *testing.F) {
	for _, c := range loadCases(f) {
		f.Add([]byte(c.Line), false)
		f.Add([]byte(c.Line), true)
	}
}

// said is a copy of what an accepted line says, in a form that can be compared: nil and empty texts are the same.
type said struct {
	Kind   LineKind
	Sample [3]string
	Values []float64
	Rate   float64
	Delta  bool
	Texts  [6]string
	Time   [3]int64
	Enums  [4]int
	Words  [3]string
	Origin [3]string
	Inode  uint64
	Init   bool
}

func copyOf(l *Line) said {
	s := said{
		Kind: l.Kind, Inode: l.Origin.ContainerInode, Init: l.Origin.External.Init,
		Origin: [3]string{string(l.Origin.ContainerID), string(l.Origin.External.ContainerName), string(l.Origin.External.PodUID)},
	}
	s.Words[2] = l.Origin.Cardinality
	switch m, e, c := &l.Sample, &l.Event, &l.Check; l.Kind {
	case MetricLine:
		s.Sample = [3]string{string(m.Name), string(m.Tags), string(m.Text)}
		s.Values = append([]float64{}, m.Values...)
		s.Rate, s.Delta, s.Time[0] = m.Rate, m.Delta, m.Time
		s.Enums = [4]int{int(m.Kind), int(m.Scope), int(m.Form)}
	case EventLine:
		s.Texts = [6]string{string(e.Title), string(e.Text), string(e.Host), string(e.AggregationKey), string(e.SourceType), string(e.Tags)}
		s.Words[0], s.Words[1], s.Time[1] = e.Priority, e.AlertType, e.Time
	case CheckLine:
		s.Texts = [6]string{string(c.Name), string(c.Message), string(c.Host), string(c.Tags)}
		s.Enums[3], s.Time[2] = int(c.Status), c.Time
	}
	return s
}

// FuzzLine: no message panics, an accepted one is sound, and what is appended from it reads as the same again.
func FuzzLine(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, msg []byte, deltas bool) {
		msg, _, _ = bytes.Cut(msg, []byte{'\n'})
		p := Parser{GaugeDeltas: deltas}
		p.Reset(msg, testNow)
		l := p.Next()
		if l == nil {
			require.Empty(t, bytes.TrimSuffix(msg, []byte{'\r'}))
			return
		}
		require.Equal(t, l.Kind == RefusedLine, l.Reason != ReasonNone)
		if l.Kind == RefusedLine {
			return
		}
		requireSound(t, l)
		first := copyOf(l)
		appended := AppendLine(nil, l)
		require.NotContains(t, string(appended), "\n")
		p.Reset(appended, testNow)
		l = p.Next()
		require.NotNil(t, l)
		require.Equal(t, ReasonNone, l.Reason, "%q", appended)
		require.Equal(t, first, copyOf(l), "%q", appended)
		require.Zero(t, l.Ignored, "%q", appended)
		require.Nil(t, p.Next())
	})
}

// requireSound holds what the others rely on.
func requireSound(t *testing.T, l *Line) {
	switch s := &l.Sample; l.Kind {
	case MetricLine:
		require.NotEmpty(t, s.Name)
		require.False(t, bytes.ContainsAny(s.Name, ":|\n"))
		require.False(t, bytes.ContainsAny(s.Tags, "|\n"))
		require.Positive(t, s.Count())
		require.Equal(t, len(s.Values) == 0, len(s.Text) > 0)
		require.True(t, s.Rate > 0 && s.Rate <= 1 && !math.IsInf(1/s.Rate, 0))
		for _, v := range s.Values {
			require.False(t, math.IsNaN(v/s.Rate) || math.IsInf(v/s.Rate, 0))
		}
		require.True(t, s.Time >= 0 && s.Time <= testNow+MaxAhead)
	case EventLine:
		require.NotEmpty(t, l.Event.Title)
		require.Contains(t, []string{"normal", "low"}, l.Event.Priority)
		require.Contains(t, []string{"info", "error", "warning", "success"}, l.Event.AlertType)
	case CheckLine:
		require.NotEmpty(t, l.Check.Name)
	}
}

// FuzzDatagram: a packet gives what each of its messages gives alone, whatever stands beside it, and a parser carries nothing from one to
// the next.
func FuzzDatagram(f *testing.F) {
	addSeeds(f)
	f.Add([]byte("a:1:2:3|h|c:ci-x\r\n_e{1,2}:t|\\n|h:b\n\n_sc|n|1|m:\\n\n\r\nb:x|c\na:1|c"), true)
	f.Fuzz(func(t *testing.T, packet []byte, deltas bool) {
		before := bytes.Clone(packet)
		together := Parser{GaugeDeltas: deltas}
		together.Reset(packet, testNow)
		for _, msg := range bytes.Split(packet, []byte{'\n'}) {
			msg = bytes.TrimSuffix(msg, []byte{'\r'})
			if len(msg) == 0 {
				continue
			}
			got := together.Next()
			require.NotNil(t, got)
			require.Equal(t, string(msg), string(got.Raw))

			alone := Parser{GaugeDeltas: deltas}
			// With a line end of its own, since the message may end in a carriage return.
			alone.Reset(append(bytes.Clone(msg), "\r\n"...), testNow)
			want := alone.Next()
			require.Equal(t, want.Kind, got.Kind)
			require.Equal(t, want.Reason, got.Reason)
			require.Equal(t, want.Ignored, got.Ignored)
			if want.Kind != RefusedLine {
				require.Equal(t, copyOf(want), copyOf(got))
			}
		}
		require.Nil(t, together.Next())
		require.Equal(t, before, packet, "a packet is only read")
	})
}
