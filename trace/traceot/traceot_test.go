package traceot_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/opentracing/opentracing-go"
	"github.com/opentracing/opentracing-go/ext"
	"github.com/opentracing/opentracing-go/harness"
	"github.com/opentracing/opentracing-go/log"
	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/internal/leaktest"
	"github.com/veneurd/veneur/trace"
	"github.com/veneurd/veneur/trace/propagation"
	"github.com/veneurd/veneur/trace/traceot"
	"github.com/veneurd/veneur/trace/tracetest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// probe tells the harness what is the same, by what goes over the wire.
type probe struct{}

func ids(sc opentracing.SpanContext) trace.SpanContext {
	h := http.Header{}
	client, err := trace.NewBackendClient(tracetest.NewRecorder(nil))
	if err != nil {
		panic(err)
	}
	defer client.Close(context.Background())
	if err := traceot.New(client).Inject(sc, opentracing.HTTPHeaders, opentracing.HTTPHeadersCarrier(h)); err != nil {
		panic(err)
	}
	got, _ := propagation.Extract(h.Values)
	return got
}

func (probe) SameTrace(first, second opentracing.Span) bool {
	return ids(first.Context()).TraceID == ids(second.Context()).TraceID
}

func (probe) SameSpanContext(span opentracing.Span, sc opentracing.SpanContext) bool {
	return ids(span.Context()) == ids(sc)
}

// OpenTracing's own tests of a tracer.
func TestHarness(t *testing.T) {
	harness.RunAPIChecks(t, func() (opentracing.Tracer, func()) {
		client, err := trace.NewBackendClient(tracetest.NewRecorder(t))
		require.NoError(t, err)
		return traceot.New(client), func() { _ = client.Close(context.Background()) }
	}, harness.CheckEverything(), harness.UseProbe(probe{}))
}

func TestSpans(t *testing.T) {
	client, recorder := tracetest.New(t, trace.WithService("api"))
	tracer := traceot.New(client)
	start := time.Now().Add(-time.Hour)
	root := tracer.StartSpan("root", opentracing.StartTime(start), opentracing.Tag{Key: "n", Value: 5}, ext.SpanKindRPCServer)
	root.SetTag("bool", true).SetTag("text", "x").SetTag("err", errors.New("y"))
	child := tracer.StartSpan("child", opentracing.ChildOf(root.Context()))
	child.SetOperationName("renamed")
	ext.Error.Set(child, true)
	follower := tracer.StartSpan("follower", opentracing.FollowsFrom(root.Context()), opentracing.ChildOf(child.Context()))
	follower.LogFields(log.Event("error"), log.Message("broken"))
	follower.Finish()
	child.FinishWithOptions(opentracing.FinishOptions{FinishTime: time.Unix(2_000_000_000, 0), LogRecords: []opentracing.LogRecord{
		{Fields: []log.Field{log.Error(errors.New("worse"))}},
	}})
	root.Finish()
	root.Finish()
	root.SetTag("late", "x")
	root.SetOperationName("late")

	recorder.HasSpans("root", "renamed", "follower")
	got := recorder.Span("root").IsRoot().Succeeded().OfService("api").HasTag("n", "5").HasTag("bool", "true").
		HasTag("text", "x").HasTag("err", "y").HasTag("span.kind", "server").HasNoTag("late")
	require.Equal(t, start.UnixNano(), got.StartTimestamp)
	renamed := recorder.Span("renamed").ChildOf("root").Failed().HasTag("error.msg", "worse")
	require.Equal(t, time.Unix(2_000_000_000, 0).UnixNano(), renamed.EndTimestamp)
	recorder.Span("follower").ChildOf("root").Failed().HasTag("error.msg", "broken")
}

// asker is a value that looks at the span it is a tag of.
type asker struct{ span opentracing.Span }

func (a asker) String() string { return a.span.BaggageItem("user") }

type broken struct{ text string }

