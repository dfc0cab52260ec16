package tracetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
)

// patience is how long the package waits for something before it fails the test.
const patience = time.Minute

// Recorder is a backend that keeps what a client sends. It is made by New, or, for a client of one's own, by NewRecorder.
type Recorder struct {
	expectations

	mu     sync.Mutex
	client *trace.Client
	refuse func(*ssf.SSFSpan) error
	spans  []*ssf.SSFSpan
}

// New returns a client and the recorder of everything it sends. The client is closed at the end of the test.
func New(t testing.TB, opts ...trace.Option) (*trace.Client, *Recorder) {
	t.Helper()
	r := NewRecorder(t)
	client, err := trace.NewBackendClient(r, opts...)
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	r.client = client
	r.mu.Unlock()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := client.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return client, r
}

// NewRecorder returns a recorder that is the backend of no client yet.
func NewRecorder(t testing.TB) *Recorder {
	r := &Recorder{}
	r.expectations = expectations{t, r.Spans}
	return r
}

// Refuse makes the recorder return the error of f for each span that f has one for, and not record it. A nil f refuses none.
func (r *Recorder) Refuse(f func(*ssf.SSFSpan) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refuse = f
}

// Spans flushes the client and returns every span so far, in the order in which they came, those that only carry samples included.
func (r *Recorder) Spans() []*ssf.SSFSpan {
	r.t.Helper()
	r.mu.Lock()
	client := r.client
	r.mu.Unlock()
	if client != nil {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		// What the recorder itself refused, or a client that is closed, is the test's own doing.
		_ = client.Flush(ctx)
	}
	return r.Sent()
}

// Sent returns the spans that the client has sent by itself, without flushing it.
func (r *Recorder) Sent() []*ssf.SSFSpan {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*ssf.SSFSpan(nil), r.spans...)
}

// Reset forgets every span so far.
func (r *Recorder) Reset() {
	_ = r.Spans()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spans = nil
}

// SendSync records the span. It is called by the client.
func (r *Recorder) SendSync(_ context.Context, span *ssf.SSFSpan) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refuse != nil {
		if err := r.refuse(span); err != nil {
			return err
		}
	}
	r.spans = append(r.spans, span.Clone())
	return nil
}

// Close does nothing. It is called by the client.
func (r *Recorder) Close() error { return nil }
