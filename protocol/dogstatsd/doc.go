// Package dogstatsd reads and writes the DogStatsD protocol: metrics, events and service checks, one message a line.
//
// A [Parser] belongs to one reader. [Parser.Reset] gives it a datagram, or a block of whole lines of a stream, and
// [Parser.Next] lends one [Line] after the other until none is left. A line is a metric, an event, a service check, or a
// message that was refused for a [Reason]; a bad message never affects another one. A metric is accepted whole or not at all:
// the packed values of one message are one [metric.Sample]. In steady state nothing is allocated. Who takes many metrics at once
// lets [Parser.Fill] gather them in a [Batch].
//
// What a line means is left to others: tags stay the bytes of the wire until [metric.TagSet] reads them, when a series is seen
// for the first time, and no name is rewritten or guessed at.
//
// [AppendMetric], [AppendEvent] and [AppendCheck] are the inverse. They write what they are given; text of strangers goes through
// [AppendCleanName], [AppendCleanTags] and [AppendCleanText] first, so that it cannot break out of its place.
package dogstatsd
