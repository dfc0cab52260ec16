package ssf_test

import (
	"fmt"
	"time"

	"github.com/veneurd/veneur/ssf"
)

func Example() {
	span := &ssf.SSFSpan{Metrics: []ssf.SSFSample{
		ssf.Count("requests", 1, map[string]string{"status": "200"}),
		ssf.Timing("request.duration", 1500*time.Microsecond, time.Millisecond, nil),
	}}
	packet := ssf.AppendSpan(nil, span)

	var d ssf.Decoder
	got, err := d.Decode(packet) // lent until the next Decode
	if err != nil {
		fmt.Println("refused:", err)
		return
	}
	ssf.Normalize(got)
	for i := range got.Metrics {
		s := &got.Metrics[i]
		if err := ssf.ValidateSample(s); err != nil {
			fmt.Println("refused:", err)
			continue
		}
		fmt.Printf("%v %s %v%s\n", s.Metric, s.Name, s.Value, s.Unit)
	}
	// Output:
	// COUNTER requests 1
	// HISTOGRAM request.duration 1.5ms
}
