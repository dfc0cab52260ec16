package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"regexp"
	"time"

	"github.com/veneurd/veneur/protocol"
)

// options is the command line.
type options struct {
	target, admin, only string
	pid                 int
	to                  protocol.Address // target

	daemon  daemonOptions
	network word
	sums    bool

	span     word
	rate     pace
	duration time.Duration
	count    amount
	series   amount
	tags     int
	mix      mix
	lines    int
	bytes    int
	senders  int
	batch    int
	gso      bool
	stalls   bool
	settle   time.Duration

	ladder bool
	rungs  *regexp.Regexp
	write  string
	budget time.Duration
	scale  scale
	json   bool

	given map[string]bool
}

const (
	maxSeries  = 4_000_000
	maxSenders = 64
	maxBatch   = 4096
	oneCall    = 64 // packets
)

func (o *options) flagSet() *flag.FlagSet {
	f := flag.NewFlagSet("veneur-load", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&o.target, "target", "", "`address` of a running daemon of this host: udp://, unixgram://, unix:// or tcp://")
	f.StringVar(&o.admin, "admin", "", "`URL` of its HTTP port, such as http://127.0.0.1:8127")
	f.IntVar(&o.pid, "pid", 0, "its process `id`, for CPU and memory")

	f.StringVar(&o.daemon.program, "veneur", "", "start this `program` instead, on ports of its own; its totals are then checked too")
	o.network.words, o.network.chosen = []string{"udp", "unixgram", "unix", "tcp"}, "udp"
	f.Var(&o.network, "network", "`kind` of socket it listens on: udp, unixgram, unix or tcp")
	f.IntVar(&o.daemon.readers, "readers", 0, "its num_readers; 0 leaves it to the daemon")
	f.DurationVar(&o.daemon.interval, "interval", 10*time.Second, "its interval")
	f.BoolVar(&o.sums, "sums", true, "let it write its points to a file and check their totals; false: it drops them")
	f.BoolVar(&o.daemon.spanSink, "span-sink", false, "give it a sink for spans, which drops them")

	o.span.words = []string{typical, heavy, tree}
	f.Var(&o.span, "ssf", "send SSF spans of this `shape` instead of lines: typical (5 tags, a sample with 3), heavy (15 tags, 5 samples with 8), "+
		"or tree (traces of 9 spans of services that call each other, without samples)")
	f.Var(&o.rate, "rate", "`messages` (lines or spans) a second of all senders, or max")
	f.DurationVar(&o.duration, "duration", 10*time.Second, "send for so long")
	f.Var(&o.count, "count", "end after so many `messages` when that is sooner, at the end of a packet")
	o.series = 1000
	f.Var(&o.series, "series", "`number` of series")
	f.IntVar(&o.tags, "tags", 3, "tags a line")
	o.mix[counter] = 1
	f.Var(&o.mix, "mix", "`kinds` of metrics, weighted: c:70,g:10,ms:15,s:5")
	f.IntVar(&o.lines, "lines", 1, "lines a packet (a datagram; on a stream, a piece of it)")
	f.IntVar(&o.bytes, "bytes", 0, "instead of -lines, as many lines as fit into a packet of so many bytes")
	f.IntVar(&o.senders, "senders", 1, "sockets to send from, each with a thread; a udp socket always meets the same reader")
	f.IntVar(&o.batch, "batch", oneCall, "packets a system call, at most")
	f.BoolVar(&o.gso, "gso", false, "give the kernel trains of udp datagrams (Linux)")
	f.BoolVar(&o.stalls, "stalls", false, "measure the longest time that the daemon does not read; not over udp, which holds nobody up")
	f.DurationVar(&o.settle, "settle", 0, "afterwards wait so long and look at the daemon's memory again")

	f.BoolVar(&o.ladder, "ladder", false, "find the fastest loss-free rate of a daemon (-veneur) under several loads, and print a table")
	f.StringVar(&o.only, "only", "", "with -ladder: the loads whose names match this `regexp`")
	f.StringVar(&o.write, "write", "", "with -ladder: put the table into this Markdown `file`, too")
	f.DurationVar(&o.budget, "budget", 7*time.Minute, "with -ladder: begin no load after this time")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return f
}

func printUsage(f *flag.FlagSet, stdout io.Writer) {
	fmt.Fprintln(stdout, "usage: veneur-load -veneur PROGRAM [flags]                start a daemon and load it")
	fmt.Fprintln(stdout, "       veneur-load -target ADDRESS -admin URL [flags]     load one that runs on this host")
	fmt.Fprintln(stdout, "       veneur-load -veneur PROGRAM -ladder [flags]        find what it can take")
	f.SetOutput(stdout)
	f.PrintDefaults()
}

