// Package telemetry counts what the daemon does, and tells it to others.
//
// Metrics are declared as data: a package has a table of [Desc] and takes typed handles from the one [Registry], made in cmd/veneur and
// passed down. There is no global registry. The values of tags come from constants or from the configuration, so the number of metrics is
// bounded. Names that strangers send are only in families made by [Registry.FuncSet], whose owner bounds their number: aggregate.over_limit has
// the few metrics that a limit on series hits most.
//
// Handles may be used by many goroutines at once. A [Metric] is one padded atomic word; a hot path counts in words of its own and adds to the
// handle once a batch.
//
// The registry is read in four ways: [Registry.AppendText] for /metrics, a [Statsd] that sends to a DogStatsD server, a [Loopback] into the
// daemon itself, and [Registry.Value] in tests. [AppendMarkdown] writes docs/telemetry.md from the tables.
//
// A [LogSampler] is for what should be seen and not only counted: one example a minute of each thing that goes wrong on a path that must
// not log.
package telemetry
