package traceotel_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/veneurd/veneur/internal/leaktest"
	"github.com/veneurd/veneur/server/servertest"
	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
	"github.com/veneurd/veneur/trace/traceotel"
	"github.com/veneurd/veneur/trace/tracetest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func newTracer(t *testing.T, client *trace.Client, opts ...traceotel.Option) (oteltrace.Tracer, *sdktrace.TracerProvider) {
	t.Helper()
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithSyncer(traceotel.New(client, opts...)),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "api"), attribute.String("region", "eu"))))
	return provider.Tracer("lib", oteltrace.WithInstrumentationVersion("1.2")), provider
}

func id(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) }

func TestSpans(t *testing.T) {
	client, recorder := tracetest.New(t)
	tracer, provider := newTracer(t, client)
	start := time.Unix(1_700_000_000, 5)
	ctx, root := tracer.Start(context.Background(), "root", oteltrace.WithSpanKind(oteltrace.SpanKindServer), oteltrace.WithTimestamp(start),
		oteltrace.WithAttributes(attribute.Int("n", 5), attribute.Bool("b", true), attribute.StringSlice("list", []string{"x", "y"}), attribute.String("region", "us")))
	_, child := tracer.Start(ctx, "child", oteltrace.WithSpanKind(oteltrace.SpanKindClient),
		oteltrace.WithLinks(oteltrace.Link{SpanContext: root.SpanContext(), Attributes: []attribute.KeyValue{attribute.String("why", "retry")}}))
	child.AddEvent("cache miss", oteltrace.WithAttributes(attribute.String("key", "k")), oteltrace.WithTimestamp(start))
	child.RecordError(errors.New("broken"))
	child.SetStatus(codes.Error, "it broke")
	child.End()
	root.SetStatus(codes.Ok, "")
	root.End(oteltrace.WithTimestamp(start.Add(time.Second)))
	require.NoError(t, provider.Shutdown(t.Context()))

	tid, rid := root.SpanContext().TraceID(), root.SpanContext().SpanID()
	got := recorder.Span("root").IsRoot().Succeeded().IsIndicator().OfService("api").
		HasTag("n", "5").HasTag("b", "true").HasTag("list", `["x","y"]`).HasTag("region", "us").HasTag("span.kind", "server").
		HasTag("otel.status_code", "OK").HasTag("otel.scope.name", "lib").HasTag("otel.scope.version", "1.2").
		HasTag(trace.TagTraceID128, tid.String()).HasNoTag("events").HasNoTag("links").HasNoTag("service.name")
	require.Equal(t, []int64{id(tid[8:]), id(rid[:])}, []int64{got.TraceId, got.Id})
	require.Equal(t, []int64{start.UnixNano(), start.Add(time.Second).UnixNano()}, []int64{got.StartTimestamp, got.EndTimestamp})
	require.NoError(t, ssf.ValidateTrace(got.SSFSpan))

	span := recorder.Span("child").ChildOf("root").Failed().HasTag("error.msg", "it broke").HasTag("error.type", "*errors.errorString").
		HasTag("otel.status_code", "ERROR").HasTag("region", "eu").HasTag("span.kind", "client")
	require.False(t, span.Indicator)
	events, _ := span.Tag("events")
	var list []struct {
		Name, Time string
		Attributes map[string]string
	}
	require.NoError(t, json.Unmarshal([]byte(events), &list))
	require.Len(t, list, 2)
	require.Equal(t, "cache miss", list[0].Name)
	require.Equal(t, "2023-11-14T22:13:20.000000005Z", list[0].Time)
	require.Equal(t, map[string]string{"key": "k"}, list[0].Attributes)
	require.Equal(t, "broken", list[1].Attributes["exception.message"])
	span.HasTag("links", fmt.Sprintf(`[{"trace_id":"%s","span_id":"%s","attributes":{"why":"retry"}}]`, tid, rid))
}

func TestOptionsAndLimits(t *testing.T) {
	client, recorder := tracetest.New(t, trace.WithMaxSpan(1000))
	tracer, provider := newTracer(t, client, traceotel.NoIndicators())
	_, span := tracer.Start(context.Background(), "server", oteltrace.WithSpanKind(oteltrace.SpanKindServer))
	span.AddEvent(strings.Repeat("long", 500))
	span.End()
	got := recorder.Span("server").HasNoTag("events").HasTag("otel.events_and_links_dropped", "true")
	require.False(t, got.Indicator)

	exporter := traceotel.New(client)
	_, span = tracer.Start(context.Background(), "large", oteltrace.WithAttributes(attribute.String("long", strings.Repeat("long", 500))))
	span.End()
	err := exporter.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{span.(sdktrace.ReadOnlySpan)})
	require.ErrorIs(t, err, trace.ReasonTooLarge)
	require.ErrorContains(t, err, "1 of 1 spans dropped")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, exporter.ExportSpans(ctx, []sdktrace.ReadOnlySpan{span.(sdktrace.ReadOnlySpan)}), context.Canceled)
	require.NoError(t, exporter.ForceFlush(t.Context()))
	require.NoError(t, exporter.Shutdown(t.Context()))
	require.NoError(t, exporter.Shutdown(t.Context()))
	require.NoError(t, exporter.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{span.(sdktrace.ReadOnlySpan)}))
	require.NoError(t, provider.Shutdown(t.Context()))

	none := traceotel.New(nil)
	require.NoError(t, none.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{span.(sdktrace.ReadOnlySpan)}))
	require.NoError(t, none.Shutdown(t.Context()))
}

// A daemon writes down the spans of an SDK as they were.
func TestDaemonGetsEverything(t *testing.T) {
	spans := filepath.Join(t.TempDir(), "spans")
	d := servertest.Start(t, `
interval: 1h
ssf_listen_addresses: ["unix://${DIR}/s"]
span_sinks: [{kind: localfile, name: out, config: {path: `+spans+`}}]`)
	client, err := trace.NewClient("unix://" + d.Addr("SSF", "unix://"))
	require.NoError(t, err)
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(traceotel.New(client)),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "api"))))
	tracer := provider.Tracer("")
	parents := map[string]string{}
	for i := range 20 {
		ctx, root := tracer.Start(context.Background(), fmt.Sprint("root ", i))
		_, child := tracer.Start(ctx, fmt.Sprint("child ", i), oteltrace.WithAttributes(attribute.Int("i", i)))
		child.SetStatus(codes.Error, "broken")
		child.End()
		root.End()
		rid := root.SpanContext().SpanID()
		parents[fmt.Sprint("child ", i)] = fmt.Sprint(id(rid[:]))
	}
	require.NoError(t, provider.Shutdown(t.Context()))
	require.NoError(t, client.Close(t.Context()))
	d.Await(40, "ingest.spans")
	require.NoError(t, d.Stop())
	got := servertest.Records(t, spans)
	require.Len(t, got, 40)
	for _, r := range got {
		require.Equal(t, "api", r.Service)
		if parent, ok := parents[r.Name]; ok {
			require.Equal(t, parent, r.ParentID)
			require.True(t, r.Error)
			require.Contains(t, string(r.Tags), `"error.msg":"broken"`)
			require.Contains(t, string(r.Tags), fmt.Sprintf(`"i":"%s"`, strings.TrimPrefix(r.Name, "child ")))
		} else {
			require.False(t, r.Error)
		}
	}
}
