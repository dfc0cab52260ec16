package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/veneurd/veneur/protocol/dogstatsd"
	"github.com/veneurd/veneur/protocol/metric"
)

// metricPacket returns the lines of the metrics on the command line. took is the time of a command.
func (o *options) metricPacket(took time.Duration) []byte {
	name := dogstatsd.AppendCleanName(nil, o.name)
	tags := dogstatsd.AppendCleanTags(nil, strings.Split(o.tag, ",")...)
	var packet []byte
	add := func(s metric.Sample) {
		s.Name, s.Tags, s.Rate = name, tags, 1
		if len(packet) > 0 {
			packet = append(packet, '\n')
		}
		packet = dogstatsd.AppendMetric(packet, &s)
	}
	if o.given["gauge"] {
		add(metric.Sample{Kind: metric.Gauge, Values: []float64{o.gauge}})
	}
	if o.given["count"] {
		add(metric.Sample{Kind: metric.Counter, Values: []float64{o.count}})
	}
	if o.given["timing"] || o.command {
		ms := float64(took) / float64(time.Millisecond)
		add(metric.Sample{Kind: metric.Timer, Values: []float64{ms}})
	}
	if o.given["set"] {
		add(metric.Sample{Kind: metric.Set, Text: dogstatsd.AppendCleanText(nil, o.set)})
	}
	return packet
}

func (o *options) eventPacket() ([]byte, error) {
	e := &o.event
	at, err := parseSeconds("-e_time", e.time)
	if err != nil {
		return nil, err
	}
	return dogstatsd.AppendEvent(nil, &dogstatsd.Event{
		Title:          dogstatsd.AppendCleanEventText(nil, e.title),
		Text:           dogstatsd.AppendCleanEventText(nil, e.text),
		Time:           at,
		Host:           dogstatsd.AppendCleanText(nil, e.hostname),
		AggregationKey: dogstatsd.AppendCleanText(nil, e.aggregationKey),
		SourceType:     dogstatsd.AppendCleanText(nil, e.sourceType),
		Priority:       e.priority,
		AlertType:      e.alertType,
		Tags:           dogstatsd.AppendCleanTags(nil, strings.Split(e.tags, ",")...),
	}), nil
}

func (o *options) checkPacket() ([]byte, error) {
	c := &o.check
	at, err := parseSeconds("-sc_time", c.time)
	if err != nil {
		return nil, err
	}
	status, err := parseStatus(c.status)
	if err != nil {
		return nil, err
	}
	return dogstatsd.AppendCheck(nil, &dogstatsd.Check{
		Name:    dogstatsd.AppendCleanText(nil, c.name),
		Status:  status,
		Message: dogstatsd.AppendCleanMessage(nil, c.message),
		Time:    at,
		Host:    dogstatsd.AppendCleanText(nil, c.hostname),
		Tags:    dogstatsd.AppendCleanTags(nil, strings.Split(c.tags, ",")...),
	}), nil
}

func parseStatus(s string) (metric.Status, error) {
	for _, status := range []metric.Status{metric.OK, metric.Warning, metric.Critical, metric.Unknown} {
		if s == strconv.Itoa(int(status)) || strings.EqualFold(s, status.String()) {
			return status, nil
		}
	}
	return 0, fmt.Errorf("-sc_status %q is none of 0 (OK), 1 (WARNING), 2 (CRITICAL), 3 (UNKNOWN)", s)
}

// timeLayouts are the dates that are understood, besides unix time. Without a zone they are local time.
var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02 15:04:05.999999999 -0700", "2006-01-02 15:04:05.999999999 MST", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04",
	"2006-01-02", "2006/01/02 15:04:05", "2006/01/02", "01/02/2006 15:04:05", "01/02/2006", time.RFC1123Z, time.RFC1123, time.RFC850,
	time.ANSIC, time.UnixDate, time.RubyDate, "20060102150405", "20060102",
}

var errTime = errors.New("is neither unix seconds nor a date such as 2006-01-02T15:04:05Z")

// parseTime reads a date, or a unix time: in seconds with up to nine decimals, or, told apart by their number of digits, in milliseconds,
// microseconds or nanoseconds.
func parseTime(s string) (time.Time, error) {
	if t, ok := parseUnix(s); ok {
		return t, nil
	}
	for _, layout := range timeLayouts {
		if t, err := time.ParseInLocation(layout, s, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errTime
}

func parseUnix(s string) (time.Time, bool) {
	whole, fraction, dotted := strings.Cut(s, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n <= 0 || slices.Contains([]int{8, 14}, len(whole)) { // those are 20060102 and 20060102150405
		return time.Time{}, false
	}
	if dotted {
		nanos, err := strconv.ParseUint((fraction + "000000000")[:9], 10, 32)
		return time.Unix(n, int64(nanos)), err == nil && len(whole) <= 11
	}
	switch {
	case len(whole) <= 11:
		return time.Unix(n, 0), true
	case len(whole) <= 13:
		return time.UnixMilli(n), true
	case len(whole) <= 16:
		return time.UnixMicro(n), true
	default:
		return time.Unix(0, n), true
	}
}

// parseSeconds returns unix seconds, or 0 for "".
func parseSeconds(flag, s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	t, err := parseTime(s)
	if err != nil {
		return 0, fmt.Errorf("%s %q %w", flag, s, err)
	}
	return t.Unix(), nil
}
