package lifecycle_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/lifecycle"
)

func TestFailingStartsAreAllReportedAndWhatWasStartedIsClosed(t *testing.T) {
	h := &history{}
	g := lifecycle.New(h)
	g.Stage("sinks", time.Second, &part{history: h, name: "sink"})
	g.Stage("listeners", time.Second,
		&part{history: h, name: "udp", start: errors.New("udp: address in use")},
		&part{history: h, name: "tcp"},
		&part{history: h, name: "unix", start: errors.New("unix: no such directory")})
	g.Stage("later", time.Second, &part{history: h, name: "http"}, &part{history: h, name: "grpc", start: errors.New("grpc: no such host")})
	g.OnReady(func() { t.Error("ready though a start failed") })
	g.OnStopping(func() { t.Error("stopping what never ran") })

	require.EqualError(t, g.Run(t.Context()), "udp: address in use\nunix: no such directory\ngrpc: no such host")
	require.Equal(t, []string{
		"start sink", "start udp", "start tcp", "start unix", "start http", "start grpc", "close http", "close tcp", "close sink",
	}, h.take())
}

type panickingStarter struct{ part }

func (p *panickingStarter) Start(context.Context) error { panic("boom") }

func TestPanicInStartIsAnError(t *testing.T) {
	h := &history{}
	g := lifecycle.New(h)
	g.Stage("listeners", time.Second, &part{history: h, name: "tcp"}, &panickingStarter{part{name: "udp"}})
	require.ErrorContains(t, g.Run(t.Context()), "listeners: udp: panic: boom")
	require.Equal(t, []string{"start tcp", "close tcp"}, h.take())
}

type closeFails struct{ part }

func (*closeFails) Close() error { return errors.New("stuck") }

func TestFailureToCloseIsLogged(t *testing.T) {
	h := &history{}
	g := lifecycle.New(h)
	g.Stage("a", time.Second, &closeFails{part{history: h, name: "x"}})
	g.Stage("b", time.Second, &part{history: h, name: "y", start: errors.New("no")})
	require.EqualError(t, g.Run(t.Context()), "no")
	require.Equal(t, []string{"start x", "start y", "log: closing what was started: stuck"}, h.take())
}

type stopsTheStart struct {
	part
	cancel func()
}

func (s *stopsTheStart) Start(ctx context.Context) error {
	s.cancel()
	return ctx.Err()
}

func TestStopDuringStartIsClean(t *testing.T) {
	h := &history{}
	g := lifecycle.New(h)
	ctx, cancel := context.WithCancel(t.Context())
	g.Stage("sinks", time.Second, &part{history: h, name: "sink"}, &stopsTheStart{cancel: cancel})
	g.Stage("listeners", time.Second, &part{history: h, name: "never"})
	require.NoError(t, g.Run(ctx))
	require.Equal(t, []string{"start sink", "close sink"}, h.take())
}
