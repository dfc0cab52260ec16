package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// The modes.
const (
	modeMetric = "metric"
	modeEvent  = "event"
	modeCheck  = "sc"
)

// Where things go unless -hostport says so: where a daemon without a configuration file listens.
const (
	defaultStatsd = "udp://127.0.0.1:8126"
	defaultSSF    = "udp://127.0.0.1:8128"
)

// options is the command line. Values that may be absent are looked up in given.
type options struct {
	hostport, mode, proxy     string
	debug, command, ssf, grpc bool

	name, set, tag string
	gauge, count   float64
	timing         time.Duration

	event eventOptions
	check checkOptions
	span  spanOptions

	given map[string]bool
	args  []string // the command to time
	stdin bool     // "-": lines from standard input
}

type eventOptions struct {
	title, text, time, hostname, aggregationKey, priority, sourceType, alertType, tags string
}

type checkOptions struct {
	name, status, time, hostname, tags, message string
}

type spanOptions struct {
	traceID, parentID        int64
	service, start, end      string
	tags                     string
	indicator, failed, wants bool // wants: any flag of a span was given
}

// number is a flag that takes a finite decimal and says what it wants when it gets something else.
type number struct{ v *float64 }

func (n number) String() string {
	if n.v == nil {
		return ""
	}
	return strconv.FormatFloat(*n.v, 'g', -1, 64)
}

func (n number) Set(s string) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return errors.New("not a finite number such as 3 or 1.5")
	}
	*n.v = v
	return nil
}

// duration is a flag that takes a Go duration and says so when the unit is missing.
type duration struct{ v *time.Duration }

func (d duration) String() string {
	if d.v == nil {
		return ""
	}
	return d.v.String()
}

func (d duration) Set(s string) error {
	v, err := time.ParseDuration(s)
	if err != nil {
		return errors.New("not a duration with a unit, such as 5ms or 1.5s")
	}
	*d.v = v
	return nil
}

func (o *options) flagSet(stderr io.Writer) *flag.FlagSet {
	f := flag.NewFlagSet("veneur-emit", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.hostport, "hostport", "", "where to send `to`: host:port, udp://, tcp://, unix://, unixgram:// or grpc://; by default "+
		defaultStatsd+", with -ssf "+defaultSSF)
	f.StringVar(&o.mode, "mode", "", "metric, event or sc (service check); by default what the other flags say")
	f.BoolVar(&o.debug, "debug", false, "tell on standard error what is sent")
	f.BoolVar(&o.command, "command", false, "time the command that follows the flags, and report how long it took")
	f.BoolVar(&o.ssf, "ssf", false, "send a span with samples instead of DogStatsD")
	f.BoolVar(&o.grpc, "grpc", false, "send over gRPC")
	f.StringVar(&o.proxy, "proxy", "", "`address` of an HTTP proxy to reach a gRPC server through")

	f.StringVar(&o.name, "name", "", "name of the metric, or of the span")
	f.Var(number{&o.gauge}, "gauge", "set a gauge to this `number`")
	f.Var(number{&o.count}, "count", "add this `number` to a counter")
	f.Var(duration{&o.timing}, "timing", "report a timing of this `duration`, such as 5ms")
	f.StringVar(&o.set, "set", "", "add this `member` to a set")
	f.StringVar(&o.tag, "tag", "", "`tags` of the metric, comma separated: service:web,canary")

	f.StringVar(&o.event.title, "e_title", "", "title of the event (needed)")
	f.StringVar(&o.event.text, "e_text", "", `text of the event (needed); \n is a new line`)
	f.StringVar(&o.event.time, "e_time", "", "when it happened: unix seconds or a date; by default when it arrives")
	f.StringVar(&o.event.hostname, "e_hostname", "", "the host it happened on")
	f.StringVar(&o.event.aggregationKey, "e_aggr_key", "", "groups it with other events of this key")
	f.StringVar(&o.event.priority, "e_priority", "normal", "normal or low")
	f.StringVar(&o.event.sourceType, "e_source_type", "", "what sort of thing it comes from")
	f.StringVar(&o.event.alertType, "e_alert_type", "info", "error, warning, info or success")
	f.StringVar(&o.event.tags, "e_event_tags", "", "`tags` of the event, comma separated")

	f.StringVar(&o.check.name, "sc_name", "", "name of the service check (needed)")
	f.StringVar(&o.check.status, "sc_status", "", "0 or OK, 1 or WARNING, 2 or CRITICAL, 3 or UNKNOWN (needed)")
	f.StringVar(&o.check.time, "sc_time", "", "when it was checked: unix seconds or a date; by default when it arrives")
	f.StringVar(&o.check.hostname, "sc_hostname", "", "the host that was checked")
	f.StringVar(&o.check.tags, "sc_tags", "", "`tags` of the check, comma separated")
	f.StringVar(&o.check.message, "sc_msg", "", "what there is to say about it")

	f.Int64Var(&o.span.traceID, "trace_id", 0, "`id` of the trace: makes a span of it (with -ssf); by default from "+envTraceID)
	f.Int64Var(&o.span.parentID, "parent_span_id", 0, "`id` of the parent span; by default from "+envParentID)
	f.StringVar(&o.span.service, "span_service", "veneur-emit", "the span's service")
	f.StringVar(&o.span.start, "span_starttime", "", "when the span started: unix seconds or a date")
	f.StringVar(&o.span.end, "span_endtime", "", "when the span ended: unix seconds or a date; by default now")
	f.StringVar(&o.span.tags, "span_tags", "", "`tags` of the span alone, comma separated")
	f.BoolVar(&o.span.indicator, "indicator", false, "mark the span as an indicator")
	f.BoolVar(&o.span.failed, "error", false, "mark the span as failed")
	f.Usage = func() {} // a mistake in one flag needs no list of forty
	return f
}

