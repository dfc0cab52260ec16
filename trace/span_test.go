package trace_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/veneurd/veneur/ssf"
	"github.com/veneurd/veneur/trace"
	"github.com/veneurd/veneur/trace/tracetest"
)

func TestSpanCarriesWhatWasSet(t *testing.T) {
	client, recorder := tracetest.New(t, trace.WithService("api"))
	span := client.StartTrace("request")
	require.True(t, span.Recording())
	span.SetTag("method", "GET")
	span.SetTag("status", "500")
	span.SetTag("status", "200")
	span.SetIndicator(true)
	span.Add(ssf.Count("bytes", 17, nil), ssf.Gauge("depth", 3, map[string]string{"a": "b"}))
	value, ok := span.Tag("status")
	require.True(t, ok)
	require.Equal(t, "200", value)
	span.Finish()
	require.False(t, span.Recording())

	got := recorder.Span("request").IsRoot().Succeeded().IsIndicator().OfService("api").
		HasTag("method", "GET").HasTag("status", "200").HasSample("bytes").HasSample("depth")
	require.Equal(t, span.TraceID(), got.TraceId)
	require.Equal(t, span.ID(), got.Id)
	require.Equal(t, got.TraceId, got.Id, "a root's id is that of its trace")
	require.Positive(t, got.Id)
	require.Len(t, got.Tags, 2)
	require.NoError(t, ssf.ValidateTrace(got.SSFSpan))
}

func TestSpanOptions(t *testing.T) {
	start, end := time.Unix(1_700_000_000, 5), time.Unix(1_700_000_001, 7)
	for _, tt := range []struct {
		name string
		set  func(trace.Span)
		want func(*tracetest.Span)
	}{
		{"another name", func(s trace.Span) { s.SetName("other") }, func(s *tracetest.Span) { require.Equal(t, "other", s.Name) }},
		{"another service", func(s trace.Span) { s.SetService("other") }, func(s *tracetest.Span) { s.OfService("other") }},
		{"an error", func(s trace.Span) { s.Error(errors.New("broken")) }, func(s *tracetest.Span) {
			s.Failed().HasTag("error.msg", "broken").HasTag("error.type", "*errors.errorString")
		}},
		{"an error that is no UTF-8", func(s trace.Span) { s.Error(errors.New("no user \xff")) }, func(s *tracetest.Span) {
			s.HasTag("error.msg", "no user \uFFFD")
			require.NoError(t, ssf.ValidateTrace(s.SSFSpan))
		}},
		{"no error", func(s trace.Span) { s.Error(nil) }, func(s *tracetest.Span) { s.Succeeded().HasNoTag("error.msg") }},
		{"a failure", func(s trace.Span) { s.SetError(true) }, func(s *tracetest.Span) { s.Failed() }},
		{"no failure", func(s trace.Span) { s.SetError(true); s.SetError(false) }, func(s *tracetest.Span) { s.Succeeded() }},
		{"times of its own", func(s trace.Span) { s.SetStart(start); s.FinishAt(end) }, func(s *tracetest.Span) {
			require.Equal(t, []int64{start.UnixNano(), end.UnixNano()}, []int64{s.StartTimestamp, s.EndTimestamp})
		}},
		{"more tags than are free", func(s trace.Span) {
			for i := range 100 {
				s.SetTag(fmt.Sprint(i), fmt.Sprint(-i))
			}
		}, func(s *tracetest.Span) {
			require.Len(t, s.Tags, 100)
			s.HasTag("99", "-99").HasTag("0", "0")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, recorder := tracetest.New(t)
			span := client.StartTrace("span")
			tt.set(span)
			if span.Recording() {
				span.Finish()
			}
			// What a span grew to must not show in the next one.
			client.StartTrace("next").Finish()
			recorder.Span("next").OfService("").Succeeded().HasNoTag("0")
			for _, s := range recorder.Spans() {
				if s.Name != "next" {
					tt.want(recorder.Span(s.Name))
				}
			}
		})
	}
}

func TestChildren(t *testing.T) {
	client, recorder := tracetest.New(t)
	root, ctx := client.StartSpanFromContext(context.Background(), "root")
	child, ctx := trace.StartSpanFromContext(ctx, "child")
	require.Equal(t, child, trace.FromContext(ctx))
	grandchild := trace.StartChildSpan(child, "grandchild")
	root.Finish()
	child.Finish()
	grandchild.Finish()
	child.StartChild("late").Finish() // its parent is over

	recorder.HasSpans("root", "child", "grandchild", "late")
	recorder.Span("root").IsRoot()
	recorder.Span("child").ChildOf("root")
	recorder.Span("grandchild").ChildOf("child")
	recorder.Span("late").ChildOf("child")
}

