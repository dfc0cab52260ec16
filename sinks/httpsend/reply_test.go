package httpsend_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/sinks/httpsend"
)

func zipped(t *testing.T, plain io.Reader) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.Copy(w, plain)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

// zeros is n zero bytes.
func zeros(n int64) io.Reader { return io.LimitReader(zeroReader{}, n) }

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestReplies(t *testing.T) {
	bomb := zipped(t, zeros(httpsend.MaxReply+1))
	full := zipped(t, zeros(httpsend.MaxReply))
	text := zipped(t, strings.NewReader("taken"))
	tests := []struct {
		name     string
		encoding string
		body     []byte
		length   int // of the reply; -1 is an error
		err      string
	}{
		{"empty", "", nil, 0, ""},
		{"plain", "", []byte("taken"), 5, ""},
		{"identity", "identity", []byte("taken"), 5, ""},
		{"gzip", "gzip", text, 5, ""},
		{"GZIP", "GZIP", text, 5, ""},
		{"gzip of nothing at all", "gzip", nil, 0, ""},
		{"gzip in two members", "gzip", append(bytes.Clone(text), text...), 10, ""},
		{"just not too large", "gzip", full, httpsend.MaxReply, ""},
		{"a bomb", "gzip", bomb, -1, "larger than 16 MiB"},
		{"too large", "", make([]byte, httpsend.MaxReply+1), -1, "larger than 16 MiB"},
		{"cut gzip", "gzip", text[:len(text)-3], -1, "unexpected EOF"},
		{"no gzip", "gzip", []byte("this is no gzip at all"), -1, "invalid header"},
		{"not asked for", "br", []byte("x"), -1, "not asked for"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if tt.encoding != "" {
					w.Header().Set("Content-Encoding", tt.encoding)
				}
				_, _ = w.Write(tt.body)
			})
			r := newRig(t, nil, url)
			for range 2 { // the second time with what the first one left
				reply, err := r.post("x")
				if tt.err != "" {
					require.Equal(t, "retry", classOf(err), "what was taken is not known")
					require.ErrorContains(t, err, tt.err)
					continue
				}
				require.NoError(t, err)
				assert.Len(t, reply.Body, tt.length)
			}
		})
	}
}

func TestReplyThatIsCut(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if assert.NoError(t, err) {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")
			_ = conn.Close()
		}
	})
	reply, err := newRig(t, nil, url).post("x")
	require.Equal(t, "retry", classOf(err))
	require.Equal(t, 200, reply.Status)
}

func TestReplyThatIsNoHTTP(t *testing.T) {
	for name, answer := range map[string]string{
		"nothing":      "",
		"text":         "SSH-2.0-OpenSSH_9.6\r\n",
		"huge headers": "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 100_000) + "\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				conn, _, err := w.(http.Hijacker).Hijack()
				if assert.NoError(t, err) {
					_, _ = io.WriteString(conn, answer)
					_ = conn.Close()
				}
			})
			_, err := newRig(t, nil, url).post("x")
			require.Equal(t, "retry", classOf(err))
		})
	}
}

func TestReplyUsesTheCallersMemory(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("taken")) })
	r := newRig(t, nil, url)
	memory := make([]byte, 0, 100)
	reply, err := r.Do(t.Context(), httpsend.Request{Method: "GET", Path: "/", Reply: memory})
	require.NoError(t, err)
	require.Equal(t, "taken", string(memory[:5]))
	require.Same(t, &memory[:1][0], &reply.Body[0])
}
