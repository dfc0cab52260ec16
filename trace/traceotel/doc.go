// Package traceotel lets the SDK of OpenTelemetry send its spans to the daemon:
//
//	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(traceotel.New(client)))
//
// A span becomes one of SSF. What SSF has no field for is in tags, under the names that OpenTelemetry gives to exporters of other formats:
//
//	trace id       its lower half; all 32 digits are in the tag trace_id_128
//	kind           span.kind (server, client, producer, consumer); spans of servers and consumers are indicators
//	status         error, with the text in error.msg; otel.status_code is OK or ERROR unless it was not set
//	attributes     tags of the same names, those of the span before those of the resource
//	service.name   the service
//	scope          otel.scope.name and otel.scope.version
//	events, links  the tags events and links, as JSON; an exception also is error.msg, error.type and error.stack
package traceotel
