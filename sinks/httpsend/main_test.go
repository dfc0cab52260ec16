package httpsend_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/leaktest"
	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/sinks/httpsend"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// patience is for how long an answer is waited for that comes at once, on a machine that does much else.
const patience = time.Minute

// rig is a client with what surrounds it.
type rig struct {
	*httpsend.Client
	t   *testing.T
	reg *telemetry.Registry
}

// newRig builds a client for urls, changed if change is not nil.
func newRig(t *testing.T, change func(*httpsend.Config), urls ...string) *rig {
	t.Helper()
	c := httpsend.DefaultConfig()
	c.URLs = urls
	if change != nil {
		change(&c)
	}
	require.NoError(t, c.Validate())
	reg := telemetry.New()
	client, err := httpsend.New(c, httpsend.Settings{Name: "out", Telemetry: reg})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return &rig{client, t, reg}
}

// post sends body to /in.
func (r *rig) post(body string) (httpsend.Response, error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	return r.Do(ctx, httpsend.Request{Method: http.MethodPost, Path: "/in", ContentType: "text/plain", Body: []byte(body)})
}

// serve runs a backend until the test ends.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}
