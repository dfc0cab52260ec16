// Package protocol is how metrics and spans travel: the addresses of listeners and the frames of SSF streams. The formats inside have
// packages of their own: ssf for spans, protocol/dogstatsd for lines. Nothing here opens a socket.
//
// An SSF datagram is one span, read by [ParseSSF] or an [ssf.Decoder]. On a stream each span stands in a frame of a version byte, a
// length and that many bytes: [ReadFrame] and [WriteSSF], or [AppendFrame] for whoever gathers many before a write. A [*FramingError]
// means that the stream can no longer be cut into frames, and must be closed. A span that cannot be decoded is an [ssf.Reason]
// and concerns its frame only.
package protocol
