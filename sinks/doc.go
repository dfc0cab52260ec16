// Package sinks is the contract between the daemon and what it sends to.
//
// # Adding a kind of sink
//
// A kind lives in a folder of its own and touches one line elsewhere, in package sinks/all. Its files are config.go, with a Config struct, its
// DefaultConfig and its Validate; a file named like the kind, with the Kind and its Send; encode.go, with what turns a [Batch] into
// bytes; and a test that runs package sinktest.
//
//	func Kind() sinks.Kind {
//		return sinks.Define("lines", DefaultConfig,
//			func(c Config, s sinks.Settings) (sinks.MetricSink, error) { return &sink{config: c, out: s.Stdout}, nil },
//			nil) // takes no spans
//	}
//
// The example of this package is a whole one. [Config] is what the user writes, [Settings] what the daemon gives.
//
// # What a sink does
//
// It sends. [MetricSink] and [SpanSink] have one method each, called by one goroutine at a time, with a chunk that is lent: it
// may be read until the method returns, and not changed. Series, and the text of names and tags, never change and may be kept.
// Everything else is done before, by package sinks/delivery, for every sink in the same way: limits on names and tags, numbers that are not
// finite, a bounded queue, chunks, deadlines, retries, and the account of what became of every item. A sink therefore has no queue, no
// retry, no counter and no goroutine, unless it is one that others come to, such as a scrape endpoint.
//
// # What it answers
//
// The error says what became of the chunk. When a request can be answered in several ways, a sink says:
//
//	2xx                        nil
//	2xx, answered item by item *PartialError: which were refused and why, which to try again, which were there already
//	2xx, some refused          *PartialError, with how many
//	413                        *TooLargeError
//	429                        *RetryAfter, with what the answer asks for
//	401, 403, 404              *ConfigError: tried again slowly, and said loudly
//	other 4xx                  Permanent(err), or Refusal(reason, err)
//	5xx, timeout, reset        the error as it is: the chunk is tried again
//
// Package sinks/httpsend gives these for HTTP, from the status. A sink that sends one chunk in several requests names, with a *PartialError,
// the items of those that failed: what a backend took would otherwise be sent twice.
//
// # Its life
//
// Building opens nothing, since validating a configuration builds every sink. A sink that has to hold something open implements
// lifecycle.Starter, one that has work of its own lifecycle.Runner, and one that has something to let go of [Closer]. Start is called
// before the first Send, Run beside it; Run's context ends only after the last Send has returned, and then comes Close.
package sinks
