// Package server ties the parts of the daemon together: sockets fill lanes, the flusher empties them, deliveries send what it makes.
//
// [Load] reads a configuration, [New] builds a [Server] from it without opening anything, and [Server.Run] runs it until its context ends.
package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/internal/buildinfo"
	"github.com/veneurd/veneur/internal/config"
	"github.com/veneurd/veneur/internal/lifecycle"
	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/server/admin"
	"github.com/veneurd/veneur/server/aggregate"
	"github.com/veneurd/veneur/server/flush"
	"github.com/veneurd/veneur/server/ingest"
	"github.com/veneurd/veneur/server/spanmetrics"
)

// Deps is what a Server is given rather than makes.
type Deps struct {
	Log       logrus.FieldLogger
	Telemetry *telemetry.Registry
	Stdout    io.Writer // for sinks that print
}

// Server is one daemon. Its methods other than Run and Stop may be called from any goroutine, and give what they promise while Run is at
// work.
type Server struct {
	config  Config
	deps    Deps
	ingest  *ingest.Ingest
	flusher *flush.Flusher
	spans   *spanmetrics.Stage // nil when no metrics are made of spans
	admin   *admin.Server
	sinks   outputs
	stats   *telemetry.Statsd
	state   state
	stop    chan struct{}
}

// Grace times of the stages. Together they stay within the ten seconds that supervisors commonly give.
const (
	listenGrace = 1500 * time.Millisecond
	flushGrace  = 3000 * time.Millisecond   // a last interval of millions of series takes its time
	sinkDrain   = 1300 * time.Millisecond   // for sending what waits
	sinkGrace   = sinkDrain + 3*time.Second // and for an attempt under way to give up
	keeperGrace = 200 * time.Millisecond    // for closing a store
	statsGrace  = 400 * time.Millisecond
	adminGrace  = 400 * time.Millisecond
)

// New builds everything that the configuration names. It opens nothing and starts nothing; c must be valid.
func New(c Config, d Deps) (*Server, error) {
	s := &Server{config: c, deps: d, stop: make(chan struct{}, 1)}
	d.Telemetry.RegisterProcess(buildinfo.Read())
	var err error
	if s.sinks, err = buildSinks(&c, d); err != nil {
		return nil, err
	}
	s.buildSpanMetrics()
	interner := aggregate.NewInterner(aggregate.Settings{Config: c.Aggregate, Telemetry: d.Telemetry, Log: d.Log})
	s.ingest, err = ingest.New(ingest.Settings{
		Config:       c.Ingest,
		ExtendTags:   c.Aggregate.ExtendTags,
		ExcludedTags: excludedEverywhere(c.Aggregate.TagsExclude),
		Interner:     interner,
		Spans:        s.sinks.fanout(),
		Telemetry:    d.Telemetry,
		Log:          d.Log,

		NewSpanRecorder: s.newSpanRecorder(),
	})
	if err != nil {
		return nil, err
	}
	s.buildFlusher(interner)
	if err := s.buildStats(); err != nil {
		return nil, err
	}
	s.buildAdmin()
	return s, nil
}

func (s *Server) buildFlusher(interner *aggregate.Interner) {
	var lanes []flush.Lane
	var tables []*aggregate.Table
	for _, lane := range s.ingest.Lanes() {
		lanes = append(lanes, lane)
		tables = append(tables, lane.Table())
	}
	beforeEnd := s.ingest.ReadDrops
	if s.config.Stats.LoopSelfMetrics {
		self := newSelfLane(interner.NewTable())
		lanes = append(lanes, self)
		tables = append(tables, self.table)
		loopback := telemetry.NewLoopback(s.deps.Telemetry, self.add, s.config.Stats.VeneurMetricsAdditionalTags...)
		beforeEnd = func() {
			s.ingest.ReadDrops()
			loopback.Report()
		}
	}
	s.flusher = flush.New(flush.Settings{
		Config:    s.config.Flush,
		Lanes:     lanes,
		Collector: aggregate.NewCollector(interner, tables),
		Targets:   s.sinks.targets,
		BeforeEnd: beforeEnd,
		Telemetry: s.deps.Telemetry,
		Log:       s.deps.Log,
	})
}

