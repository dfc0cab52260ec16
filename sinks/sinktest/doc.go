// Package sinktest is what every kind of sink is tested with.
//
// [Run] holds a kind to the contract of package sinks: that its configuration says what is wrong and hides its secrets, that building opens
// nothing, that what it writes is what its golden files say, that it neither keeps nor changes what it is lent, that it keeps deadlines and
// leaks nothing, and that delivery's ledger is right after each class of answer of its backend.
//
//	func TestContract(t *testing.T) {
//		sinktest.Run(t, sinktest.Case{
//			Kind:    mysink.Kind(),
//			YAML:    "url: {{url}}/v1\napi_key: hunter2",
//			Secrets: []string{"hunter2"},
//			Fake:    http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusAccepted) }),
//		})
//	}
//
// It reads testdata/*.good.yaml and *.bad.yaml of the kind's folder, and testdata/metrics.golden and spans.golden, which go test -update
// writes.
//
// [Batch] and [Spans] are samples of everything a sink must be able to write. [Recorder] is a sink for tests of what comes before sinks.
package sinktest
