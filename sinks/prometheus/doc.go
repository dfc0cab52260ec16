// Package prometheus is the sink that is scraped: it keeps what the daemon aggregated and serves it on a page of its own.
//
// A [board] turns intervals into what Prometheus wants, cumulative counters and summaries among gauges, and settles what happens when names
// and labels become equal. After each interval it gives a [page], an immutable copy, which the [server] encodes and sends to whoever
// asks. Scrapers and Send share nothing but one pointer to the page, so neither waits for the other, and no scrape sees a part of an
// interval.
package prometheus
