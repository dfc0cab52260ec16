package dogstatsd_test

import (
	"fmt"

	"github.com/veneurd/veneur/protocol/dogstatsd"
	"github.com/veneurd/veneur/protocol/metric"
)

func ExampleParser() {
	packet := []byte("page.views:1|c|#env:prod\n" +
		"page.ms:12.5:8|ms|@0.5\n" +
		"page.views:many|c\n" +
		"_sc|disk|2|m:90 % full\n")

	var p dogstatsd.Parser
	p.Reset(packet, 1_700_000_000)
	for l := p.Next(); l != nil; l = p.Next() {
		switch l.Kind {
		case dogstatsd.MetricLine:
			fmt.Printf("%s %s %v, rate %v, tags %q\n", l.Sample.Kind, l.Sample.Name, l.Sample.Values, l.Sample.Rate, l.Sample.Tags)
		case dogstatsd.EventLine:
			fmt.Printf("event %q\n", l.Event.Title)
		case dogstatsd.CheckLine:
			fmt.Printf("check %s is %s: %s\n", l.Check.Name, l.Check.Status, l.Check.Message)
		case dogstatsd.RefusedLine:
			fmt.Printf("refused %q: %s\n", l.Raw, l.Reason)
		}
	}
	// Output:
	// counter page.views [1], rate 1, tags "env:prod"
	// timer page.ms [12.5 8], rate 0.5, tags ""
	// refused "page.views:many|c": value
	// check disk is CRITICAL: 90 % full
}

func ExampleAppendCleanName() {
	s := metric.Sample{
		Kind:   metric.Counter,
		Name:   dogstatsd.AppendCleanName(nil, "jobs done|today"),
		Tags:   dogstatsd.AppendCleanTags(nil, "queue:a,b", "region:eu"),
		Values: []float64{3},
	}
	fmt.Printf("%s\n", dogstatsd.AppendMetric(nil, &s))
	// Output:
	// jobs done_today:3|c|#queue:a_b,region:eu
}
