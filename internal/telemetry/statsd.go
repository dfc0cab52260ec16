package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"time"

	"github.com/DataDog/datadog-go/v5/statsd"
	"github.com/sirupsen/logrus"
)

// Bounds of a report, so that a receiver that hangs holds up neither the next one nor the end of the daemon.
const (
	statsdTimeout     = 2 * time.Second        // connecting included
	statsdCutTimeout  = 100 * time.Millisecond // what one under way still gets when Run is told to end
	statsdLastTimeout = 200 * time.Millisecond // of the one after that
	statsdQueue       = 1024                   // payloads under way; more is lost, counted
)

// Reasons why a report, or a part of it, did not arrive.
const (
	reasonDial      = "dial"
	reasonWrite     = "write"
	reasonQueueFull = "queue_full"
	reasonTooLong   = "too_long"
)

var (
	descPayloads = Desc{
		Name: "stats.payloads", Kind: Counter, Unit: "payloads",
		Help: "Packets of the daemon's own metrics written to stats_address.",
	}
	descErrors = Desc{
		Name: "stats.errors", Kind: Counter, Unit: "errors", Tags: []string{"reason"}, Loss: true,
		Help: "Reports of the daemon's own metrics that failed: dial waits for the next report, anything else is gone. /metrics stays right.",
	}
)

// StatsdSettings says where and how a Statsd reports.
type StatsdSettings struct {
	Config   Config // with a StatsAddress
	Registry *Registry
	Interval time.Duration
	Log      logrus.FieldLogger
}

// Statsd sends the readings of a registry to a DogStatsD server each interval: counters as what was added since the last report,
// gauges as they are, under names that begin with "veneur.". It is a lifecycle Runner, and nothing waits for it but the end of the
// daemon. The client library adds the tags of the environment's DD_ENV, DD_SERVICE, DD_VERSION and DD_ENTITY_ID.
type Statsd struct {
	StatsdSettings
	network, address string
	changes          changes
	client           *statsd.Client // nil while there is no connection
	writer           *statsdWriter
	failing          bool // the last report failed; it was logged
}

// NewStatsd returns a Statsd that is not running and has nothing open. The error says what is wrong with the address.
func NewStatsd(s StatsdSettings) (*Statsd, error) {
	network, address, err := parseStatsAddress(s.Config.StatsAddress)
	if err != nil {
		return nil, err
	}
	return &Statsd{StatsdSettings: s, network: network, address: address}, nil
}

// Run reports each interval, and once more when ctx is done. A report takes at most two seconds; at the end the one under way and the last one
// have three tenths of a second together, since every stage of the daemon's end has little time. It returns nil: a receiver that is not there
// is counted, and looked for again.
func (s *Statsd) Run(ctx context.Context) error {
	ticker := time.NewTicker(s.Interval)
	defer ticker.Stop()
	defer s.disconnect()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			s.report(context.WithoutCancel(ctx), statsdLastTimeout)
			return nil
		}
		s.report(ctx, statsdTimeout)
	}
}

// report sends one report and logs when reports begin to fail or to arrive again. Without a connection it looks at nothing, so that
// counters keep what they have to say for the next report.
func (s *Statsd) report(ctx context.Context, timeout time.Duration) {
	deadline := time.Now().Add(timeout)
	err := s.connect(ctx, deadline)
	if err != nil {
		s.Registry.Counter(&descErrors, reasonDial).Inc()
	} else {
		err = s.send(ctx, deadline)
	}
	if err != nil {
		// A connection of its own for the next report: the name is resolved anew, and a server that came back is found.
		s.disconnect()
	}
	if failing := err != nil; failing != s.failing {
		s.failing = failing
		log := s.Log.WithField("stats_address", s.Config.StatsAddress)
		if failing {
			log.WithError(err).Warn("own metrics cannot be sent")
		} else {
			log.Info("own metrics are sent again")
		}
	}
}

func (s *Statsd) connect(ctx context.Context, deadline time.Time) error {
	if s.client != nil {
		return nil
	}
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	conn, err := dialStatsd(ctx, s.network, s.address)
	if err != nil {
		return err
	}
	writer := &statsdWriter{conn: conn, registry: s.Registry}
	payload := statsd.OptimalUDPPayloadSize
	if s.network != "udp" {
		payload = statsd.DefaultMaxAgentPayloadSize
	}
	client, err := statsd.NewWithWriter(writer,
		statsd.WithNamespace("veneur."),
		statsd.WithTags(slices.Clone(s.Config.VeneurMetricsAdditionalTags)),
		statsd.WithErrorHandler(func(err error) {
			// The other errors it is told are those of Write, which has counted them.
			var full *statsd.ErrorSenderChannelFull
			if errors.As(err, &full) {
				writer.fail(reasonQueueFull, err)
			}
		}),
		statsd.WithMaxBytesPerPayload(payload),
		statsd.WithWorkersCount(1),
		statsd.WithBufferPoolSize(4),
		statsd.WithSenderQueueSize(statsdQueue),
		statsd.WithBufferFlushInterval(time.Hour), // send flushes
		statsd.WithoutClientSideAggregation(),
		statsd.WithoutOriginDetection(),
		statsd.WithoutTelemetry(),
	)
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	s.client, s.writer = client, writer
	return nil
}

// send writes what changed, and returns what went wrong first.
func (s *Statsd) send(ctx context.Context, deadline time.Time) error {
	if err := s.writer.begin(deadline); err != nil {
		return err
	}
	writer := s.writer
	defer context.AfterFunc(ctx, func() { writer.cut(time.Now().Add(statsdCutTimeout)) })()
	var tooLong error
	for _, c := range s.changes.since(s.Registry.Gather()) {
		if errors.Is(s.writer.failure(), os.ErrDeadlineExceeded) {
			break // what is left would be written for nobody
		}
		name := c.name[len("veneur."):]
		var err error
		if c.kind == Counter {
			err = s.client.Count(name, int64(c.value), c.tags, 1)
		} else {
			err = s.client.Gauge(name, c.value, c.tags, 1)
		}
		if err != nil {
			s.Registry.Counter(&descErrors, reasonTooLong).Inc()
			tooLong = fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if err := s.client.Flush(); err != nil {
		return err
	}
	if err := s.writer.failure(); err != nil {
		return err
	}
	return tooLong
}

func (s *Statsd) disconnect() {
	if s.client == nil {
		return
	}
	// Nothing is buffered after a Flush, so the error could only be that of closing a socket.
	_ = s.client.Close()
	s.client, s.writer = nil, nil
}

// dialStatsd connects. A unix socket may take datagrams or, framed, a stream; only trying tells.
func dialStatsd(ctx context.Context, network, address string) (net.Conn, error) {
	var dialer net.Dialer
	if network != "unix" {
		return dialer.DialContext(ctx, network, address)
	}
	conn, err := dialer.DialContext(ctx, "unixgram", address)
	if err == nil {
		return conn, nil
	}
	if stream, streamErr := dialer.DialContext(ctx, "unix", address); streamErr == nil {
		return stream, nil
	}
	return nil, err
}
