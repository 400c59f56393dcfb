package queue_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// A watched queue is one whose spans and metrics are kept.
type watched struct {
	*queue.Queue
	spans   *tracetest.SpanRecorder
	tracer  trace.Tracer
	metrics *sdkmetric.ManualReader
}

func watch(t *testing.T, driver driver.Driver, cfg queue.Config) *watched {
	t.Helper()
	w := &watched{spans: tracetest.NewSpanRecorder(), metrics: sdkmetric.NewManualReader()}
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(w.spans))
	w.tracer = tracers.Tracer("test")
	cfg.TracerProvider, cfg.MeterProvider = tracers, sdkmetric.NewMeterProvider(sdkmetric.WithReader(w.metrics))
	w.Queue = on(t, driver, &cfg)
	return w
}

// ended are the spans of jobs, in the order they ended in.
func (w *watched) ended() (spans []sdktrace.ReadOnlySpan) {
	for _, s := range w.spans.Ended() {
		if s.Name() == "queue.job" {
			spans = append(spans, s)
		}
	}
	return spans
}

// count sums the points of a metric that have the attributes; of histograms, how often they were recorded to.
func (w *watched) count(t *testing.T, name string, attrs ...attribute.KeyValue) (n int64) {
	t.Helper()
	want := attribute.NewSet(attrs...)
	switch data := w.metric(t, name).Data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range data.DataPoints {
			if p.Attributes.Equals(&want) {
				n += p.Value
			}
		}
	case metricdata.Histogram[float64]:
		for _, p := range data.DataPoints {
			if p.Attributes.Equals(&want) {
				n += int64(p.Count)
			}
		}
	default:
		t.Fatalf("%s is a %T", name, data)
	}
	return n
}

func (w *watched) sum(t *testing.T, name string) (seconds float64) {
	t.Helper()
	for _, p := range w.metric(t, name).Data.(metricdata.Histogram[float64]).DataPoints {
		seconds += p.Sum
	}
	return seconds
}

func (w *watched) metric(t *testing.T, name string) metricdata.Metrics {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, w.metrics.Collect(t.Context(), &all))
	for _, scope := range all.ScopeMetrics {
		require.Equal(t, "github.com/postroom-go/postroom/queue", scope.Scope.Name)
		for _, m := range scope.Metrics {
			if m.Name == name {
				return m
			}
		}
	}
	t.Fatalf("nobody has recorded %s", name)
	return metricdata.Metrics{}
}

func value(t *testing.T, s sdktrace.ReadOnlySpan, key string) attribute.Value {
	t.Helper()
	for _, a := range s.Attributes() {
		if string(a.Key) == key {
			return a.Value
		}
	}
	t.Fatalf("the span has no %s: %v", key, s.Attributes())
	return attribute.Value{}
}

var typePing = attribute.String("postroom.job.type", string(ping))

func outcome(word string) attribute.KeyValue {
	return attribute.String("postroom.job.outcome", word)
}

