//go:build integration

package integration

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// backend is a program that speaks HTTP.
type backend struct {
	t   testing.TB
	url string
}

var client = &http.Client{Timeout: time.Minute}

// ask sends a request and returns the status and the body of the answer.
func (b backend) ask(method, path, body string) (int, string) {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, strings.NewReader(body))
	require.NoError(b.t, err)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := client.Do(request)
	require.NoError(b.t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(b.t, err)
	return response.StatusCode, string(text)
}

// must is ask for what has to be answered by 200, in JSON, which is decoded into v.
func (b backend) must(method, path, body string, v any) {
	b.t.Helper()
	status, text := b.ask(method, path, body)
	require.Equal(b.t, http.StatusOK, status, "%s %s: %s", method, path, text)
	if v != nil {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		require.NoError(b.t, decoder.Decode(v), text)
	}
}
