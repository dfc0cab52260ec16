package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// options is the command line. Whether a flag was given is looked up in given.
type options struct {
	hostport, proxy           string
	mode                      word
	debug, command, ssf, grpc bool

	name, set, tag string
	gauge, count   number
	timing         length

	trees    int
	treeRate number

	event eventOptions
	check checkOptions
	span  spanOptions

	given map[string]bool
	args  []string    // the command to time
	stdin bool        // "-": lines from standard input
	to    destination // what hostport and proxy say
}

type eventOptions struct {
	title, text, hostname, aggregationKey, sourceType, tags string
	time                                                    moment
	priority, alertType                                     word
}

type checkOptions struct {
	name, hostname, tags, message string
	status                        state
	time                          moment
}

type spanOptions struct {
	traceID, parentID int64
	service, tags     string
	start, end        moment
	indicator, failed bool
}

func (o *options) flagSet() *flag.FlagSet {
	f := flag.NewFlagSet("veneur-emit", flag.ContinueOnError)
	f.SetOutput(io.Discard) // what is wrong is told in one place, see run
	f.StringVar(&o.hostport, "hostport", "", "`address` to send to: host:port, udp://, tcp://, unix://, unixgram:// or grpc://; by default "+
		defaultStatsd+", with -ssf "+defaultSSF)
	o.mode.words = []string{modeMetric, modeEvent, modeCheck}
	f.Var(&o.mode, "mode", "what `kind` of thing to send: metric, event or sc (service check); by default what the other flags say")
	f.BoolVar(&o.debug, "debug", false, "tell on standard error what is sent")
	f.BoolVar(&o.command, "command", false, "time the command that follows the flags, and report how long it took")
	f.BoolVar(&o.ssf, "ssf", false, "send a span with samples instead of DogStatsD")
	f.BoolVar(&o.grpc, "grpc", false, "send over gRPC")
	f.StringVar(&o.proxy, "proxy", "", "`address` of an HTTP proxy through which to reach a gRPC server")

	f.StringVar(&o.name, "name", "", "`name` of the metric, or of the span")
	f.Var(&o.gauge, "gauge", "set a gauge to this `number`")
	f.Var(&o.count, "count", "add this `number` to a counter")
	f.Var(&o.timing, "timing", "report a timing of this `duration`, such as 5ms")
	f.StringVar(&o.set, "set", "", "add this `member` to a set")
	f.StringVar(&o.tag, "tag", "", "`tags` of whatever is sent, comma separated: service:web,canary")

	f.IntVar(&o.trees, "tree", 0, "send this `number` of traces of a shop: spans of services that call each other, over SSF")
	o.treeRate = defaultTreeRate
	f.Var(&o.treeRate, "tree_rate", "`how many` of these traces to send a second")

	e := &o.event
	e.priority = words("normal", "low")
	e.alertType = words("info", "error", "warning", "success")
	f.StringVar(&e.title, "e_title", "", "`title` of the event (needed)")
	f.StringVar(&e.text, "e_text", "", "`text` of the event (needed); \\n is a new line")
	f.Var(&e.time, "e_time", "when it happened: unix `seconds` or a date; by default when it arrives")
	f.StringVar(&e.hostname, "e_hostname", "", "the `host` it happened on")
	f.StringVar(&e.aggregationKey, "e_aggr_key", "", "groups it with other events of this `key`")
	f.Var(&e.priority, "e_priority", "`priority`: normal or low")
	f.StringVar(&e.sourceType, "e_source_type", "", "the `kind` of thing it comes from")
	f.Var(&e.alertType, "e_alert_type", "`type` of alert: error, warning, info or success")
	f.StringVar(&e.tags, "e_event_tags", "", "`tags` of the event, comma separated")

	c := &o.check
	f.StringVar(&c.name, "sc_name", "", "`name` of the service check (needed)")
	f.Var(&c.status, "sc_status", "`status`: 0 or OK, 1 or WARNING, 2 or CRITICAL, 3 or UNKNOWN (needed)")
	f.Var(&c.time, "sc_time", "when it was checked: unix `seconds` or a date; by default when it arrives")
	f.StringVar(&c.hostname, "sc_hostname", "", "the `host` that was checked")
	f.StringVar(&c.tags, "sc_tags", "", "`tags` of the check, comma separated")
	f.StringVar(&c.message, "sc_msg", "", "`text` that explains it; \\n is a new line")

	s := &o.span
	f.Int64Var(&s.traceID, "trace_id", 0, "`id` of the trace: makes a span of it (with -ssf); by default from "+envTraceID)
	f.Int64Var(&s.parentID, "parent_span_id", 0, "`id` of the parent span; by default from "+envParentID)
	f.StringVar(&s.service, "span_service", "veneur-emit", "the span's `service`")
	f.Var(&s.start, "span_starttime", "when the span started: unix `seconds` or a date")
	f.Var(&s.end, "span_endtime", "when the span ended: unix `seconds` or a date; by default now")
	f.StringVar(&s.tags, "span_tags", "", "`tags` of the span alone, comma separated")
	f.BoolVar(&s.indicator, "indicator", false, "mark the span as an indicator")
	f.BoolVar(&s.failed, "error", false, "mark the span as failed")
	return f
}

func usage(f *flag.FlagSet, stdout io.Writer) {
	fmt.Fprintln(stdout, "usage: veneur-emit [flags]                      send one thing")
	fmt.Fprintln(stdout, "       veneur-emit [flags] -command COMMAND …   time a command")
	fmt.Fprintln(stdout, "       veneur-emit [flags] -                    send DogStatsD lines from standard input")
	f.SetOutput(stdout)
	f.PrintDefaults()
}

// errUsage marks an error that the list of flags would help against.
var errUsage = errors.New("-help lists the flags")

// parse reads the command line and the environment, and finds whatever is wrong with them before anything is sent or run. With
// flag.ErrHelp the list of flags has been printed.
func parse(args, environ []string, stdout io.Writer) (*options, error) {
	o := &options{given: map[string]bool{}}
	f := o.flagSet()
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			usage(f, stdout)
			return nil, err
		}
		return nil, errors.Join(err, errUsage)
	}
	f.Visit(func(fl *flag.Flag) { o.given[fl.Name] = true })
	o.args = f.Args()
	if !o.command && len(o.args) == 1 && o.args[0] == "-" {
		o.stdin, o.args = true, nil
	}
	if o.given["tree"] {
		o.ssf = true
	} else if o.ssf {
		if err := o.fromEnvironment(environ); err != nil {
			return nil, err
		}
	}
	if err := o.validate(f); err != nil {
		return nil, err
	}
	to, err := o.destination()
	o.to = to
	return o, err
}
