package delivery

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// hangMargin is how far past its deadline an attempt may be before it is called hanging: a sink that gives up on time still needs to
// close a connection.
const hangMargin = time.Second

// health is what is known of the sink's state. It may be asked while an attempt hangs.
type health struct {
	mu       sync.Mutex
	deadline time.Time // of the attempt in flight; zero when there is none
	success  time.Time // of the last attempt that the backend took
	since    time.Time // when the present run of failures began; zero when there is none
	last     string    // the last error, even of a backend that works
	stopped  string    // why the sink's own Run ended too early
}

func (h *health) begin(deadline time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.deadline = deadline
}

// end notes how an attempt ended and says whether the sink is failing now. A backend that took some of it is well; one that only wants
// less at once is as it was.
func (h *health) end(now time.Time, r result, err error) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.deadline = time.Time{}
	if err != nil {
		h.last = brief(err)
	}
	switch {
	case r == resultTooLarge:
	case r == resultOK || r == resultPartial:
		h.success = now
		h.since = time.Time{}
	case h.since.IsZero():
		h.since = now
	}
	return !h.since.IsZero()
}

// runEnded notes that the sink's own Run returned although nobody asked it to.
func (h *health) runEnded(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = "its Run ended"
	if err != nil {
		h.stopped = "its Run ended: " + brief(err)
	}
}

func (h *health) failing() (string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	switch late := now.Sub(h.deadline); {
	case h.stopped != "":
		return h.stopped, true
	case !h.deadline.IsZero() && late > hangMargin:
		return fmt.Sprintf("an attempt has not returned %s after its deadline", late.Round(time.Second)), true
	case !h.since.IsZero():
		return fmt.Sprintf("for %s: %s", now.Sub(h.since).Round(time.Second), h.last), true
	default:
		return "", false
	}
}

func (h *health) lastSuccess() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.success
}

func (h *health) lastError() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}

const maxBrief = 256

// brief is an error as one line of at most maxBrief bytes: a backend's answer can be a page.
func brief(err error) string {
	text := err.Error()
	cut := len(text) > maxBrief
	if cut {
		text = text[:maxBrief]
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if cut {
		text += "…"
	}
	return text
}
