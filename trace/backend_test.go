package trace_test

import (
	"context"
	"crypto/tls"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/protocol"
	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
	"github.com/veneurd/veneur/trace/tracetest"
)

func TestBackendRefusals(t *testing.T) {
	c, recorder := tracetest.New(t)
	bad := errors.New("bad")
	recorder.Refuse(func(s *ssf.SSFSpan) error {
		if s.Name == "bad" {
			return bad
		}
		return nil
	})
	for _, name := range []string{"a", "bad", "b"} {
		c.StartTrace(name).Finish()
	}
	require.ErrorIs(t, c.Flush(t.Context()), bad)
	require.NoError(t, c.Flush(t.Context()), "the next flush is about what came since")
	recorder.HasSpans("a", "b")
	require.EqualValues(t, 1, requireLaw(t, c).Dropped[trace.ReasonRefused])
}

// answers is a backend that answers each call with the next of what it was given, and then takes everything.
type answers struct {
	discard
	answers [][]error
	got     []string
	flushed int
	closed  int
}

func (a *answers) SendPackets(_ context.Context, packets [][]byte, errs []error) {
	if len(a.answers) > 0 {
		copy(errs, a.answers[0])
		a.answers = a.answers[1:]
	}
	for i, p := range packets {
		span, err := protocol.ParseSSF(p)
		if err != nil {
			errs[i] = err
		}
		if errs[i] == nil {
			a.got = append(a.got, span.Name)
		}
	}
}

func (a *answers) FlushSync(context.Context) error {
	a.flushed++
	return nil
}

func (a *answers) Close() error {
	a.closed++
	return nil
}

func TestPacketBackend(t *testing.T) {
	refused := errors.Join(trace.ReasonRefused, errors.New("not that one"))
	down := errors.New("down")
	for _, tt := range []struct {
		name    string
		answers [][]error
		got     []string
		refused uint64
		err     error
	}{
		{"takes all", nil, []string{"a", "b", "c"}, 0, nil},
		{"is down", [][]error{{down, down, down}, {down, down, down}}, []string{"a", "b", "c"}, 0, nil},
		{"goes down", [][]error{{nil, down, down}, {down, nil}}, []string{"a", "c", "b"}, 0, nil},
		{"fails in the middle", [][]error{{nil, down, nil}}, []string{"a", "c", "b"}, 0, nil},
		{"refuses the first", [][]error{{refused}}, []string{"b", "c"}, 1, refused},
		{"refuses the last", [][]error{{nil, nil, refused}}, []string{"a", "b"}, 1, refused},
		{"refuses all", [][]error{{refused, refused, refused}}, nil, 3, refused},
		{"refuses and goes down", [][]error{{down, refused, down}, {refused, nil}}, []string{"c"}, 2, refused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			backend := &answers{answers: tt.answers}
			c, err := trace.NewBackendClient(backend, trace.WithFlushInterval(time.Hour), trace.WithBackoff(time.Microsecond, time.Microsecond))
			require.NoError(t, err)
			for _, name := range []string{"a", "b", "c"} {
				require.NoError(t, c.Record(&ssf.SSFSpan{Name: name, Id: 4}))
			}
			require.Equal(t, tt.err, c.Flush(t.Context()))
			require.NoError(t, closeWithin(c, patience))
			require.Equal(t, tt.got, backend.got)
			stats := requireLaw(t, c)
			require.Equal(t, tt.refused, stats.Dropped[trace.ReasonRefused])
			require.Equal(t, tt.refused, stats.Lost())
			require.Equal(t, []int{2, 1}, []int{backend.flushed, backend.closed})
		})
	}
}

func TestWrongOptions(t *testing.T) {
	for _, tt := range []struct {
		address string
		opts    []trace.Option
		err     string
	}{
		{"", nil, "is empty"},
		{"unix:/a", nil, "no slashes"},
		{"grpc://127.0.0.1:1", nil, "tracegrpc"},
		{"udp://127.0.0.1:1", []trace.Option{trace.WithMaxSpan(65508)}, "65507"},
		{"unixgram:///a", []trace.Option{trace.WithMaxSpan(63)}, "from 64 to 65535"},
		{"tcp://127.0.0.1:1", []trace.Option{trace.WithMemory(1)}, "WithMemory"},
		{"tcp://127.0.0.1:1", []trace.Option{trace.WithFlushInterval(0)}, "WithFlushInterval"},
		{"tcp://127.0.0.1:1", []trace.Option{trace.WithMetricsInterval(-1)}, "WithMetricsInterval"},
		{"tcp://127.0.0.1:1", []trace.Option{trace.WithBackoff(2, 1)}, "WithBackoff"},
		{"tcp://127.0.0.1:1", []trace.Option{trace.WithConnectTimeout(0), trace.WithMemory(0)}, "WithMemory: 0 is less than 65536\nWithConnectTimeout"},
		{"unix:///a", []trace.Option{trace.WithTLS(&tls.Config{})}, "WithTLS"},
	} {
		t.Run(tt.err, func(t *testing.T) {
			_, err := trace.NewClient(tt.address, tt.opts...)
			require.ErrorContains(t, err, tt.err)
		})
	}
	_, err := trace.NewBackendClient(nil)
	require.ErrorContains(t, err, "no backend")
	_, err = trace.NewBackendClient(discard{}, trace.WithTLS(&tls.Config{}))
	require.ErrorContains(t, err, "WithTLS")
	c, err := trace.NewBackendClient(discard{}, nil, trace.WithService("a"), nil)
	require.NoError(t, err, "an option that is nil changes nothing")
	require.NoError(t, closeWithin(c, patience))
}