func (b *broken) Error() string { return b.text }

func TestTagsWithCodeOfTheirOwn(t *testing.T) {
	client, recorder := tracetest.New(t)
	span := traceot.New(client).StartSpan("span")
	span.SetBaggageItem("user", "alice")
	span.SetTag("asker", asker{span}).SetTag("nil", (*broken)(nil)).SetTag("err", &broken{"y"})
	span.Finish()
	recorder.Span("span").HasTag("asker", "alice").HasTag("nil", "<nil>").HasTag("err", "y")
}

func TestContextsMix(t *testing.T) {
	client, recorder := tracetest.New(t)
	tracer := traceot.New(client)
	theirs := tracer.StartSpan("theirs")
	ctx := opentracing.ContextWithSpan(context.Background(), theirs)
	ours, ctx := trace.StartSpanFromContext(ctx, "ours")
	wrapped := traceot.Wrap(tracer, ours)
	under := tracer.StartSpan("under", opentracing.ChildOf(wrapped.Context()))
	under.Finish()
	wrapped.Finish()
	theirs.Finish()
	require.NotNil(t, opentracing.SpanFromContext(ctx))
	recorder.Span("ours").ChildOf("theirs")
	recorder.Span("under").ChildOf("ours")
	require.Equal(t, opentracing.NoopTracer{}, traceot.Wrap(tracer, trace.Span{}).Tracer())
	require.Equal(t, opentracing.NoopTracer{}, traceot.New(nil))
}

func TestCarriers(t *testing.T) {
	client, recorder := tracetest.New(t)
	tracer := traceot.New(client, traceot.Write(propagation.Veneur), traceot.Read(propagation.Veneur))
	outer := tracer.StartSpan("outer")
	outer.SetBaggageItem("user", "a b&c")
	for name, format := range map[string]struct{ format, carrier any }{
		"text":   {opentracing.TextMap, opentracing.TextMapCarrier{}},
		"http":   {opentracing.HTTPHeaders, opentracing.HTTPHeadersCarrier{}},
		"binary": {opentracing.Binary, new(bytes.Buffer)},
	} {
		require.NoError(t, tracer.Inject(outer.Context(), format.format, format.carrier))
		sc, err := tracer.Extract(format.format, format.carrier)
		require.NoError(t, err)
		inner := tracer.StartSpan(name, opentracing.ChildOf(sc))
		require.Equal(t, "a b&c", inner.BaggageItem("user"))
		inner.Finish()
		if h, ok := format.carrier.(opentracing.HTTPHeadersCarrier); ok {
			require.Equal(t, "a+b%26c", http.Header(h).Get("ot-baggage-user"))
			require.NotEmpty(t, http.Header(h).Get("Traceid"))
		}
	}
	outer.Finish()
	for _, name := range []string{"text", "http", "binary"} {
		recorder.Span(name).ChildOf("outer")
	}
	for name, tt := range map[string]struct {
		format, carrier any
		err             error
	}{
		"nothing in text":   {opentracing.TextMap, opentracing.TextMapCarrier{}, opentracing.ErrSpanContextNotFound},
		"nothing in binary": {opentracing.Binary, new(bytes.Buffer), opentracing.ErrSpanContextNotFound},
		"rubbish":           {opentracing.Binary, bytes.NewBufferString("\xff\xff"), opentracing.ErrSpanContextCorrupted},
		"too much":          {opentracing.Binary, bytes.NewReader(make([]byte, 1<<20)), opentracing.ErrSpanContextCorrupted},
		"no reader":         {opentracing.Binary, 5, opentracing.ErrInvalidCarrier},
		"no map":            {opentracing.HTTPHeaders, 5, opentracing.ErrInvalidCarrier},
		"no format":         {"x", 5, opentracing.ErrUnsupportedFormat},
	} {
		_, err := tracer.Extract(tt.format, tt.carrier)
		require.ErrorIs(t, err, tt.err, name)
	}
}