// parse reads the command line and finds whatever is wrong with it.
func parse(args []string, stdout io.Writer) (*options, error) {
	o := &options{given: map[string]bool{}, scale: usualScale()}
	f := o.flagSet()
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			printUsage(f, stdout)
			return nil, err
		}
		return nil, err
	}
	f.Visit(func(fl *flag.Flag) { o.given[fl.Name] = true })
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if o.ladder {
		return o, o.checkLadder()
	}
	if err := errors.Join(o.checkDaemon(), o.checkLoad()); err != nil {
		return nil, err
	}
	if o.gso && !o.given["batch"] {
		o.batch = maxBatch
	}
	return o, nil
}

func (o *options) checkLadder() (err error) {
	if o.daemon.program == "" {
		return errors.New("-ladder needs -veneur: it starts a daemon for each load")
	}
	for name := range o.given {
		switch name {
		case "veneur", "readers", "ladder", "only", "write", "budget", "json":
		default:
			err = errors.Join(err, fmt.Errorf("-%s has no place beside -ladder, which chooses it itself", name))
		}
	}
	if o.only != "" && o.write != "" {
		err = errors.Join(err, errors.New("-only and -write: the table would lose its other lines"))
	}
	rungs, errRungs := regexp.Compile(o.only)
	o.rungs = rungs
	return errors.Join(err, errRungs)
}

func (o *options) checkDaemon() error {
	o.daemon.network, o.daemon.ssf, o.daemon.sums = o.network.chosen, o.span.chosen != "", o.sums
	o.daemon.series = int(o.series)
	for _, name := range []string{"only", "write", "budget"} {
		if o.given[name] {
			return fmt.Errorf("-%s needs -ladder", name)
		}
	}
	if o.daemon.program != "" {
		for _, name := range []string{"target", "admin", "pid"} {
			if o.given[name] {
				return fmt.Errorf("-veneur starts a daemon, -%s is about one that runs: give one of them", name)
			}
		}
		o.to.Network = o.daemon.network
		return nil
	}
	for _, name := range []string{"network", "readers", "interval", "sums", "span-sink"} {
		if o.given[name] {
			return fmt.Errorf("-%s needs -veneur", name)
		}
	}
	if o.target == "" || o.admin == "" {
		return errors.New("say which daemon: -veneur, or -target and -admin")
	}
	to, err := protocol.ParseAddress(o.target)
	if err != nil {
		return err
	}
	o.to = to
	if to.Network == "grpc" {
		return fmt.Errorf("%s: gRPC is not among what can be loaded", to)
	}
	if ip, err := netip.ParseAddr(to.Host); to.Path == "" && to.Host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return fmt.Errorf("%s: only daemons of this host are loaded", to)
	}
	return nil
}

func (o *options) checkLoad() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	within := func(name string, v, least, most int) {
		check(v >= least && v <= most, "-%s: %d is not between %d and %d", name, v, least, most)
	}
	datagrams := isDatagram(o.to)
	within("series", int(min(o.series, maxSeries+1)), 1, maxSeries)
	within("tags", o.tags, 0, maxTags)
	within("lines", o.lines, 1, leastMessages)
	within("bytes", o.bytes, 0, maxDatagram)
	within("senders", o.senders, 1, maxSenders)
	within("batch", o.batch, 1, maxBatch)
	check(o.duration > 0, "-duration: %s is not above 0", o.duration)
	check(o.settle >= 0, "-settle: %s is less than 0", o.settle)
	check(!o.given["lines"] || !o.given["bytes"], "-lines and -bytes: give one of them")
	check(o.span.chosen == "" || !datagrams || o.lines == 1 && o.bytes == 0, "a datagram holds one span: -lines and -bytes are for lines and streams")
	check(o.span.chosen == "" || !o.given["tags"], "-tags is for lines: a span has those of its shape")
	check(o.span.chosen != tree || !o.given["series"] && !o.given["mix"], "-series and -mix are for samples: the spans of a tree have none")
	check(!o.gso || o.to.Network == "udp", "-gso is for udp")
	check(!o.stalls || o.to.Network != "udp", "-stalls needs a sender that can be held up: unixgram, unix or tcp")
	return errors.Join(errs...)
}

// maxDatagram is the largest datagram that UDP can carry.
const maxDatagram = 65507

func (o *options) limits() limits {
	l := limits{messages: o.lines, bytes: o.bytes, stream: !isDatagram(o.to)}
	if o.bytes > 0 {
		l.messages = leastMessages
	}
	return l
}
