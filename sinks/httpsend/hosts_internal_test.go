package httpsend

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/sinks"
)

var errRefused = errors.New("connection refused")

// take takes a host and says which.
func take(hs *hosts, tried ...*host) (*host, string) {
	h := hs.take(time.Now(), tried)
	return h, h.name
}

// turns takes n hosts, all of which are well.
func turns(hs *hosts, n int) (names []string) {
	for range n {
		h, name := take(hs)
		hs.judge(h, nil, time.Now())
		names = append(names, name)
	}
	return names
}

func newTestHosts(pauses *int, names ...string) *hosts {
	for i := range names {
		names[i] = "http://" + names[i]
	}
	return newHosts(names, func() { *pauses++ })
}

func TestHostsTakeTurns(t *testing.T) {
	var pauses int
	hs := newTestHosts(&pauses, "a", "b", "c")
	require.Equal(t, []string{"a", "b", "c", "a", "b"}, turns(hs, 5))
	require.Zero(t, pauses)
}

func TestHostThatFailsIsLeftAloneAndTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pauses int
		hs := newTestHosts(&pauses, "a", "b")
		a, name := take(hs)
		require.Equal(t, "a", name)
		hs.judge(a, errRefused, time.Now())
		require.Equal(t, []string{"b", "b", "b"}, turns(hs, 3))
		time.Sleep(time.Second)
		probe, name := take(hs)
		require.Equal(t, "a", name, "its pause is over")
		require.Equal(t, []string{"b", "b"}, turns(hs, 2), "one request finds out, the others do not wait for it")
		hs.judge(probe, nil, time.Now())
		require.ElementsMatch(t, []string{"a", "b"}, turns(hs, 2))
		require.Equal(t, 1, pauses)
	})
}

func TestPauseGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pauses int
		hs := newTestHosts(&pauses, "a")
		bound := time.Second
		different := map[time.Duration]bool{}
		for range 20 {
			h, _ := take(hs)
			hs.judge(h, errRefused, time.Now())
			pause := time.Until(h.until)
			assert.LessOrEqual(t, pause, bound)
			assert.GreaterOrEqual(t, pause, bound/2)
			different[pause] = true
			bound = min(2*bound, time.Minute)
			time.Sleep(pause)
		}
		assert.Greater(t, len(different), 15, "daemons must not come back in step")
		h, _ := take(hs)
		hs.judge(h, nil, time.Now())
		h, _ = take(hs)
		hs.judge(h, errRefused, time.Now())
		assert.LessOrEqual(t, time.Until(h.until), time.Second, "a success ends it")
	})
}

func TestAllHostsPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pauses int
		hs := newTestHosts(&pauses, "a", "b", "c")
		for range 3 {
			h, _ := take(hs)
			hs.judge(h, errRefused, time.Now())
		}
		soonest := hs.all[0]
		for _, h := range hs.all {
			if h.until.Before(soonest.until) {
				soonest = h
			}
		}
		first, name := take(hs)
		require.Equal(t, soonest.name, name)
		second, _ := take(hs, first)
		third, _ := take(hs, first, second)
		require.ElementsMatch(t, hs.all, []*host{first, second, third})
	})
}

func TestWhatPausesAHost(t *testing.T) {
	status := func(code int) error { return &StatusError{Status: code} }
	tests := []struct {
		name string
		err  error
		want bool
	}{
		{"success", nil, false},
		{"no connection", &RequestError{Err: errRefused}, true},
		{"timeout", &RequestError{Err: context.DeadlineExceeded}, true},
		{"the daemon stops", &RequestError{Err: context.Canceled}, false},
		{"400", sinks.Permanent(status(400)), false},
		{"401", &sinks.ConfigError{Err: status(401)}, false},
		{"413", &sinks.TooLargeError{Err: status(413)}, false},
		{"429", &sinks.RetryAfter{Err: status(429)}, false},
		{"500", status(500), false},
		{"502", status(502), true},
		{"503", &sinks.RetryAfter{Err: status(503)}, true},
		{"504", status(504), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var pauses int
			hs := newTestHosts(&pauses, "a")
			h, _ := take(hs)
			hs.judge(h, tt.err, time.Now())
			require.Equal(t, tt.want, !h.until.IsZero())
			require.False(t, h.probing)
		})
	}
}

func TestAddressOfARequest(t *testing.T) {
	tests := []struct{ base, path, want, shown string }{
		{"http://h:9200", "/_bulk?x=1", "http://h:9200/_bulk?x=1", "http://h:9200/_bulk"},
		{"http://h:9200/", "/_bulk", "http://h:9200/_bulk", "http://h:9200/_bulk"},
		{"https://h/es/eu/", "/a/b", "https://h/es/eu/a/b", "https://h/es/eu/a/b"},
		{"https://h/p?key=secret", "/a?b=c", "https://h/p/a?key=secret&b=c", "https://h/p/a"},
		{"https://h/p?key=secret", "/a", "https://h/p/a?key=secret", "https://h/p/a"},
		{"https://h/a%2Fb", "/c%2Fd", "https://h/a%2Fb/c%2Fd", "https://h/a%2Fb/c%2Fd"},
		{"http://[::1]:9200", "/x", "http://[::1]:9200/x", "http://[::1]:9200/x"},
	}
	for _, tt := range tests {
		t.Run(tt.base+tt.path, func(t *testing.T) {
			h := newHosts([]string{tt.base}, nil).all[0]
			u, err := h.at(tt.path)
			require.NoError(t, err)
			assert.Equal(t, tt.want, u.String())
			if tt.base != "https://h/a%2Fb" {
				assert.Equal(t, tt.shown, h.shown(tt.path))
			}
		})
	}
	_, err := newHosts([]string{"http://h"}, nil).all[0].at("/%zz")
	require.Error(t, err)
}
