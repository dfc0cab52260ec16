package httpsend

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// How long a host that failed is left alone: the first time, and at most. Each pause is a random half to whole of its bound, so that
// many daemons do not come back at once.
const (
	firstPause = time.Second
	maxPause   = time.Minute
)

// hosts are the backend's, in turn. A host that fails is passed over until its pause has ended; then one request is let through to try it,
// and only its success brings the others back. When all are paused the one whose pause ends first is tried at once: waiting is the
// business of delivery.
type hosts struct {
	onPause func()

	mu   sync.Mutex
	all  []*host
	next int
}

// host is one of them. What is above the line never changes.
type host struct {
	base  url.URL
	query string
	name  string // host:port

	until   time.Time // paused until; zero for a host that is well
	bound   time.Duration
	probing bool // a request is under way that finds out whether it is well again
}

// newHosts takes URLs that are valid.
func newHosts(urls []string, onPause func()) *hosts {
	hs := &hosts{onPause: onPause}
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil {
			continue // refused by Validate
		}
		h := &host{base: *u, query: u.RawQuery, name: u.Host}
		h.base.Path = strings.TrimRight(u.Path, "/")
		h.base.RawPath = strings.TrimRight(u.EscapedPath(), "/")
		hs.all = append(hs.all, h)
	}
	return hs
}

func (hs *hosts) len() int { return len(hs.all) }

// take returns the host for the next try, none of those tried already.
func (hs *hosts) take(now time.Time, tried []*host) *host {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	var soonest *host
	for i := range hs.all {
		h := hs.all[(hs.next+i)%len(hs.all)]
		if slices.Contains(tried, h) {
			continue
		}
		if h.until.IsZero() || !now.Before(h.until) && !h.probing {
			hs.next = (hs.next + i + 1) % len(hs.all)
			h.probing = !h.until.IsZero()
			return h
		}
		if soonest == nil || h.until.Before(soonest.until) {
			soonest = h
		}
	}
	soonest.probing = true
	return soonest
}

// judge notes how a request to h ended. Only what says that the host itself is unwell pauses it: a request that it refused does not, nor
// one that the caller gave up before its time.
func (hs *hosts) judge(h *host, err error, now time.Time) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	h.probing = false
	switch {
	case errors.Is(err, context.Canceled):
	case !isUnwell(err):
		h.until, h.bound = time.Time{}, 0
	default:
		h.bound = min(max(2*h.bound, firstPause), maxPause)
		h.until = now.Add(h.bound/2 + rand.N(h.bound/2+1))
		hs.onPause()
	}
}

// isUnwell says whether an error is the host's own: it did not answer, or it or a proxy before it says that it cannot work now.
func isUnwell(err error) bool {
	var status *StatusError
	if errors.As(err, &status) {
		return status.Status >= 500 && status.Status != 500 && status.Status != 501
	}
	return err != nil
}

// at returns the URL of a path and query below this host's own.
func (h *host) at(path string) (*url.URL, error) {
	below, err := url.Parse(path)
	if err != nil {
		return nil, err
	}
	u := h.base
	u.Path += below.Path
	u.RawPath += below.EscapedPath()
	switch {
	case h.query == "":
		u.RawQuery = below.RawQuery
	case below.RawQuery != "":
		u.RawQuery = h.query + "&" + below.RawQuery
	}
	return &u, nil
}

// shown is the URL of a path for an error: without the query, which may hold a key.
func (h *host) shown(path string) string {
	path, _, _ = strings.Cut(path, "?")
	return h.base.Scheme + "://" + h.name + h.base.Path + path
}
