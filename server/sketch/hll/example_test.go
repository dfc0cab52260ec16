package hll_test

import (
	"fmt"

	"github.com/veneurd/veneur/server/sketch/hll"
)

func Example() {
	var monday, tuesday hll.Sketch
	monday.InsertString("ann")
	monday.InsertString("bob")
	tuesday.InsertString("bob")
	tuesday.InsertString("cyd")

	var arrived hll.Sketch
	if err := arrived.Decode(tuesday.AppendBinary(nil)); err != nil {
		fmt.Println(err)
	}
	monday.Merge(&arrived)
	fmt.Println(monday.Estimate())
	// Output: 3
}
