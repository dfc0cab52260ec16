package ingest

import (
	"crypto/tls"
	"fmt"
	"io/fs"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/internal/lifecycle"
	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/server/aggregate"
	"github.com/veneurd/veneur/server/derive"
	"github.com/veneurd/veneur/ssf"
)

// Settings is what an Ingest is made of.
type Settings struct {
	Config     Config // valid
	ExtendTags []string
	// ExcludedTags are keys of tags that spans lose before they are passed on; those of samples the interner takes away.
	ExcludedTags []string
	Interner     *aggregate.Interner
	Spans        SpanSink // nil when spans go nowhere
	// NewSpanRecorder is called once for each lane, and returns what counts its spans; nil when nothing does.
	NewSpanRecorder func() SpanRecorder
	Telemetry       *telemetry.Registry
	Log             logrus.FieldLogger
}

// Ingest is every listener of a daemon and the lanes that they fill.
type Ingest struct {
	settings Settings
	stats    *stats
	log      *telemetry.LogSampler
	start    time.Time
	extend   []ssf.Tag
	budget   *budget // of all connections

	lanes     []*Lane
	shared    *intakePool // of all streams and calls
	bindings  []*binding
	runners   []lifecycle.Runner
	datagrams []*datagrams
}

// New builds the listeners and lanes that the configuration asks for. It opens no socket.
func New(s Settings) (*Ingest, error) {
	tlsConfig, err := s.Config.tlsConfig()
	if err != nil {
		return nil, err
	}
	if s.Spans == nil {
		s.Spans = nowhere{}
	}
	i := &Ingest{
		settings: s,
		stats:    newStats(s.Telemetry),
		log:      telemetry.NewLogSampler(s.Log),
		start:    time.Now(),
		budget:   newBudget(s.Config.MaxStreamBufferBytes),
	}
	s.Telemetry.Func(&descStreamBuffers, func() float64 { return float64(i.budget.used.Load()) })
	for _, tag := range s.ExtendTags {
		key, value, _ := strings.Cut(tag, ":")
		i.extend = append(i.extend, ssf.Tag{Key: key, Value: value})
	}
	i.runners = []lifecycle.Runner{i.log}
	names := map[string]int{}
	if err := s.Config.each(func(_ string, service service, l *Listener) error {
		return i.add(service, l, names, tlsConfig)
	}); err != nil {
		return nil, err
	}
	listeners := make([]string, len(i.bindings))
	for n, b := range i.bindings {
		listeners[n] = b.src.name
	}
	s.Interner.SetListeners(listeners)
	for _, b := range i.bindings {
		b.sharers = len(i.bindings) - len(i.datagrams)
	}
	return i, nil
}

// add builds one listener. names holds how often each name is taken.
func (i *Ingest) add(service service, l *Listener, names map[string]int, tlsConfig *tls.Config) error {
	e, err := l.endpoint(service)
	if err != nil {
		return err
	}
	// Two addresses with port 0 look the same, but are counted apart.
	name := l.Address
	if names[name]++; names[name] > 1 {
		name = fmt.Sprintf("%s#%d", name, names[name])
	}
	c := &i.settings.Config
	id := uint16(len(i.bindings))
	b := &binding{
		src:              newSource(id, name, service != serviceStatsd, l.GaugeDeltas, i.settings.Telemetry),
		protocol:         service.String(),
		network:          e.network,
		address:          e.address,
		mode:             fs.FileMode(l.Mode),
		framing:          l.Framing,
		maxLine:          c.MetricMaxLength,
		maxConnections:   c.MaxConnections,
		idleTimeout:      l.IdleTimeout,
		handshakeTime:    handshakeTime,
		messageTime:      messageTime,
		budget:           i.budget,
		maxConnectionAge: c.GRPCMaxConnectionAge,
		registry:         i.settings.Telemetry,
		log:              i.log,
		logger:           i.settings.Log,
	}
	if l.MaxLineBytes > 0 {
		b.maxLine = l.MaxLineBytes
	}
	i.bindings = append(i.bindings, b)
	if e.unix() {
		tlsConfig = nil // who may open the file is known
	}
	switch {
	case service == serviceGRPC:
		lines := newSource(id, name, false, false, i.settings.Telemetry)
		i.runners = append(i.runners, &grpcServer{
			binding: b, tls: tlsConfig, lines: lines, observer: newGRPCObserver(i.streamIntakes(), i.settings.Telemetry, b.log),
		})
	case e.datagrams():
		i.runners = append(i.runners, i.newDatagrams(b))
	default:
		i.runners = append(i.runners, &streams{binding: b, intakes: i.streamIntakes(), tls: tlsConfig, connections: map[*connection]struct{}{}})
	}
	return nil
}