func TestSpansWithoutClient(t *testing.T) {
	client, recorder := tracetest.New(t)

	var none *trace.Client
	require.Equal(t, trace.Span{}, none.StartTrace("nothing"))
	span, ctx := none.StartSpanFromContext(t.Context(), "nothing")
	require.Equal(t, trace.Span{}, span)
	require.Equal(t, t.Context(), ctx)
	require.Equal(t, trace.Span{}, trace.FromContext(ctx))
	span.SetTag("a", "b")
	span.Add(ssf.Count("a", 1, nil))
	span.Error(errors.New("a"))
	span.Finish()
	span.Finish()

	trace.StartTrace("lost").Finish()
	trace.StartTrace("given").ClientFinish(client)
	trace.StartTrace("to nobody").ClientFinish(nil)
	trace.StartChildSpan(trace.Span{}, "root of its own").ClientFinish(client)
	fromContext, _ := trace.StartSpanFromContext(client.Attach(t.Context()), "of the context")
	fromContext.Finish()
	recorder.HasSpans("given", "root of its own", "of the context")
	recorder.Span("root of its own").IsRoot()
	recorder.Span("of the context").IsRoot()
}

func TestContextPassesOn(t *testing.T) {
	type key struct{}
	client, _ := tracetest.New(t)
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "v"))
	span, ctx := client.StartSpanFromContext(ctx, "span")
	defer span.Finish()
	outer := context.WithValue(ctx, new(int), "w")
	require.Equal(t, "v", outer.Value(key{}))
	require.Equal(t, span, trace.FromContext(outer))
	cancel()
	require.ErrorIs(t, outer.Err(), context.Canceled)
}

func TestRemoteParent(t *testing.T) {
	client, recorder := tracetest.New(t)
	remote := trace.SpanContext{TraceID: -5, SpanID: 7, TraceIDHigh: 0xabc, Sampling: trace.NotSampled, State: "a=b"}
	span := client.StartFrom(remote, "in")
	child := span.StartChild("out")
	got := child.Context()
	require.Equal(t, child.ID(), got.SpanID)
	got.SpanID = remote.SpanID
	require.Equal(t, remote, got, "everything but the id of the span is passed on")
	child.Finish()
	span.Finish()
	in := recorder.Span("in").HasTag(trace.TagTraceID128, "0000000000000abcfffffffffffffffb")
	require.Equal(t, []int64{-5, 7}, []int64{in.TraceId, in.ParentId})
	recorder.Span("out").ChildOf("in").HasNoTag(trace.TagTraceID128)

	client.StartFrom(trace.SpanContext{SpanID: 1}, "invalid").Finish()
	recorder.Span("invalid").IsRoot()
}

// A step of the wall clock changes no duration: a span ends by the clock it started by.
func TestSpanIsAsLongAsItTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, recorder := tracetest.New(t)
		span, alone := client.StartTrace("long"), trace.StartTrace("alone")
		time.Sleep(90 * time.Second)
		late := client.StartTrace("late")
		start := time.Now()
		time.Sleep(time.Millisecond)
		span.Finish()
		late.Finish()
		alone.ClientFinish(client)
		for name, want := range map[string]time.Duration{
			"long": 90*time.Second + time.Millisecond, "alone": 90*time.Second + time.Millisecond, "late": time.Millisecond,
		} {
			d, _ := recorder.Span(name).Duration()
			require.Equal(t, want, d, name)
		}
		require.Equal(t, start.UnixNano(), recorder.Span("late").StartTimestamp)
	})
}

// Many goroutines on one span, one of which finishes it, while others take spans from the pool: nothing may reach a span it was not meant for.
func TestStaleHandlesTouchNothing(t *testing.T) {
	if invariantsEnabled {
		t.Log("such use panics with invariants")
		return
	}
	client, recorder := tracetest.New(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 500 {
				shared := client.StartTrace("shared")
				var users sync.WaitGroup
				for range 3 {
					users.Go(func() {
						for range 5 {
							shared.SetTag("for", "shared")
							shared.SetName("shared")
							shared.Add(ssf.Count("shared", 1, nil))
						}
						shared.Finish()
					})
				}
				own := client.StartTrace("own")
				own.SetTag("for", "own")
				own.Finish()
				users.Wait()
			}
		})
	}
	wg.Wait()
	names := map[string]int{}
	for _, span := range recorder.Spans() {
		names[span.Name]++
		if value, ok := span.Tag("for"); ok {
			require.Equal(t, span.Name, value)
		}
		require.True(t, span.Name == "shared" || len(span.Metrics) == 0)
	}
	require.Equal(t, map[string]int{"shared": 2000, "own": 2000}, names)
}

func TestAnotherClientTakesOver(t *testing.T) {
	first, firstRecorder := tracetest.New(t)
	second, secondRecorder := tracetest.New(t)
	remote := first.StartFrom(trace.SpanContext{TraceID: 5, SpanID: 7, TraceIDHigh: 9, State: "a=b"}, "remote")
	child, ctx := second.StartSpanFromContext(remote.Attach(t.Context()), "child")
	require.Equal(t, second, child.Client())
	require.Equal(t, "a=b", child.Context().State)
	require.EqualValues(t, 9, trace.FromContext(ctx).Context().TraceIDHigh)
	local, _ := second.StartSpanFromContext(first.StartTrace("local").Attach(t.Context()), "grandchild")
	require.Equal(t, second, local.Client())
	local.Finish()
	child.Finish()
	remote.Finish()
	firstRecorder.HasSpans("remote")
	secondRecorder.HasSpans("child", "grandchild")
	require.Equal(t, remote.ID(), secondRecorder.Span("child").ParentId)
}
