package tracetest_test

import (
	"testing"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
	"github.com/veneurd/veneur/trace/tracetest"
)

// serve is what is tested.
func serve(client *trace.Client) {
	span := client.StartTrace("request")
	span.SetTag("status", "200")
	span.Add(ssf.Count("requests", 1, nil))
	span.Finish()
}

func ExampleNew() {
	_ = func(t *testing.T) { // TestServe
		client, recorder := tracetest.New(t)
		serve(client)
		recorder.HasSpans("request")
		recorder.Span("request").IsRoot().Succeeded().HasTag("status", "200").HasNoTag("error.msg")
		recorder.HasCount("requests", 1)
	}
}

// A daemon's socket that hangs, and goes on.
func ExampleListen() {
	_ = func(t *testing.T) { // TestServeWhileTheDaemonHangs
		daemon := tracetest.Listen(t, "unix")
		client, err := trace.NewClient(daemon.Address())
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close(t.Context())
		daemon.Pause()
		serve(client) // does not wait
		daemon.Resume()
		daemon.Wait(1)
		daemon.HasSpans("request")
	}
}