func (i *Ingest) newDatagrams(b *binding) *datagrams {
	d := &datagrams{binding: b, readErrors: i.settings.Telemetry.Counter(&descReadErrors, b.src.name)}
	readers := 1
	if b.network != "unixgram" {
		readers = i.settings.Config.readers()
		d.buffer = i.settings.Config.ReadBufferSizeBytes
		i.settings.Telemetry.Func(&descKernelDrops, func() float64 { return float64(d.drops()) }, b.src.name)
	}
	for range readers {
		d.intakes = append(d.intakes, i.newIntake())
	}
	i.datagrams = append(i.datagrams, d)
	return d
}

func (i *Ingest) newIntake() *intake {
	in := &intake{
		lane:        newLane(i.settings.Interner.NewTable()),
		stats:       i.stats,
		log:         i.log,
		start:       i.start,
		spans:       i.settings.Spans,
		extend:      i.extend,
		exclude:     i.settings.ExcludedTags,
		ssfMessages: map[ssfMessage]string{},
	}
	in.counts.refusedSSF = map[ssf.Reason]uint64{}
	in.counts.brokenTraces = map[ssf.Reason]uint64{}
	if i.settings.NewSpanRecorder != nil {
		in.recorder = i.settings.NewSpanRecorder()
	}
	in.deriver = derive.New(i.settings.Config.Derive, target{in}, i.settings.Telemetry)
	i.lanes = append(i.lanes, in.lane)
	return in
}

// intakePool is a fixed set of intakes that any number of connections share.
type intakePool struct {
	intakes []*intake
	turn    atomic.Uint32
}

// next returns one after the other.
func (p *intakePool) next() *intake { return p.intakes[p.turn.Add(1)%uint32(len(p.intakes))] }

// streamIntakes returns the intakes of all streams and calls, as many as can be at work at once.
func (i *Ingest) streamIntakes() *intakePool {
	if i.shared == nil {
		i.shared = &intakePool{}
		for range runtime.GOMAXPROCS(0) {
			i.shared.intakes = append(i.shared.intakes, i.newIntake())
		}
	}
	return i.shared
}

// Lanes returns every lane. It does not change after New.
func (i *Ingest) Lanes() []*Lane { return i.lanes }

// Runners returns what receives, each a lifecycle.Starter that binds its address, and what logs examples of what was refused.
func (i *Ingest) Runners() []lifecycle.Runner { return i.runners }

// ReadDrops reads what the kernel has dropped. ingest.kernel_drops is up to date whenever somebody reads it; but the kernel counts with 32
// bits, and where nobody reads for as long as 2^32 drops take, some minutes of a flood, a turn of its counter would be missed. So the
// flusher calls this at each tick. It costs a system call a socket.
func (i *Ingest) ReadDrops() {
	for _, d := range i.datagrams {
		d.drops()
	}
}

// Addr is where something is listened for.
type Addr struct {
	Protocol string // "DogStatsD", "SSF" or "gRPC"
	Address  string // as configured, but with the port that the system chose
	Listener string // as self metrics have it
	Addr     net.Addr
}

// Addrs returns the addresses that are bound, in the order of the configuration.
func (i *Ingest) Addrs() []Addr {
	var addrs []Addr
	for _, b := range i.bindings {
		if addr := b.boundAddr(); addr != nil {
			addrs = append(addrs, Addr{b.protocol, strings.TrimRight(b.network, "46") + "://" + addr.String(), b.src.name, addr})
		}
	}
	return addrs
}

// nowhere takes no spans.
type nowhere struct{}

func (nowhere) Wants() bool { return false }

func (nowhere) OfferSpan(*ssf.SSFSpan) {}