func TestEachAttemptIsASpan(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		w := watch(t, q.DB().Driver(), queue.Config{Retry: exactRetry})
		ctx, request := w.tracer.Start(t.Context(), "request")
		enqueued, err := w.Enqueue(ctx, ping.New(1, nil))
		require.NoError(t, err)
		request.End()
		work(t, w.Queue, func(ctx context.Context, w *queue.Work[int]) error {
			time.Sleep(time.Second)
			switch w.Job.Attempt {
			case 1:
				return errors.New("no")
			case 2:
				panic("oh")
			case 3:
				return queue.Defer(nil, 0)
			}
			return w.Complete(ctx, nil)
		})

		spans := w.ended()
		require.Len(t, spans, 4)
		for i, s := range spans {
			require.Equal(t, trace.SpanKindConsumer, s.SpanKind())
			require.False(t, s.Parent().IsValid(), "a trace of its own")
			require.NotEqual(t, request.SpanContext().TraceID(), s.SpanContext().TraceID())
			require.Len(t, s.Links(), 1)
			require.Equal(t, request.SpanContext().TraceID(), s.Links()[0].SpanContext.TraceID())
			require.Equal(t, request.SpanContext().SpanID(), s.Links()[0].SpanContext.SpanID())
			require.Equal(t, time.Second, s.EndTime().Sub(s.StartTime()))
			require.Equal(t, "postroom", value(t, s, "messaging.system").AsString())
			require.Equal(t, "process", value(t, s, "messaging.operation.type").AsString())
			require.Equal(t, "ping", value(t, s, "messaging.destination.name").AsString())
			require.Equal(t, enqueued.ID, value(t, s, "messaging.message.id").AsString())
			require.NotEmpty(t, value(t, s, "messaging.client.id").AsString())
			require.Equal(t, "ping", value(t, s, "postroom.job.type").AsString())
			require.EqualValues(t, i+1, value(t, s, "postroom.job.attempt").AsInt64())
			require.GreaterOrEqual(t, value(t, s, "postroom.job.wait").AsFloat64(), 0.0)
		}
		for i, want := range []string{"retried", "retried", "interrupted", "completed"} {
			require.Equal(t, want, value(t, spans[i], "postroom.job.outcome").AsString())
		}
		require.Equal(t, sdktrace.Status{Code: codes.Error, Description: "no"}, spans[0].Status())
		require.Empty(t, spans[0].Events())
		require.Equal(t, codes.Error, spans[1].Status().Code)
		require.Equal(t, "exception", spans[1].Events()[0].Name)
		require.Equal(t, codes.Unset, spans[2].Status().Code)
		require.Equal(t, codes.Unset, spans[3].Status().Code)
	})
}

func TestChildSpans(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		w := watch(t, q.DB().Driver(), queue.Config{ChildSpans: true})
		ctx, request := w.tracer.Start(t.Context(), "request")
		defer request.End()
		_, err := w.Enqueue(ctx, ping.New(1, nil))
		require.NoError(t, err)
		enqueue(t, w.Queue, nil) // outside a span: a trace of its own
		work(t, w.Queue, func(ctx context.Context, work *queue.Work[int]) error {
			if work.Payload == 1 && work.Job.TraceParent != "" {
				_, err := work.Queue().Enqueue(ctx, ping.New(2, nil))
				return err
			}
			return nil
		})
		parents := make(map[trace.SpanID]trace.SpanContext)
		for _, s := range w.ended() {
			require.Empty(t, s.Links())
			parents[s.Parent().SpanID()] = s.SpanContext()
		}
		require.Len(t, parents, 3)
		first, ok := parents[request.SpanContext().SpanID()]
		require.True(t, ok)
		require.Equal(t, request.SpanContext().TraceID(), first.TraceID())
		second, ok := parents[first.SpanID()]
		require.True(t, ok, "what a handler enqueues descends from its span")
		require.Equal(t, request.SpanContext().TraceID(), second.TraceID())
		require.NotEqual(t, request.SpanContext().TraceID(), parents[trace.SpanID{}].TraceID())
	})
}

func TestTraceContextIsStored(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		id, err := trace.TraceIDFromHex("0af7651916cd43dd8448eb211c80319c")
		require.NoError(t, err)
		span, err := trace.SpanIDFromHex("b7ad6b7169203331")
		require.NoError(t, err)
		ctx := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: id, SpanID: span, TraceFlags: trace.FlagsSampled,
		}))
		traced, err := q.Enqueue(ctx, ping.New(1, nil))
		require.NoError(t, err)
		require.Equal(t, parent, job(t, q, traced.ID).TraceParent)
		require.Empty(t, job(t, q, enqueue(t, q, nil)).TraceParent)
	})
}

func TestTraceContextSurvivesTheProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "jobs.db")
	open := func() (*sqlite.DB, *watched) {
		db, err := sqlite.Open(t.Context(), file, nil)
		require.NoError(t, err)
		require.NoError(t, queue.Migrate(t.Context(), db))
		return db, watch(t, db.Driver(), queue.Config{})
	}
	db, w := open()
	ctx, request := w.tracer.Start(t.Context(), "request")
	defer request.End()
	_, err := w.Enqueue(ctx, ping.New(1, nil))
	require.NoError(t, err)
	require.NoError(t, db.Close())

	db, w = open()
	work(t, w.Queue, func(context.Context, *queue.Work[int]) error { return nil })
	require.NoError(t, db.Close())
	require.Equal(t, request.SpanContext().SpanID(), w.ended()[0].Links()[0].SpanContext.SpanID())
}

