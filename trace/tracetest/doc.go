// Package tracetest helps to test code that traces, and programs that send spans.
//
// [New] gives a client whose spans stay in the process, and the [Recorder] they go to:
//
//	client, recorder := tracetest.New(t)
//	serve(client)
//	recorder.Span("request").HasTag("status", "200").ChildOf("batch").Succeeded()
//	recorder.HasCount("requests", 1)
//
// [Listen] gives a [Collector], which is a daemon's listener for spans inside the test: it can be paused, as a daemon that hangs, stopped and
// started again.
//
// A failed expectation is reported by the test's Errorf and lists what was recorded. Everything may be used by several goroutines.
package tracetest
