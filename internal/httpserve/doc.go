// Package httpserve is what the daemon's HTTP ports have in common: a few pages on one address, for clients of which some are slow or mean
// harm. A [Server] is made of [Settings], opens nothing until Start, and serves until the context of Run is done. What a stranger can cost is
// bounded: connections, header bytes and time. What is on the pages is the caller's.
package httpserve
