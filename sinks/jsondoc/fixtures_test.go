package jsondoc_test

import (
	"github.com/veneurd/veneur/ssf"
)

// typical is the span of the figures: 8 tags and 3 samples.
func typical() *ssf.SSFSpan {
	return &ssf.SSFSpan{
		TraceId: 6021394871293847561, Id: 2938475610293847561, ParentId: 8374650192837465019,
		StartTimestamp: 1767225600123456789, EndTimestamp: 1767225600193456789,
		Service: "checkout-frontend", Name: "POST /v1/charges", Indicator: true,
		Tags: []ssf.Tag{
			{Key: "env", Value: "production"},
			{Key: "region", Value: "eu-west-1"},
			{Key: "host", Value: "checkout-7f9c5d"},
			{Key: "http.status", Value: "200"},
			{Key: "http.method", Value: "POST"},
			{Key: "peer.service", Value: "ledger"},
			{Key: "db.system", Value: "postgresql"},
			{Key: "version", Value: "2026.01.07-3"},
		},
		Metrics: []ssf.SSFSample{
			{Metric: ssf.SSFSample_COUNTER, Name: "charges.count", Value: 1, SampleRate: 1, Tags: []ssf.Tag{{Key: "card", Value: "visa"}}},
			{Metric: ssf.SSFSample_HISTOGRAM, Name: "charges.duration", Value: 12.5, SampleRate: 1, Unit: "ms", Tags: []ssf.Tag{{Key: "card", Value: "visa"}}},
			{Metric: ssf.SSFSample_GAUGE, Name: "charges.load", Value: 0.1, SampleRate: 1, Tags: []ssf.Tag{{Key: "card", Value: "visa"}}},
		},
	}
}

// spans are spans of other shapes.
func spans() []*ssf.SSFSpan {
	bad := "\xff\"\\\n\x00é\u2028\u2029<&>"
	many := &ssf.SSFSpan{}
	for i := range 100 {
		many.Tags = append(many.Tags, ssf.Tag{Key: string(rune('a'+i*7%26)) + "key", Value: string(rune('A' + i%26))})
	}
	return []*ssf.SSFSpan{
		typical(),
		{},
		many,
		{
			TraceId: -1, Id: -2, ParentId: -3, StartTimestamp: -1, EndTimestamp: 5, RootStartTimestamp: -9223372036854775808, Version: -7, Error: true,
			Name: bad, Service: bad, Tags: []ssf.Tag{{Key: bad, Value: bad}, {}, {Key: "\xfe"}, {Key: "\xfd", Value: "2"}, {Key: "a", Value: "1"}, {Key: "a", Value: "2"}},
			Metrics: []ssf.SSFSample{
				{},
				{Metric: 7, Status: 8, Scope: 9, Name: bad, Message: bad, Unit: bad, Timestamp: 5, Value: float32(inf()), SampleRate: float32(nan())},
				{Metric: ssf.SSFSample_STATUS, Scope: ssf.SSFSample_GLOBAL, Message: "down", Value: 16777216, SampleRate: 0.1},
			},
		},
		{StartTimestamp: 5, EndTimestamp: 4, Tags: []ssf.Tag{{Key: "sql", Value: "select * from a where b = 'cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc'"}}},
	}
}
