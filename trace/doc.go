// Package trace is the client of the daemon: Go services import it to send spans and samples. It never blocks its caller, allocates
// nothing for a span, and counts whatever it had to drop.
//
// # A service
//
// One [Client] for the process, made by main and closed by it:
//
//	client, err := trace.NewClient("unix:///run/veneur/ssf.sock", trace.WithService("checkout"))
//	if err != nil {
//		return err
//	}
//	defer client.Close(context.Background())
//
// A [Span] for each piece of work, passed on in the context:
//
//	span, ctx := client.StartSpanFromContext(ctx, "charge")
//	defer span.Finish()
//	span.SetTag("currency", currency)
//	span.Add(ssf.Histogram("charge.amount", amount, nil))
//	...
//	span.Error(err)
//
// Below, code that knows no client calls [StartSpanFromContext]: a child is of its parent's client. Package tracehttp does all of this for
// requests over HTTP, tracegrpc for gRPC. Where tracing is off the client is nil, and everything it is asked for is done by doing nothing.
//
// # Metrics without spans
//
// [Client.Report] sends samples that belong to no span. What is counted often is counted in the client: a [Counter], [Gauge], [Histogram] or
// [Set] is made once. A Counter or a Gauge costs 2 or 3 ns a time, a member of a Set that is known 15, and a value of a Histogram 40, since each of
// them travels. Totals are exact, although a sample holds a float32: a large sum is split into samples that are each exact.
//
// # What happens to a span
//
// Finish encodes the span into one of several buffers in memory. A goroutine that the client owns takes a buffer when it holds 48 KiB, or
// every 100 ms, and sends it: over a stream with one write, as datagrams many with one system call. While the daemon is away or
// hangs, buffers wait, up to [WithMemory]; then new spans are dropped. The client comes back within a second of the daemon, and what waited is
// sent. A packet counts as sent when the kernel has it: datagrams may be lost behind that, on UDP without a trace, and so may be what is in a
// connection when the daemon is killed. [Client.Stats] says what became of every packet:
//
//	Recorded = Sent + Dropped + Waiting
//
// [Client.Flush] waits until everything has been sent, [Client.Close] does so for the last time.
//
// # Other backends
//
// [NewBackendClient] gives spans to a [ClientBackend] in place of a socket. Package tracegrpc has one for gRPC, package tracetest one for
// tests.
package trace
