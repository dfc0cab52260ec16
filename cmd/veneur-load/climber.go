package main

import (
	"context"
	"time"
)

// scale is how long steps take, and how large the largest is. Only tests change it.
type scale struct {
	probe    time.Duration
	interval time.Duration // of a daemon that flushes, which is also how long a rate is confirmed: with one flush, whenever that is
	stalls   time.Duration // for how long stalls are looked for
	flushes  time.Duration // the interval meanwhile
	series   int           // of the load under which stalls are looked for
	tail     time.Duration // after a load, for the end of a flush that began during it
}

// usualScale are the defaults of daemons, but to look for stalls, more flushes than would fit into the time.
func usualScale() scale {
	return scale{
		probe: time.Second, interval: 10 * time.Second, stalls: 22 * time.Second, flushes: 3 * time.Second, series: 1_000_000, tail: 2 * time.Second,
	}
}

const (
	probes = 5

	mostSenders = 4

	// Intervals of daemons that shall not flush while they are probed, and must at the end.
	rareFlush = 20 * time.Second // of very many series
	noFlush   = time.Hour

	// warmRate is that of the first message of each series, in messages a second, of which a million would take long otherwise.
	warmRate = 1_000_000
)

// backOffs are how far to go down when a rate turns out to be too fast, and again.
var backOffs = [...]float64{0.85, 0.7, 0.5}

// climber finds the fastest loss-free rate of a rung, in two steps. First it looks for one in short probes, with a daemon that does not
// flush meanwhile, but writes at its end what it got, which tells whether totals are exact, losses or not. Then it sends at that rate for
// as long as an interval to a daemon that flushes, to nowhere, and goes slower until nothing is lost.
type climber struct {
	rung
	options  *options
	revision string // of the daemon
	problems verdict
}

func (c *climber) climb(ctx context.Context) (row, error) {
	l := c.load()
	fastest, free, err := c.search(ctx, l)
	if err != nil {
		return row{}, err
	}
	out, err := c.confirm(ctx, l, fastest, free)
	out.Problems = append(verdict{}, c.problems...)
	return out, err
}

func (c *climber) load() *load {
	limits := limits{messages: 1, bytes: c.bytes}
	if c.bytes > 0 {
		limits.messages = leastMessages
	}
	l := &load{senders: 1, batch: oneCall, duration: c.options.scale.probe, wire: wire{gso: c.gso}}
	if c.gso {
		l.batch = maxBatch
	}
	if c.span != "" {
		l.corpus = spanLoad{shapeOf(c.span), c.series, c.mix}.corpus(limits)
	} else {
		l.corpus = lineLoad{c.series, 3, c.mix}.corpus(limits)
	}
	return l
}

func (c *climber) daemon(network string, interval time.Duration, sums bool) daemonOptions {
	return daemonOptions{
		program: c.options.daemon.program, network: network, ssf: c.span != "", readers: c.options.daemon.readers,
		interval: interval, series: c.series, sums: sums, spanSink: c.sink,
	}
}

// search returns the fastest rate at which probes lost nothing. When free is set nothing was lost as fast as it could be sent.
func (c *climber) search(ctx context.Context, l *load) (rate float64, free bool, err error) {
	interval := noFlush
	if c.series >= manySeries {
		interval = rareFlush
	}
	d, err := startDaemon(ctx, c.daemon("udp", interval, true))
	if err != nil {
		return 0, false, err
	}
	defer d.remove()
	l.wire.to = d.to
	if c.revision, err = d.revision(ctx); err != nil {
		return 0, false, err
	}
	var total tally
	probe := func(l *load) (measured, error) {
		m, err := measure(ctx, d.endpoint, l, c.judge(l))
		total.add(m.sent.tally)
		c.problems = append(c.problems, m.problems...)
		return m, err
	}
	if _, err := probe(c.warm(l)); err != nil {
		return 0, false, err
	}
	rate, free, err = c.searchSenders(l, func(rate float64) (sentRate, gotRate float64, err error) {
		m, err := probe(l.at(rate))
		took := m.sent.took.Seconds()
		return float64(m.sent.Messages) / took, float64(m.got.messages()) / took, err
	})
	if err != nil {
		return 0, false, err
	}
	return rate, free, c.checkSums(ctx, l, d, &total)
}

// searchSenders takes more senders as long as they are what holds the rate back and more of them are faster. It leaves their number in l.
func (c *climber) searchSenders(l *load, probe func(rate float64) (sent, got float64, err error)) (rate float64, free bool, err error) {
	rate, free, err = search(probes, probe)
	for free && err == nil && l.senders < mostSenders {
		l.senders *= 2
		more, stillFree, err := search(probes, probe)
		if err != nil {
			return 0, false, err
		}
		if more <= rate {
			l.senders /= 2
			break
		}
		rate, free = more, stillFree
	}
	return rate, free, err
}

func (c *climber) checkSums(ctx context.Context, l *load, d *daemon, total *tally) error {
	got, err := d.admin.counters(ctx)
	if err != nil {
		return err
	}
	if err := d.finish(ctx); err != nil {
		return err
	}
	s, err := d.sums()
	c.problems = append(c.problems, c.judge(l).summed(total, got, s)...)
	return err
}

func (c *climber) judge(l *load) *judge {
	return &judge{corpus: l.corpus, mix: c.mix, gso: l.wire.gso, mayDrop: l.wire.to.Network == "udp"}
}

// warm is a load that has every series once.
func (c *climber) warm(l *load) *load {
	warm := *l
	warm.rate, warm.count, warm.duration = warmRate, uint64(c.series), time.Minute
	return &warm
}

// at is the same load at a rate.
func (l *load) at(rate float64) *load {
	out := *l
	out.rate = rate
	return &out
}

// confirm looks for the rate at which nothing is lost in an interval, from a rate down.
func (c *climber) confirm(ctx context.Context, l *load, rate float64, free bool) (row, error) {
	d, err := startDaemon(ctx, c.daemon("udp", c.options.scale.interval, false))
	if err != nil {
		return row{}, err
	}
	defer d.remove()
	l.wire.to = d.to
	if _, err := measure(ctx, d.endpoint, c.warm(l), c.judge(l)); err != nil {
		return row{}, err
	}
	var out row
	for try := 0; ; try++ {
		full := l.at(rate)
		if free && try == 0 {
			full.rate = 0
		}
		full.duration, full.lossless = c.options.scale.interval, true
		m, err := measure(ctx, d.endpoint, full, c.judge(l))
		if err != nil {
			return row{}, err
		}
		c.problems = append(c.problems, m.problems...)
		r := newReport(&m, "", "", "")
		out = row{Name: c.name, Title: c.title, Series: c.series, Unit: c.unit(), Senders: l.senders, Rate: r.Rate, Sender: free && try == 0, Lost: r.Lost}
		if r.Daemon != nil {
			out.PerMessage, out.RSSPeak = r.Daemon.PerMessage, r.Daemon.RSSPeak
		}
		if r.Lost == 0 || try == len(backOffs) {
			break
		}
		rate = min(rate, r.Rate) * backOffs[try]
	}
	return out, d.stop(ctx)
}

func (c *climber) unit() string {
	if c.span != "" {
		return "spans"
	}
	return "lines"
}