func (s *Server) buildStats() error {
	if s.config.Stats.StatsAddress == "" {
		return nil
	}
	stats, err := telemetry.NewStatsd(telemetry.StatsdSettings{
		Config:   s.config.Stats,
		Interval: s.config.Flush.Interval,
		Registry: s.deps.Telemetry,
		Log:      s.deps.Log,
	})
	if err != nil {
		return fmt.Errorf("stats_address: %w", err)
	}
	s.stats = stats
	return nil
}

func (s *Server) buildAdmin() {
	s.admin = admin.New(admin.Settings{
		Config:     s.config.Admin,
		Ready:      s.Ready,
		ConfigYAML: func() []byte { return config.AppendYAML(nil, &s.config) },
		ConfigJSON: func() []byte { return config.AppendJSON(nil, &s.config) },
		Registry:   s.deps.Telemetry,
		Build:      buildinfo.Read(),
		Stop:       s.Stop,
		Log:        s.deps.Log,
	})
}

// Stop asks Run to end as a signal would.
func (s *Server) Stop() {
	select {
	case s.stop <- struct{}{}:
	default: // asked already
	}
}

// Run opens everything, works until ctx ends or Stop is called, and then closes the listeners, flushes what has arrived, lets the sinks
// send it, and returns nil. Errors are those of listeners that could not be bound and sinks that could not start, all of them, and the
// failure of a part while it worked.
func (s *Server) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	group := lifecycle.New(s.deps.Log)
	if s.config.Admin.HTTPAddress != "" {
		group.Stage("admin", adminGrace, s.admin)
	}
	if s.stats != nil {
		group.Stage("telemetry", statsGrace, s.stats)
	}
	group.Stage("accounts", keeperGrace, s.keepers()...)
	group.Stage("sinks", sinkGrace, s.sinks.runners()...)
	group.Stage("flush", flushGrace, s.flushRunners()...)
	// Stop waits for nobody, so somebody has to wait for it: a Runner like any other, which ends with the group.
	stopper := lifecycle.RunFunc(func(ctx context.Context) error {
		select {
		case <-ctx.Done():
		case <-s.stop:
			cancel(errStopped)
			<-ctx.Done()
		}
		return nil
	})
	group.Stage("listeners", listenGrace, append(s.ingest.Runners(), stopper)...)
	group.OnReady(func() {
		s.state.set(running)
		s.announce()
	})
	group.OnStopping(func() {
		s.state.set(draining)
		s.deps.Log.Info("stopping: flushing what has arrived")
	})
	return group.Run(ctx)
}

var errStopped = errors.New("stopped by request")

// keepers are what has something to settle when the sinks have ended.
func (s *Server) keepers() []lifecycle.Runner {
	runners := []lifecycle.Runner{s.flusher.Leftovers()}
	if s.spans != nil {
		runners = append(runners, s.spans.Keeper())
	}
	return runners
}

func (s *Server) flushRunners() []lifecycle.Runner {
	runners := []lifecycle.Runner{s.flusher}
	if w := s.flusher.Watchdog(); w != nil {
		runners = append(runners, w)
	}
	if s.spans != nil {
		runners = append(runners, s.spans)
	}
	return runners
}

// announce tells people where to send things.
func (s *Server) announce() {
	for _, l := range s.ingest.Addrs() {
		s.deps.Log.Infof("listening for %s on %s", l.Protocol, l.Address)
	}
	if addr := s.AdminAddr(); addr != "" {
		s.deps.Log.Infof("health, metrics and configuration on http://%s", addr)
	}
}

// Addrs returns where the daemon listens, with the ports that the system chose.
func (s *Server) Addrs() []ingest.Addr { return s.ingest.Addrs() }

// AdminAddr returns the address of the HTTP port, "" without one and before Run has bound it.
func (s *Server) AdminAddr() string {
	if addr := s.admin.Addr(); addr != nil {
		return addr.String()
	}
	return ""
}