// The context that a dispatcher runs in lives as long as the program: no job belongs to its span.
func TestSpanOfTheDispatcherIsNobodysParent(t *testing.T) {
	for _, children := range []bool{false, true} {
		bubble(t, func(t *testing.T, q *queue.Queue) {
			w := watch(t, q.DB().Driver(), queue.Config{ChildSpans: children})
			enqueue(t, w.Queue, nil)
			d, err := queue.NewDispatcher(w.Queue, nil)
			require.NoError(t, err)
			queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { return nil })
			ctx, service := w.tracer.Start(t.Context(), "service")
			require.NoError(t, d.RunUntilIdle(ctx))
			service.End()
			require.False(t, w.ended()[0].Parent().IsValid())
			require.Empty(t, w.ended()[0].Links())
		})
	}
}

// A program without an SDK sits between two that have one.
func TestTraceContextIsPassedOnWithoutAnSDK(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		sdk := watch(t, q.DB().Driver(), queue.Config{})
		ctx, request := sdk.tracer.Start(t.Context(), "request")
		defer request.End()
		_, err := sdk.Enqueue(ctx, ping.New(1, nil))
		require.NoError(t, err)
		var next queue.EnqueueResult
		work(t, q, func(ctx context.Context, w *queue.Work[int]) (err error) {
			if w.Payload == 1 {
				next, err = w.Queue().Enqueue(ctx, ping.New(2, nil))
			}
			return err
		})
		require.Contains(t, job(t, q, next.ID).TraceParent, request.SpanContext().SpanID().String())
	})
}

func TestMetrics(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		w := watch(t, q.DB().Driver(), queue.Config{Retry: exactRetry})
		// stored times are whole microseconds
		time.Sleep(time.Millisecond - time.Duration(time.Now().Nanosecond())%time.Millisecond)
		for range 3 {
			enqueue(t, w.Queue, &queue.Options{Key: queue.Forever("once")})
		}
		canceled := enqueue(t, w.Queue, nil)
		require.NoError(t, w.Cancel(t.Context(), canceled))
		_, err := w.EnqueueMany(t.Context(), []queue.NewJob{ping.New(2, nil), ping.New(3, nil)})
		require.NoError(t, err)
		require.EqualValues(t, 4, w.count(t, "postroom.queue.enqueued", typePing))

		time.Sleep(time.Minute)
		running := make(chan struct{})
		stop := start(t, w.Queue, nil, func(ctx context.Context, job *queue.Work[int]) error {
			<-running
			switch {
			case job.Payload == 1 && job.Job.Attempt == 1:
				return errors.New("no")
			case job.Payload == 2:
				return queue.Fatal(errors.New("never"))
			case job.Payload == 3:
				return job.Complete(ctx, nil)
			}
			return nil
		})
		synctest.Wait()
		require.EqualValues(t, 3, w.count(t, "postroom.queue.running", typePing))
		time.Sleep(time.Second)
		close(running)
		time.Sleep(time.Hour)
		require.NoError(t, stop())

		require.EqualValues(t, 4, w.count(t, "postroom.queue.claimed", typePing))
		require.EqualValues(t, 0, w.count(t, "postroom.queue.running", typePing))
		require.EqualValues(t, 2, w.count(t, "postroom.queue.ended", typePing, outcome("completed")))
		require.EqualValues(t, 1, w.count(t, "postroom.queue.ended", typePing, outcome("failed")))
		require.EqualValues(t, 1, w.count(t, "postroom.queue.ended", typePing, outcome("retried")))
		require.EqualValues(t, 1, w.count(t, "postroom.queue.ended", typePing, outcome("canceled")))
		require.EqualValues(t, 2, w.count(t, "postroom.queue.handler.duration", typePing, outcome("completed")))
		require.EqualValues(t, 1, w.count(t, "postroom.queue.handler.duration", typePing, outcome("failed")))
		require.EqualValues(t, 1, w.count(t, "postroom.queue.handler.duration", typePing, outcome("retried")))
		require.InDelta(t, 3, w.sum(t, "postroom.queue.handler.duration"), 1e-6)
		require.EqualValues(t, 4, w.count(t, "postroom.queue.wait", typePing))
		require.InDelta(t, 3*60, w.sum(t, "postroom.queue.wait"), 1e-3)
		for name, unit := range map[string]string{
			"postroom.queue.enqueued": "{job}", "postroom.queue.claimed": "{job}", "postroom.queue.ended": "{attempt}",
			"postroom.queue.running": "{job}", "postroom.queue.handler.duration": "s", "postroom.queue.wait": "s",
		} {
			require.Equal(t, unit, w.metric(t, name).Unit, name)
		}
	})
}

