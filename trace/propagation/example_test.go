package propagation_test

import (
	"fmt"

	"github.com/veneurd/veneur/trace/propagation"
)

// A trace crosses a queue whose messages have properties.
func Example() {
	in := map[string]string{"Traceparent": "00-80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-01"}
	sc, ok := propagation.Extract(func(key string) []string {
		if v, ok := in[key]; ok {
			return []string{v}
		}
		return nil
	})
	fmt.Println(ok)

	// The consumer would go on with client.StartFrom(sc, "consume"), and inject that span's Context.
	out := map[string]string{}
	propagation.Inject(func(key, value string) { out[key] = value }, sc, propagation.W3C)
	fmt.Println(out["Traceparent"])
	// Output:
	// true
	// 00-80f198ee56343ba864fe8b2a57d3eff7-e457b5a2e4d86bd1-01
}
