// Package ingest takes what arrives on sockets to the tables that add it up.
//
// [New] makes an [Ingest] of a [Config]: a listener for each address, and the [Lane]s that they fill. It opens nothing. The listeners are
// [Ingest.Runners], each a lifecycle.Starter that binds its address, so that a daemon reports every address it cannot have at once, and
// starts to read none before it has all.
//
// # The way of a datagram
//
// Each udp address has a few sockets, each with a reader, and each reader a lane of its own. A reader fetches up to 64 datagrams by one
// system call into memory that it owns, stamps them with the time of the call, takes its lane's lock, cuts and parses lines in that memory,
// adds the samples to the lane's table, and lets the lock go. Nothing is handed to another goroutine, nobody else wants the lock but the
// flusher for a moment each interval, and for a series that is known nothing is allocated.
//
// Connections and gRPC calls have goroutines of their own. They share a set of as many lanes as can be at work at once, a connection and
// all calls on it the same one for its whole life. So of what one client sends one after the other the last value of a gauge wins, by its
// place and not by a clock.
//
// # What strangers can do
//
// They can send rubbish, which is refused line by line under a constant reason. They can connect and say nothing, which costs a
// goroutine and 4 KiB, with gRPC some 40 KiB, until the idle or handshake timeout, and no more than max_connections of them. They can announce
// sizes, which no memory is taken for before the bytes arrive. They can begin messages and not end them: what all connections hold of those
// comes out of one budget, and large ones have a time to end in. They cannot make an error of accept or receive end a loop: only its own
// end does.
//
// # Accounts
//
// Every byte that is not an empty line ends in exactly one counter; telemetry.go says which sums are equal. What the kernel dropped is among
// them, asked of each socket whenever somebody looks.
package ingest
