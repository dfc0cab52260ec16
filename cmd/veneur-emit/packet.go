package main

import (
	"time"

	"github.com/veneurd/veneur/protocol/dogstatsd"
	"github.com/veneurd/veneur/protocol/metric"
)

// metricPacket returns the lines of the metrics on the command line. took is the time of a command, or what -timing says.
func (o *options) metricPacket(took time.Duration) []byte {
	name := []byte(cleanName(o.name))
	tags := cleanTags(o.tag)
	var packet []byte
	add := func(s metric.Sample) {
		s.Name, s.Tags, s.Rate = name, tags, 1
		if len(packet) > 0 {
			packet = append(packet, '\n')
		}
		packet = dogstatsd.AppendMetric(packet, &s)
	}
	if o.given["gauge"] {
		add(metric.Sample{Kind: metric.Gauge, Values: []float64{float64(o.gauge)}})
	}
	if o.given["count"] {
		add(metric.Sample{Kind: metric.Counter, Values: []float64{float64(o.count)}})
	}
	if o.given["timing"] || o.command {
		ms := float64(took) / float64(time.Millisecond)
		add(metric.Sample{Kind: metric.Timer, Values: []float64{ms}})
	}
	if o.given["set"] {
		add(metric.Sample{Kind: metric.Set, Text: []byte(cleanText(o.set))})
	}
	return packet
}

func (o *options) eventPacket() []byte {
	e := &o.event
	return dogstatsd.AppendEvent(nil, &dogstatsd.Event{
		Title:          dogstatsd.AppendCleanEventText(nil, e.title),
		Text:           dogstatsd.AppendCleanEventText(nil, e.text),
		Time:           e.time.seconds(),
		Host:           []byte(cleanText(e.hostname)),
		AggregationKey: []byte(cleanText(e.aggregationKey)),
		SourceType:     []byte(cleanText(e.sourceType)),
		Priority:       e.priority.chosen,
		AlertType:      e.alertType.chosen,
		Tags:           cleanTags(e.tags, o.tag),
	})
}

func (o *options) checkPacket() []byte {
	c := &o.check
	return dogstatsd.AppendCheck(nil, &dogstatsd.Check{
		Name:    []byte(cleanText(c.name)),
		Status:  metric.Status(c.status),
		Message: dogstatsd.AppendCleanMessage(nil, c.message),
		Time:    c.time.seconds(),
		Host:    []byte(cleanText(c.hostname)),
		Tags:    cleanTags(c.tags, o.tag),
	})
}