func usage(f *flag.FlagSet, stderr io.Writer) {
	fmt.Fprintln(stderr, "usage: veneur-emit [flags]                      send one thing")
	fmt.Fprintln(stderr, "       veneur-emit [flags] -command COMMAND …   time a command")
	fmt.Fprintln(stderr, "       veneur-emit [flags] -                    send DogStatsD lines from standard input")
	f.PrintDefaults()
}

// The environment through which a timed command learns what it belongs to.
const (
	envTraceID  = "VENEUR_EMIT_TRACE_ID"
	envParentID = "VENEUR_EMIT_PARENT_SPAN_ID"
)

var spanFlags = []string{"trace_id", "parent_span_id", "span_service", "span_starttime", "span_endtime", "span_tags", "indicator", "error"}

// errUsage says that what is wrong has been printed already.
var errUsage = errors.New("usage")

func parse(args, environ []string, stderr io.Writer) (*options, error) {
	o := &options{given: map[string]bool{}}
	f := o.flagSet(stderr)
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			usage(f, stderr)
			return nil, err
		}
		fmt.Fprintln(stderr, "veneur-emit -help lists the flags")
		return nil, errUsage
	}
	f.Visit(func(fl *flag.Flag) { o.given[fl.Name] = true })
	o.args = f.Args()
	if !o.command && len(o.args) == 1 && o.args[0] == "-" {
		o.stdin, o.args = true, nil
	}
	if err := o.fromEnvironment(environ); err != nil {
		return nil, err
	}
	for _, name := range spanFlags {
		o.span.wants = o.span.wants || o.given[name]
	}
	return o, o.validate()
}

// fromEnvironment takes the trace that a surrounding veneur-emit -command has started, unless the flags name one.
func (o *options) fromEnvironment(environ []string) error {
	for _, variable := range []struct {
		name, flag string
		id         *int64
	}{{envTraceID, "trace_id", &o.span.traceID}, {envParentID, "parent_span_id", &o.span.parentID}} {
		value := lookup(environ, variable.name)
		if value == "" || o.given[variable.flag] {
			continue
		}
		id, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return fmt.Errorf("%s: %q is not a whole number", variable.name, value)
		}
		*variable.id = id
	}
	return nil
}

func lookup(environ []string, name string) string {
	value := ""
	for _, entry := range environ {
		if rest, ok := strings.CutPrefix(entry, name+"="); ok {
			value = rest
		}
	}
	return value
}
