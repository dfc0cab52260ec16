// Package diskqueue keeps what waits for a sink in a directory, so that it outlives the process.
//
// A [Queue] is a list of records, each with a payload, a number of items, and the time at which they came in. One goroutine appends, one
// takes the oldest with Next and says Done when the sink has it or will never have it; State may be asked by anybody. What a record holds is
// the business of the caller: [AppendBatch] and [AppendSpans] make payloads of what sinks are sent, and [DecodeBatch] and [DecodeSpans]
// read them.
//
// # What survives
//
// A record is in the file when Append returns, so it survives the end of the process by whatever signal. The system keeps it in
// memory until it is synced, every fsync_interval; the loss of power loses what came since. A record is delivered again if the process
// ends between the sink's answer and Done; and a record of which a part was sent is delivered again whole. Backends that know items by a
// deterministic id do not mind.
//
// # The directory
//
// It belongs to one queue and one process at a time, and to its owner alone (0700, files 0600).
//
//	queue                  "veneur disk queue 1 points": version and what it holds
//	lock                   locked by the process that uses it
//	cursor                 where the oldest record that is not done begins: segment, offset, CRC-32C
//	0000000000000001.seg   segments, the oldest first
//
// A segment begins with "VNRQSEG1" and its number. A record is the length of its payload, its items, its time in nanoseconds since 1970,
// the CRC-32C of the payload, the CRC-32C of all that and of the segment's number, and the payload; all little-endian. Numbers are
// never used twice, and a segment is only ever appended to by the process that made it.
//
// # What is lost
//
// When max_bytes is reached the oldest segment goes. A record whose payload is damaged is left out; where a header is damaged, as at the
// end of a file that a crash cut, what follows in that segment is cut off. Both are counted, and nothing else is touched. What somebody removes
// under a running daemon is lost, and counted: the directory is made anew.
package diskqueue
