package httpsend

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter bounds what an answer may ask for. Delivery bounds it further, by how long the data is kept.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads a Retry-After: seconds, or a date (RFC 9110, section 10.2.3). A date is compared with the answer's own, for the two
// clocks may differ. What is over already is 0.
func retryAfter(header http.Header) (time.Duration, bool) {
	text := strings.TrimSpace(header.Get("Retry-After"))
	if text == "" {
		return 0, false
	}
	if strings.Trim(text, "0123456789") == "" {
		seconds, err := strconv.ParseUint(text, 10, 64)
		if err != nil || seconds > uint64(maxRetryAfter/time.Second) {
			return maxRetryAfter, true
		}
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, min(at.Sub(now), maxRetryAfter)), true
}
