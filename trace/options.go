package trace

import (
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/veneurd/veneur/protocol"
)

// Option changes a client that NewClient or NewBackendClient makes.
type Option func(*options)

type options struct {
	service         string
	maxSpan         int // 0: by the network
	memory          int
	flushInterval   time.Duration
	metricsInterval time.Duration
	connectTimeout  time.Duration
	backoff         time.Duration
	maxBackoff      time.Duration
	tls             *tls.Config
	statistics      bool
}

func defaults() options {
	return options{
		memory:          8 << 20,
		flushInterval:   100 * time.Millisecond,
		metricsInterval: time.Second,
		connectTimeout:  5 * time.Second,
		backoff:         10 * time.Millisecond,
		maxBackoff:      500 * time.Millisecond,
	}
}

// WithService names the service that the client's spans are of, unless a span names another. The default is none.
func WithService(name string) Option { return func(o *options) { o.service = name } }

// WithMaxSpan is how many bytes a span may take on the wire. A larger one is dropped alone and counted as too_large; samples without a
// span are split among several packets first. The default is 1432 for UDP, which fits into an Ethernet frame, 8192 for unix datagrams,
// and 1 MiB for streams and other backends. At most 65507, 65535 and 16 MiB.
func WithMaxSpan(bytes int) Option { return func(o *options) { o.maxSpan = bytes } }

// WithMemory is how many bytes of encoded spans may wait for the daemon, beside one buffer of 64 KiB, or one span that is larger, for each of
// the shards that spans are recorded in: two a core. What comes when all of it is full is dropped and counted as full. The default is
// 8 MiB, which is allocated only when it is needed.
func WithMemory(bytes int) Option { return func(o *options) { o.memory = bytes } }

// WithFlushInterval is how long a span waits at most before it is sent; 48 KiB of them do not wait. The default is 100 ms.
func WithFlushInterval(d time.Duration) Option { return func(o *options) { o.flushInterval = d } }

// WithMetricsInterval is how often counters, gauges, histograms and sets are sent. The default is one second. It should be well below the
// daemon's interval: what is counted just before the daemon's flush is otherwise seen in its next one.
func WithMetricsInterval(d time.Duration) Option { return func(o *options) { o.metricsInterval = d } }

// WithConnectTimeout bounds an attempt to connect, TLS included. The default is 5 seconds.
func WithConnectTimeout(d time.Duration) Option { return func(o *options) { o.connectTimeout = d } }

// WithBackoff is how long the client waits after a failure before it tries again: first at the beginning, then twice as long each time,
// most in the end, each time up to a half more or less by chance, so that clients of a daemon do not come back all at once. The
// defaults are 10 ms and 500 ms: a daemon that is back is found within a second.
func WithBackoff(first, most time.Duration) Option {
	return func(o *options) { o.backoff, o.maxBackoff = first, most }
}

// WithTLS speaks TLS, over tcp only. A config without ServerName gets the host of the address. The config must not be changed afterwards.
func WithTLS(config *tls.Config) Option { return func(o *options) { o.tls = config } }

// WithStatistics sends what Stats says as counters of its own, with each metrics interval: veneur.trace_client.recorded_total, sent_total,
// bytes_total, flushes_total, reconnects_total, and dropped_total with the tag reason.
func WithStatistics() Option { return func(o *options) { o.statistics = true } }

// maxSpans are the default and the largest limit of a network.
var maxSpans = map[string][2]int{
	"udp":      {1432, 65507},
	"unixgram": {8192, 65535},
	"tcp":      {1 << 20, protocol.MaxFrame},
	"unix":     {1 << 20, protocol.MaxFrame},
	"":         {1 << 20, protocol.MaxFrame}, // any other backend
}

// apply returns all that is wrong with the options at once.
func (o *options) apply(network string, opts []Option) error {
	for _, opt := range opts {
		if opt != nil {
			opt(o)
		}
	}
	limits := maxSpans[network]
	if o.maxSpan == 0 {
		o.maxSpan = limits[0]
	}
	var errs []error
	if o.maxSpan < 64 || o.maxSpan > limits[1] {
		errs = append(errs, fmt.Errorf("WithMaxSpan: %d is not from 64 to %d", o.maxSpan, limits[1]))
	}
	if o.memory < bufferSize {
		errs = append(errs, fmt.Errorf("WithMemory: %d is less than %d", o.memory, bufferSize))
	}
	if o.tls != nil && network != "tcp" {
		errs = append(errs, errors.New("WithTLS: the address is not one of tcp"))
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"WithFlushInterval", o.flushInterval},
		{"WithMetricsInterval", o.metricsInterval},
		{"WithConnectTimeout", o.connectTimeout},
		{"WithBackoff", o.backoff},
	} {
		if d.value <= 0 {
			errs = append(errs, fmt.Errorf("%s: %v is not a positive time", d.name, d.value))
		}
	}
	if o.maxBackoff < o.backoff {
		errs = append(errs, fmt.Errorf("WithBackoff: the most, %v, is less than the first, %v", o.maxBackoff, o.backoff))
	}
	return errors.Join(errs...)
}
