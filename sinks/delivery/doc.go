// Package delivery does, once and for every sink, what stands between an interval and a backend: it filters, queues, cuts into chunks,
// sends with a deadline, tries again, and accounts for every item.
//
// [Delivery] wraps a [sinks.MetricSink] and takes whole intervals by Offer; [Spans] wraps a [sinks.SpanSink] and takes single spans by
// OfferSpan. Both sit on one core: a bounded queue with a [Ledger] under one short lock, and a Run that owns the only goroutines. Offer never
// waits for a sink, and no lock is held while a sink is called, so a slow or hanging sink delays and loses nothing but its own data.
//
// # What an item is
//
// Points, digests, events and checks are items, each counted as one; a span is one item. Digests are items only for a
// [sinks.DistributionSink]: to any other sink they are not offered at all.
//
// # Where items go
//
// At every moment, and for every sink, offered = sent + refused + filtered + overflow + expired + waiting:
//
//   - filtered: not fit for this sink, by its own limits on names and tags, or a number that is not finite.
//   - overflow: the queue was full. The oldest interval goes first; the newest is always taken, however large.
//   - sent: the sink said so.
//   - refused: the sink said that the backend will never take it, or the sink panicked.
//   - expired: too old (expire_after), tried often enough (retry_attempts), or still there when the daemon had to end.
//   - waiting: queued, or being sent.
//
// # Order
//
// Chunks are sent one at a time, oldest first, so the points of a series arrive in order. A chunk that is tried again therefore holds up
// what comes after it, until it is sent or given up. A chunk that is given up or refused takes nothing else with it.
//
// # A sink that breaks its contract
//
// A panic of a sink is caught: the chunk is refused and the daemon lives. A sink that does not return by its deadline cannot be
// stopped from outside; until it returns nothing is sent, its queue overflows, and Failing names it. When the daemon ends
// meanwhile, Run leaves that one goroutine behind rather than wait for it.
package delivery
