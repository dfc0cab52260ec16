// Package tracehttp traces HTTP: [Handler] starts a span for each request that a server gets, [Transport] one for each that a client makes, and
// the headers between them make both one trace.
//
//	http.ListenAndServe(":8080", tracehttp.Handler(client, mux))
//
//	web := &http.Client{Transport: tracehttp.Transport(nil)}
//
// Which headers are read and written is chosen by [Read] and [Write]; see package propagation for the formats. Where tracing is off the
// client is nil, and Handler returns what it was given.
package tracehttp
