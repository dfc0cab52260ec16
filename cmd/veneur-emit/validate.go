package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The modes.
const (
	modeMetric = "metric"
	modeEvent  = "event"
	modeCheck  = "sc"
)

// What a flag is about, beside the modes.
const (
	aboutAnything = ""     // anything that is sent
	aboutSending  = "send" // how and where: the only flags that go with -
)

// about says what a flag is about.
func about(name string) string {
	switch {
	case slices.Contains([]string{"hostport", "debug", "grpc", "proxy"}, name):
		return aboutSending
	case name == "tag" || name == "mode":
		return aboutAnything
	case strings.HasPrefix(name, "e_"):
		return modeEvent
	case strings.HasPrefix(name, "sc_"):
		return modeCheck
	default:
		return modeMetric
	}
}

var describes = map[string]string{
	modeMetric: "a metric or a span",
	modeEvent:  "an event",
	modeCheck:  "a service check",
}

// validate says the first thing that is wrong, in words that say what to write.
func (o *options) validate(f *flag.FlagSet) error {
	if o.stdin {
		return o.validateStdin(f)
	}
	if o.given["tree"] || o.given["tree_rate"] {
		return o.validateTree(f)
	}
	if err := o.inferMode(f); err != nil {
		return err
	}
	switch o.mode.chosen {
	case modeEvent:
		return o.validateEvent()
	case modeCheck:
		return o.validateCheck()
	default:
		return o.validateMetric()
	}
}

func (o *options) validateStdin(f *flag.FlagSet) (err error) {
	f.Visit(func(fl *flag.Flag) {
		if err == nil && about(fl.Name) != aboutSending {
			err = fmt.Errorf("-%s says nothing about -, which sends lines as they are", fl.Name)
		}
	})
	return err
}

func (o *options) validateTree(f *flag.FlagSet) (err error) {
	f.Visit(func(fl *flag.Flag) {
		if err == nil && about(fl.Name) != aboutSending && !slices.Contains([]string{"tree", "tree_rate", "ssf", "tag"}, fl.Name) {
			err = fmt.Errorf("-%s says nothing about -tree, whose spans are all made up", fl.Name)
		}
	})
	switch {
	case err != nil:
		return err
	case len(o.args) > 0:
		return o.unexpected()
	case o.trees < 1:
		return errors.New("-tree needs a number of traces, at least 1")
	case o.treeRate < 0.01 || o.treeRate > 100_000:
		return errors.New("-tree_rate is a number of traces a second, from 0.01 to 100000")
	}
	return nil
}

// inferMode takes the mode from the other flags where -mode does not say it, and refuses flags of another mode. Of an event or a check,
// which never can be meant by accident, it goes by the first flag.
func (o *options) inferMode(f *flag.FlagSet) (err error) {
	because := "-mode " + o.mode.chosen
	f.Visit(func(fl *flag.Flag) {
		if mode := about(fl.Name); o.mode.chosen == "" && (mode == modeEvent || mode == modeCheck) {
			o.mode.chosen, because = mode, "-"+fl.Name
		}
	})
	if o.mode.chosen == "" {
		o.mode.chosen = modeMetric
	}
	f.Visit(func(fl *flag.Flag) {
		mode := about(fl.Name)
		if err == nil && mode != aboutSending && mode != aboutAnything && mode != o.mode.chosen {
			err = fmt.Errorf("-%s describes %s, and %s asks for %s: send one at a time", fl.Name, describes[mode], because, describes[o.mode.chosen])
		}
	})
	return err
}

func (o *options) validateMetric() error {
	values := o.given["gauge"] || o.given["count"] || o.given["timing"] || o.given["set"]
	span := o.ssf && o.span.traceID != 0
	switch {
	case o.command && (len(o.args) == 0 || o.args[0] == ""):
		return errors.New("-command needs a command after the flags")
	case o.command && o.given["timing"]:
		return errors.New("-command measures the time itself: leave -timing out")
	case !o.command && len(o.args) > 0:
		return o.unexpected()
	case !o.ssf && o.firstSpanFlag() != "":
		return fmt.Errorf("-%s describes a span, and spans go over SSF: add -ssf", o.firstSpanFlag())
	case o.ssf && !values && !o.command && !span && o.firstSpanFlag() != "":
		return fmt.Errorf("a span needs -trace_id or %s", envTraceID)
	case !values && !o.command && !span:
		return errors.New("nothing to send: give -count, -gauge, -timing, -set or -command, an event or a service check")
	case o.name == "":
		return errors.New("-name is required")
	case o.given["set"] && o.set == "":
		return errors.New("-set needs a member that is not empty")
	case span && !o.span.start.IsZero() && !o.span.end.IsZero() && o.span.end.Before(o.span.start.Time):
		return errors.New("-span_endtime is before -span_starttime")
	case span && o.span.end.IsZero() && !o.command && !o.given["timing"] && o.span.start.After(time.Now()):
		return errors.New("-span_starttime is still to come: give -span_endtime or -timing")
	}
	if o.ssf {
		return errors.Join(fitsFloat32("-gauge", o.gauge), fitsFloat32("-count", o.count))
	}
	return nil
}

// unexpected says what is wrong with an argument that is no flag.
func (o *options) unexpected() error {
	arg := o.args[0]
	if o.flagSet().Lookup(arg) != nil {
		return fmt.Errorf("unexpected argument %q: is it a flag? Write -%s", arg, arg)
	}
	return fmt.Errorf("unexpected argument %q: flags go before it; to time a command write -command before it", arg)
}

// firstSpanFlag returns the first flag given that only a span has a use for, or "".
func (o *options) firstSpanFlag() string {
	for _, name := range []string{
		"trace_id", "parent_span_id", "span_service", "span_starttime", "span_endtime", "span_tags", "indicator", "error",
	} {
		if o.given[name] {
			return name
		}
	}
	return ""
}

func (o *options) validateEvent() error {
	switch {
	case len(o.args) > 0:
		return o.unexpected()
	case o.event.title == "":
		return errors.New("-e_title is required")
	case !o.given["e_text"]:
		return errors.New("-e_text is required; it may be empty")
	}
	return nil
}

func (o *options) validateCheck() error {
	switch {
	case len(o.args) > 0:
		return o.unexpected()
	case o.check.name == "":
		return errors.New("-sc_name is required")
	case !o.given["sc_status"]:
		return errors.New("-sc_status is required: 0 or OK, 1 or WARNING, 2 or CRITICAL, 3 or UNKNOWN")
	}
	return nil
}
