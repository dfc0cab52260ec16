package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// validate says the first thing that is wrong, in words that say what to write.
func (o *options) validate() error {
	if err := o.inferMode(); err != nil {
		return err
	}
	switch {
	case o.stdin:
		return o.validateStdin()
	case o.mode == modeEvent:
		return o.validateEvent()
	case o.mode == modeCheck:
		return o.validateCheck()
	default:
		return o.validateMetric()
	}
}

// inferMode takes the mode from the other flags where -mode does not say it, and refuses flags of another mode.
func (o *options) inferMode() error {
	event, check := o.anyGiven("e_"), o.anyGiven("sc_")
	switch o.mode {
	case "":
		o.mode = modeMetric
		switch {
		case event && check:
			return errors.New("an event and a service check are sent one at a time")
		case event:
			o.mode = modeEvent
		case check:
			o.mode = modeCheck
		}
	case modeMetric, modeEvent, modeCheck:
	default:
		return fmt.Errorf("-mode %q is none of metric, event, sc", o.mode)
	}
	if event && o.mode != modeEvent {
		return fmt.Errorf("-e_… flags describe an event; -mode is %s", o.mode)
	}
	if check && o.mode != modeCheck {
		return fmt.Errorf("-sc_… flags describe a service check; -mode is %s", o.mode)
	}
	if o.mode != modeMetric && !o.stdin {
		for _, name := range append([]string{"name", "gauge", "count", "timing", "set", "tag", "command", "ssf"}, spanFlags...) {
			if o.given[name] {
				return fmt.Errorf("-%s describes a metric or a span; -mode is %s", name, o.mode)
			}
		}
		if len(o.args) > 0 {
			return fmt.Errorf("unexpected argument %q", o.args[0])
		}
	}
	return nil
}

func (o *options) anyGiven(prefix string) bool {
	for name := range o.given {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func (o *options) validateStdin() error {
	for name := range o.given {
		if !slices.Contains([]string{"hostport", "debug", "grpc", "proxy"}, name) {
			return fmt.Errorf("-%s has no meaning with -, which sends lines as they are", name)
		}
	}
	return nil
}

func (o *options) validateMetric() error {
	values := o.given["gauge"] || o.given["count"] || o.given["timing"] || o.given["set"]
	switch {
	case o.command && len(o.args) == 0:
		return errors.New("-command needs a command after the flags")
	case o.command && o.given["timing"]:
		return errors.New("-command measures the time itself; leave -timing out")
	case !o.command && len(o.args) > 0:
		return fmt.Errorf("unexpected argument %q; to time a command put -command before it", o.args[0])
	case o.span.wants && !o.ssf:
		return errors.New("a span goes over SSF: add -ssf")
	case o.name == "" && (values || o.command):
		return errors.New("-name is required")
	case o.name == "" && o.span.traceID != 0 && o.ssf:
		return errors.New("-name is required: it is the name of the span")
	case !values && !o.command && !(o.ssf && o.span.traceID != 0):
		return errors.New("nothing to send: give -count, -gauge, -timing, -set, -command, an event or a service check")
	case o.given["set"] && o.set == "":
		return errors.New("-set needs a member that is not empty")
	}
	return nil
}

func (o *options) validateEvent() error {
	e := &o.event
	switch {
	case e.title == "":
		return errors.New("-e_title is required")
	case !o.given["e_text"]:
		return errors.New("-e_text is required")
	case e.priority != "normal" && e.priority != "low":
		return fmt.Errorf("-e_priority %q is neither normal nor low", e.priority)
	case !slices.Contains([]string{"error", "warning", "info", "success"}, e.alertType):
		return fmt.Errorf("-e_alert_type %q is none of error, warning, info, success", e.alertType)
	}
	return nil
}

func (o *options) validateCheck() error {
	if o.check.name == "" {
		return errors.New("-sc_name is required")
	}
	_, err := parseStatus(o.check.status)
	return err
}
