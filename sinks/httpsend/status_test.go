package httpsend_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/sinks"
	"github.com/veneurd/veneur/sinks/httpsend"
)

// classOf names the class of an error.
func classOf(err error) string {
	var (
		permanent *sinks.PermanentError
		large     *sinks.TooLargeError
		after     *sinks.RetryAfter
		misfit    *sinks.ConfigError
	)
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &permanent):
		return "refused " + string(permanent.Reason)
	case errors.As(err, &large):
		return "too large"
	case errors.As(err, &after):
		return "after " + after.After.String()
	case errors.As(err, &misfit):
		return "config"
	}
	return "retry"
}

func TestStatusToClass(t *testing.T) {
	date := time.Now().Add(-time.Hour).UTC() // a backend whose clock is slow
	tests := []struct {
		status     int
		retryAfter string
		want       string
	}{
		{200, "", "ok"},
		{201, "", "ok"},
		{204, "", "ok"},
		{200, "60", "ok"},
		{301, "", "config"},
		{302, "", "config"},
		{307, "", "config"},
		{400, "", "refused invalid"},
		{401, "", "config"},
		{402, "", "config"},
		{403, "", "config"},
		{404, "", "config"},
		{405, "", "config"},
		{407, "", "config"},
		{408, "", "retry"},
		{409, "", "refused invalid"},
		{410, "", "config"},
		{413, "", "too large"},
		{413, "5", "too large"},
		{415, "", "refused invalid"},
		{421, "", "retry"},
		{422, "", "refused invalid"},
		{425, "", "retry"},
		{429, "", "retry"},
		{429, "0", "after 0s"},
		{429, "7", "after 7s"},
		{429, " 7 ", "after 7s"},
		{429, "86400", "after 24h0m0s"},
		{429, "86401", "after 24h0m0s"},
		{429, "99999999999999999999", "after 24h0m0s"},
		{429, "-1", "retry"},
		{429, "1.5", "retry"},
		{429, "soon", "retry"},
		{429, date.Add(90 * time.Second).Format(http.TimeFormat), "after 1m30s"},
		{429, date.Add(90 * time.Second).Format("Monday, 02-Jan-06 15:04:05 GMT"), "after 1m30s"},
		{429, date.Add(-time.Hour).Format(http.TimeFormat), "after 0s"},
		{429, date.Add(240 * time.Hour).Format(http.TimeFormat), "after 24h0m0s"},
		{431, "", "refused invalid"},
		{500, "", "retry"},
		{500, "3", "after 3s"},
		{501, "", "refused unsupported"},
		{502, "", "retry"},
		{503, "", "retry"},
		{503, "120", "after 2m0s"},
		{504, "", "retry"},
		{505, "", "refused unsupported"},
		{507, "", "retry"},
		{599, "", "retry"},
	}
	for _, tt := range tests {
		t.Run(http.StatusText(tt.status)+" "+tt.retryAfter, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Date", date.Format(http.TimeFormat))
				if tt.retryAfter != "" {
					w.Header().Set("Retry-After", tt.retryAfter)
				}
				w.WriteHeader(tt.status)
				if tt.status != 204 {
					_, _ = w.Write([]byte("{\"why\":\n \"because\"}"))
				}
			})
			reply, err := newRig(t, nil, url).post("x")
			assert.Equal(t, tt.want, classOf(err), "%v", err)
			assert.Equal(t, tt.status, reply.Status)
			if tt.status != 204 {
				assert.Contains(t, string(reply.Body), "because")
			}
			if err == nil {
				return
			}
			var status *httpsend.StatusError
			require.ErrorAs(t, err, &status)
			assert.Equal(t, tt.status, status.Status)
			assert.Contains(t, err.Error(), `{"why": "because"}`)
			assert.Contains(t, err.Error(), "POST "+url+"/in")
		})
	}
}

func TestRetryOf500IsAnOption(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	_, err := newRig(t, func(c *httpsend.Config) { c.Retry500 = false }, url).post("x")
	require.Equal(t, "refused other", classOf(err))
}

func TestRedirectIsNotFollowed(t *testing.T) {
	followed := false
	elsewhere := serve(t, func(http.ResponseWriter, *http.Request) { followed = true })
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere+"/there?token=hunter2", http.StatusMovedPermanently)
	})
	_, err := newRig(t, nil, url).post("x")
	require.Equal(t, "config", classOf(err))
	require.ErrorContains(t, err, "redirects are not followed; set urls to where it leads, "+elsewhere+"/there")
	assert.NotContains(t, err.Error(), "hunter2")
	assert.False(t, followed)
}
