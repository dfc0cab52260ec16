// Package tracegrpc speaks gRPC, to the daemon and about services that do.
//
// [NewClient] returns a client that sends its spans to a daemon's gRPC address, in place of a socket:
//
//	client, err := tracegrpc.NewClient("grpc://veneur:8128")
//
// [UnaryServer], [StreamServer], [UnaryClient] and [StreamClient] are interceptors that start a span for each call that a service gets or
// makes, and carry the trace between them in the call's metadata, in the formats of package propagation.
//
// It is a package of its own so that services without gRPC do not link it.
package tracegrpc
