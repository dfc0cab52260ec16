package tdigest_test

import (
	"fmt"

	"github.com/veneurd/veneur/server/sketch/tdigest"
)

func Example() {
	local := tdigest.New(tdigest.DefaultCompression)
	for ms := range 100 {
		local.Add(float64(ms+1), 1/0.5) // sampled at a rate of 0.5
	}
	message := local.AppendBinary(nil)

	var arrived, global tdigest.Digest
	if err := arrived.Decode(message); err != nil {
		fmt.Println(err)
	}
	global.Merge(&arrived)
	global.Freeze() // now any number of sinks may read it
	fmt.Println(global.Count(), global.Sum(), global.Quantile(0.5), global.Quantile(0.99))
	// Output: 200 10100 50 99
}