func TestWhatAHandlerReportsInVainIsCalledSo(t *testing.T) {
	for want, end := range map[string]func(ctx context.Context, w *queue.Work[int]) error{
		"canceled": func(ctx context.Context, w *queue.Work[int]) error {
			return w.Queue().Cancel(ctx, w.Job.ID)
		},
		"lost": func(ctx context.Context, w *queue.Work[int]) error {
			if err := queue.AttemptOf(w.Queue(), w.Job).Fail(ctx, queue.Defer(nil, 0)); err != nil {
				return err
			}
			_, err := w.Queue().Claim(ctx, "another", []string{w.Job.Type}, 1)
			return err
		},
	} {
		t.Run(want, func(t *testing.T) {
			bubble(t, func(t *testing.T, q *queue.Queue) {
				w := watch(t, q.DB().Driver(), queue.Config{})
				enqueue(t, w.Queue, nil)
				stop := start(t, w.Queue, &queue.DispatcherConfig{Lease: lease, Workers: 1},
					func(ctx context.Context, w *queue.Work[int]) error {
						if w.Job.Attempt > 1 {
							return nil
						}
						if err := end(ctx, w); err != nil {
							return err
						}
						return untilCanceled(ctx)
					})
				time.Sleep(time.Minute)
				require.NoError(t, stop())
				require.Equal(t, want, value(t, w.ended()[0], "postroom.job.outcome").AsString())
				require.Equal(t, codes.Unset, w.ended()[0].Status().Code)
				require.EqualValues(t, 1, w.count(t, "postroom.queue.handler.duration", typePing, outcome(want)))
				require.EqualValues(t, 0, w.count(t, "postroom.queue.running", typePing))
			})
		})
	}
}

// A logger's handler may ask the context of a line for its span: also of lines written when the handler has long
// returned.
func TestLogLinesKnowTheirSpan(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		var out bytes.Buffer
		logger := slog.New(spanHandler{slog.NewTextHandler(&out, nil)})
		w := watch(t, q.DB().Driver(), queue.Config{Logger: logger})
		enqueue(t, w.Queue, nil)
		work(t, w.Queue, func(context.Context, *queue.Work[int]) error { return queue.Fatal(errors.New("no")) })
		require.Regexp(t, `msg="job failed".* error=no span=`+w.ended()[0].SpanContext().SpanID().String(),
			out.String())
	})
}

type spanHandler struct{ slog.Handler }

func (h spanHandler) Handle(ctx context.Context, r slog.Record) error {
	if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
		r.AddAttrs(slog.String("span", sc.SpanID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

func TestSpansNameTheFlowAndTheSequence(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		w := watch(t, q.DB().Driver(), queue.Config{})
		_, err := w.Enqueue(t.Context(), ping.New(1, &queue.Options{Sequence: "customer:7"}))
		require.NoError(t, err)
		work(t, w.Queue, func(context.Context, *queue.Work[int]) error { return nil })
		require.Equal(t, "customer:7", value(t, w.ended()[0], "postroom.sequence").AsString())
	})
}
