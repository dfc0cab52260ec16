package elasticsearch

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"
)

// fake is a backend that answers request by request and item by item as a case needs. Left alone it takes everything, and knows ids that
// it has seen.
type fake struct {
	t      testing.TB
	server *httptest.Server

	mu       sync.Mutex
	about    string                                                // the answer to GET /
	handlers map[string]http.HandlerFunc                           // by "METHOD /path" before the defaults
	request  func(n int, w http.ResponseWriter) bool               // answers the n-th bulk request itself, or not
	item     func(n, i int, index, id string, doc string) *outcome // answers one document, or leaves it to the default
	created  map[string]bool                                       // data streams and templates
	noStream bool                                                  // there is no template for any
	ids      map[string]bool
	stored   []storedDoc
	bulks    []string // bodies, inflated
	queries  []string
	lines    []string // "METHOD /path" of every request
}

type storedDoc struct{ index, id, text string }

func newFake(t testing.TB) *fake {
	f := &fake{
		t: t, about: `{"version":{"number":"8.17.0"},"tagline":"You Know, for Search"}`,
		handlers: map[string]http.HandlerFunc{}, created: map[string]bool{}, ids: map[string]bool{},
	}
	f.server = httptest.NewServer(f)
	t.Cleanup(f.server.Close)
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := f.read(r)
	f.mu.Lock()
	defer f.mu.Unlock()
	line := r.Method + " " + r.URL.Path
	f.lines = append(f.lines, line)
	if h := f.handlers[line]; h != nil {
		h(w, r)
		return
	}
	name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	switch {
	case line == "GET /":
		_, _ = io.WriteString(w, f.about)
	case line == "POST /_bulk":
		f.queries = append(f.queries, r.URL.RawQuery)
		f.bulk(w, body)
	case r.Method == http.MethodPut && strings.HasPrefix(r.URL.Path, "/_data_stream/"):
		switch {
		case f.noStream:
			f.refuse(w, 400, "illegal_argument_exception", "no matching index template found for data stream ["+name+"]")
		case f.created[name]:
			f.refuse(w, 400, "resource_already_exists_exception", "data_stream ["+name+"] already exists")
		default:
			f.created[name] = true
			_, _ = io.WriteString(w, `{"acknowledged":true}`)
		}
	case r.Method == http.MethodPut && strings.HasPrefix(r.URL.Path, "/_index_template/"):
		if f.created[name] {
			f.refuse(w, 400, "illegal_argument_exception", "index template ["+name+"] already exists")
			return
		}
		f.created[name] = true
		f.noStream = false
		_, _ = io.WriteString(w, `{"acknowledged":true}`)
	default:
		f.refuse(w, 404, "no_such_thing", line)
	}
}

func (f *fake) read(r *http.Request) string {
	body, err := io.ReadAll(r.Body)
	require.NoError(f.t, err)
	if r.Header.Get("Content-Encoding") == "gzip" {
		zr, err := gzip.NewReader(bytes.NewReader(body))
		require.NoError(f.t, err)
		body, err = io.ReadAll(zr)
		require.NoError(f.t, err)
	}
	return string(body)
}

func (f *fake) refuse(w http.ResponseWriter, status int, kind, reason string) {
	text, err := json.Marshal(map[string]any{"status": status, "error": map[string]string{"type": kind, "reason": reason}})
	require.NoError(f.t, err)
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// bulk answers a bulk request.
func (f *fake) bulk(w http.ResponseWriter, body string) {
	n := len(f.bulks)
	f.bulks = append(f.bulks, body)
	if f.request != nil && f.request(n, w) {
		return
	}
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	require.Zero(f.t, len(lines)%2, "not pairs of lines")
	items, failed := []any{}, false
	for i := 0; i < len(lines); i += 2 {
		var action struct {
			Create struct {
				Index string `json:"_index"`
				ID    string `json:"_id"`
			} `json:"create"`
		}
		require.NoError(f.t, json.Unmarshal([]byte(lines[i]), &action), lines[i])
		require.NotEmpty(f.t, action.Create.Index, "the operation is not create: %s", lines[i])
		require.True(f.t, json.Valid([]byte(lines[i+1])), lines[i+1])
		o := f.take(n, i/2, storedDoc{action.Create.Index, action.Create.ID, lines[i+1]})
		failed = failed || o.Status >= 300
		said := map[string]any{"status": o.Status}
		if o.Error.Type != "" {
			said["error"] = map[string]string{"type": o.Error.Type, "reason": o.Error.Reason}
		}
		if o.FailureStore != "" {
			said["failure_store"] = o.FailureStore
		}
		items = append(items, map[string]any{"create": said})
	}
	text, err := json.Marshal(map[string]any{"errors": failed, "items": items})
	require.NoError(f.t, err)
	_, _ = w.Write(text)
}

func (f *fake) take(n, i int, d storedDoc) outcome {
	if f.item != nil {
		if o := f.item(n, i, d.index, d.id, d.text); o != nil {
			return *o
		}
	}
	key := d.index + " " + d.id
	if d.id != "" && f.ids[key] {
		return *failure(409, "version_conflict_engine_exception", "document already exists")
	}
	f.ids[key] = true
	f.stored = append(f.stored, d)
	return outcome{Status: 201}
}

// failure is the answer to a document that is not taken.
func failure(status int, kind, reason string) *outcome {
	o := &outcome{Status: status}
	o.Error.Type, o.Error.Reason = kind, reason
	return o
}

// count returns how many bulk requests there were.
func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.bulks)
}

// docs returns what was taken.
func (f *fake) docs() []storedDoc {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]storedDoc(nil), f.stored...)
}

// decoded returns the i-th document that was taken.
func (f *fake) decoded(i int) map[string]any {
	f.t.Helper()
	docs := f.docs()
	require.Greater(f.t, len(docs), i)
	var v map[string]any
	d := json.NewDecoder(strings.NewReader(docs[i].text))
	d.UseNumber()
	require.NoError(f.t, d.Decode(&v))
	return v
}
