package aggregate_test

import (
	"fmt"

	"github.com/sirupsen/logrus"

	"github.com/veneurd/veneur/internal/telemetry"
	"github.com/veneurd/veneur/protocol/metric"
	"github.com/veneurd/veneur/server/aggregate"
)

func Example() {
	in := aggregate.NewInterner(aggregate.Settings{
		Config:    aggregate.DefaultConfig(),
		Telemetry: telemetry.New(),
		Log:       logrus.New(),
	})
	table := in.NewTable() // one a lane; used with its lock held
	collector := aggregate.NewCollector(in, []*aggregate.Table{table})

	sample := metric.Sample{Kind: metric.Counter, Name: []byte("requests"), Tags: []byte("b:2,a:1"), Values: []float64{1}, Rate: 0.5}
	fmt.Println(table.Add(&sample, 0, 0))
	sample.Tags = []byte("a:1,b:2")
	fmt.Println(table.Add(&sample, 0, 0))

	table.Flip()
	interval := collector.Collect()
	for counter := range interval.Counters.All() {
		fmt.Println(counter.Series.Name, counter.Series.Tags, counter.Value)
	}
	collector.Release(interval)
	// Output:
	// applied
	// applied
	// requests [a:1 b:2] 4
}
