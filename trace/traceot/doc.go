// Package traceot is an OpenTracing tracer over a client of package trace, for code that is written for github.com/opentracing/opentracing-go:
//
//	opentracing.SetGlobalTracer(traceot.New(client))
//
// Both ways of tracing may be mixed. A span that OpenTracing put into a context is the parent of those that trace.StartSpanFromContext
// starts there, and [Wrap] makes an OpenTracing span of one of ours.
//
// Names, tags, the tag error, references (the first that is ours is the parent, of whatever kind), start and finish times, and baggage are
// carried. Of what is logged, errors are: SSF has no room for more.
package traceot
