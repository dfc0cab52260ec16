package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

// rung is a load whose fastest loss-free rate is looked for.
type rung struct {
	name   string // for -only
	title  string
	series int
	bytes  int // of a datagram of lines; 0 is one line each
	mix    mix
	span   string // shape; "" is lines
	gso    bool   // trains of datagrams
	sink   bool   // for spans
}

var (
	onlyCounters = mix{counter: 1}
	mixed        = mix{counter: 4, gauge: 2, timer: 3, set: 1}
	onlyTimers   = mix{timer: 1}
)

// rungs are the loads of the ladder. All have three tags and one reader, and as few senders as it takes.
func rungs() []rung {
	return []rung{
		{name: "single/1k", title: "1 line", series: 1_000, mix: onlyCounters},
		{name: "single/100k", title: "1 line", series: 100_000, mix: onlyCounters},
		{name: "single/1M", title: "1 line", series: 1_000_000, mix: onlyCounters},
		{name: "gso/1k", title: "1 line, 64 of them handed to the kernel as one (GSO)", series: 1_000, mix: onlyCounters, gso: true},
		{name: "1400/1k", title: "1,400 B", series: 1_000, bytes: 1400, mix: onlyCounters},
		{name: "1400/100k", title: "1,400 B", series: 100_000, bytes: 1400, mix: onlyCounters},
		{name: "1400/1M", title: "1,400 B", series: 1_000_000, bytes: 1400, mix: onlyCounters},
		{name: "8192/1k", title: "8 KiB", series: 1_000, bytes: 8192, mix: onlyCounters},
		{name: "8192/100k", title: "8 KiB", series: 100_000, bytes: 8192, mix: onlyCounters},
		{name: "8192/1M", title: "8 KiB", series: 1_000_000, bytes: 8192, mix: onlyCounters},
		{name: "mixed/10k", title: "1,400 B, 4 c : 2 g : 3 ms : 1 s", series: 10_000, bytes: 1400, mix: mixed},
		{name: "ssf/1k", title: "SSF typical", series: 1_000, span: typical, mix: onlyTimers},
		{name: "ssf-sink/1k", title: "SSF typical, and a span sink", series: 1_000, span: typical, mix: onlyTimers, sink: true},
	}
}

// stallRung is the load under which stalls are looked for.
const stallRung = "stall/1M"

// row is what was found out about a rung.
type row struct {
	Name       string  `json:"name"`
	Title      string  `json:"title"`
	Series     int     `json:"series"`
	Unit       string  `json:"unit"` // of messages
	Senders    int     `json:"senders"`
	Rate       float64 `json:"messages_per_second"`
	Sender     bool    `json:"sender_bound"` // the daemon lost nothing at the fastest that was sent
	Lost       uint64  `json:"lost_messages"`
	PerMessage float64 `json:"cpu_seconds_per_million_messages"`
	RSSPeak    int64   `json:"rss_peak"`
	Problems   verdict `json:"problems"`
}

// ladder is all that was found out.
type ladder struct {
	Machine  string   `json:"machine"`
	Date     string   `json:"date"`
	Revision string   `json:"revision"`
	Rows     []row    `json:"loads"`
	Stalls   *stalls  `json:"stalls,omitempty"`
	Skipped  []string `json:"skipped"` // for want of time

	StallRate float64 `json:"stalls_messages_per_second,omitempty"`
}

func (l *ladder) exact() bool {
	for i := range l.Rows {
		if len(l.Rows[i].Problems) > 0 {
			return false
		}
	}
	return true
}

// climb finds the fastest loss-free rate of every load, and prints the table.
func (o *options) climb(ctx context.Context, stdout, stderr io.Writer) (exact bool, err error) {
	begin := time.Now()
	if o.daemon.readers == 0 {
		o.daemon.readers = 1
	}
	out := ladder{Machine: machine(), Date: begin.UTC().Format(time.DateOnly), Rows: []row{}, Skipped: []string{}}
	if o.rungs.MatchString(stallRung) {
		if err := o.climbStalls(ctx, &out, stderr); err != nil {
			return false, fmt.Errorf("%s: %w", stallRung, err)
		}
	}
	if err := o.climbRungs(ctx, begin, &out, stderr); err != nil {
		return false, err
	}
	if o.json {
		err = writeIndented(stdout, out)
	} else {
		_, err = io.WriteString(stdout, out.markdown())
	}
	if err == nil && o.write != "" {
		err = writeSection(o.write, out.markdown())
	}
	return out.exact(), err
}

// climbRungs does the loads with few series first: those with many take longest, and are what there is no time for if there is not.
func (o *options) climbRungs(ctx context.Context, begin time.Time, out *ladder, stderr io.Writer) error {
	all := rungs()
	byCost := slices.Clone(all)
	slices.SortStableFunc(byCost, func(a, b rung) int { return a.series - b.series })
	place := func(name string) int { return slices.IndexFunc(all, func(r rung) bool { return r.name == name }) }
	for _, r := range byCost {
		if !o.rungs.MatchString(r.name) {
			continue
		}
		if time.Since(begin) > o.budget {
			out.Skipped = append(out.Skipped, r.name)
			continue
		}
		c := climber{rung: r, options: o}
		found, err := c.climb(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		fmt.Fprintf(stderr, "%-12s %11s %s/s, %.3f CPU s a million, lost %d, totals %s\n", r.name, grouped(uint64(found.Rate)), found.Unit,
			found.PerMessage, found.Lost, found.totals())
		out.Rows, out.Revision = append(out.Rows, found), c.revision
	}
	slices.SortFunc(out.Rows, func(a, b row) int { return place(a.Name) - place(b.Name) })
	return nil
}
