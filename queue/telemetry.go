package queue

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// scope is the name of the tracer and the meter.
const scope = "github.com/postroom-go/postroom/queue"

// Attribute keys. Those that begin with messaging and exception are OpenTelemetry's.
const (
	keyType      = attribute.Key("postroom.job.type")
	keyOutcome   = attribute.Key("postroom.job.outcome")
	keyAttempt   = attribute.Key("postroom.job.attempt")
	keyWait      = attribute.Key("postroom.job.wait")
	keyNode      = attribute.Key("postroom.flow.node")
	keySequence  = attribute.Key("postroom.sequence")
	keySystem    = attribute.Key("messaging.system")
	keyOperation = attribute.Key("messaging.operation.type")
	keyQueue     = attribute.Key("messaging.destination.name")
	keyMessageID = attribute.Key("messaging.message.id")
	keyClientID  = attribute.Key("messaging.client.id")
	keyStack     = attribute.Key("exception.stacktrace")
)

// Outcomes of attempts, beside the kinds in which they end.
const (
	outcomeRetried  = "retried"
	outcomeCanceled = "canceled"
	outcomeLost     = "lost"
)

var outcomes = []string{KindCompleted, KindFailed, KindInterrupted, KindCrashed, KindWaiting, outcomeRetried,
	outcomeCanceled, outcomeLost}

// A telemetry reports to OpenTelemetry. Without an SDK each of its calls ends at a nil pointer. Attributes are made
// once for each job type and outcome.
type telemetry struct {
	tracer   trace.Tracer
	children bool

	enqueued, claimed, ended metric.Int64Counter
	running                  metric.Int64UpDownCounter
	duration, wait           metric.Float64Histogram

	mu    sync.RWMutex
	types map[string]*typeAttributes
}

// attributes are the attributes of a measurement.
type attributes struct {
	add    []metric.AddOption
	record []metric.RecordOption
}

type typeAttributes struct {
	attributes
	child    []trace.SpanStartOption
	root     []trace.SpanStartOption
	outcomes map[string]attributes
}

func newTelemetry(cfg *Config) (*telemetry, error) {
	tracers, meters := cfg.TracerProvider, cfg.MeterProvider
	if tracers == nil {
		tracers = otel.GetTracerProvider()
	}
	if meters == nil {
		meters = otel.GetMeterProvider()
	}
	t := &telemetry{tracer: tracers.Tracer(scope), children: cfg.ChildSpans, types: make(map[string]*typeAttributes)}
	m := meters.Meter(scope)
	var errs [6]error
	t.enqueued, errs[0] = m.Int64Counter("postroom.queue.enqueued", metric.WithUnit("{job}"),
		metric.WithDescription("Jobs stored, without duplicates"))
	t.claimed, errs[1] = m.Int64Counter("postroom.queue.claimed", metric.WithUnit("{job}"),
		metric.WithDescription("Jobs claimed by this process"))
	t.ended, errs[2] = m.Int64Counter("postroom.queue.ended", metric.WithUnit("{attempt}"),
		metric.WithDescription("Ends of attempts written by this process, and jobs it canceled, by outcome"))
	t.running, errs[3] = m.Int64UpDownCounter("postroom.queue.running", metric.WithUnit("{job}"),
		metric.WithDescription("Handlers that run"))
	t.duration, errs[4] = m.Float64Histogram("postroom.queue.handler.duration", metric.WithUnit("s"),
		metric.WithDescription("How long handlers ran, by what came of it"),
		metric.WithExplicitBucketBoundaries(.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800))
	t.wait, errs[5] = m.Float64Histogram("postroom.queue.wait", metric.WithUnit("s"),
		metric.WithDescription("How long jobs that were due waited for their handlers"),
		metric.WithExplicitBucketBoundaries(.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200,
			86400))
	return t, errors.Join(errs[:]...)
}

// counts reports whether anybody reads the counters that follow events.
func (t *telemetry) counts(ctx context.Context) bool {
	return t.ended.Enabled(ctx) || t.enqueued.Enabled(ctx)
}

// count follows events that have been committed.
func (t *telemetry) count(events []Event) {
	ctx := context.Background()
	for i := range events {
		e := &events[i]
		switch {
		case e.Kind == EventEnqueued:
			t.enqueued.Add(ctx, 1, t.of(e.JobType).add...)
		case e.Kind == EventCanceled:
			t.ended.Add(ctx, 1, t.of(e.JobType).outcomes[outcomeCanceled].add...)
		case e.Ended != "":
			t.ended.Add(ctx, 1, t.of(e.JobType).outcomes[outcomeOf(e.Kind == EventFailed, e.Ended)].add...)
		}
	}
}

func (t *telemetry) countClaimed(ctx context.Context, jobs []Job) {
	if !t.claimed.Enabled(ctx) {
		return
	}
	for i := range jobs {
		t.claimed.Add(ctx, 1, t.of(jobs[i].Type).add...)
	}
}

// begin opens the span of an attempt. Without an SDK it passes on the context the job was enqueued in.
func (t *telemetry) begin(ctx context.Context, job *Job, now time.Time) (context.Context, trace.Span) {
	attrs := t.of(job.Type)
	wait := max(0, now.Sub(job.NotBefore)).Seconds()
	t.running.Add(ctx, 1, attrs.add...)
	t.wait.Record(ctx, wait, attrs.record...)

	opts := attrs.root
	if remote := parseTraceParent(job.TraceParent); remote.IsValid() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, remote)
		if opts = attrs.child; !t.children {
			opts = slices.Concat(attrs.root, []trace.SpanStartOption{trace.WithLinks(trace.Link{SpanContext: remote})})
		}
	}
	ctx, span := t.tracer.Start(ctx, "queue.job", opts...)
	if span.IsRecording() {
		span.SetAttributes(keyMessageID.String(job.ID), keyClientID.String(job.WorkerID), keyAttempt.Int(job.Attempt),
			keyWait.Float64(wait))
		if job.Node != "" {
			span.SetAttributes(keyNode.String(job.Node))
		}
		if job.Sequence != "" {
			span.SetAttributes(keySequence.String(job.Sequence))
		}
	}
	return ctx, span
}

// end ends the span that begin started, if the handler was called.
func (t *telemetry) end(e *entry, out *driver.Outcome) {
	span := e.attempt.span
	if span == nil {
		return
	}
	outcome := outcomeOf(out.State == StateFailed, out.Kind)
	if out.State != StateCompleted && !e.attempt.completed.Load() {
		switch cause := context.Cause(e.ctx); {
		case errors.Is(cause, ErrCanceled):
			outcome = outcomeCanceled
		case errors.Is(cause, ErrLeaseLost):
			outcome = outcomeLost
		}
	}
	attrs := t.of(e.attempt.job.Type)
	t.running.Add(e.ctx, -1, attrs.add...)
	t.duration.Record(e.ctx, e.attempt.q.now().Sub(e.attempt.began).Seconds(), attrs.outcomes[outcome].record...)
	if span.IsRecording() {
		span.SetAttributes(keyOutcome.String(outcome))
		if outcome == KindFailed || outcome == outcomeRetried {
			span.SetStatus(codes.Error, out.Error)
		}
		if out.Stack != "" {
			span.AddEvent("exception", trace.WithAttributes(keyStack.String(out.Stack)))
		}
	}
	span.End()
}

// outcomeOf returns the word for the outcome of an attempt.
func outcomeOf(forGood bool, kind string) string {
	switch {
	case forGood:
		return KindFailed
	case kind == KindFailed:
		return outcomeRetried
	}
	return kind
}

// of are the attributes of a type of job. Types are names in a program, not data: there are few.
func (t *telemetry) of(jobType string) *typeAttributes {
	t.mu.RLock()
	a := t.types[jobType]
	t.mu.RUnlock()
	if a != nil {
		return a
	}
	a = newTypeAttributes(jobType)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.types[jobType] = a
	return a
}

func newTypeAttributes(jobType string) *typeAttributes {
	name := keyType.String(jobType)
	a := &typeAttributes{attributes: measured(name), outcomes: make(map[string]attributes)}
	for _, outcome := range outcomes {
		a.outcomes[outcome] = measured(name, keyOutcome.String(outcome))
	}
	a.child = []trace.SpanStartOption{
		trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithAttributes(name, keySystem.String("postroom"), keyOperation.String("process"),
			keyQueue.String(jobType)),
	}
	a.root = slices.Concat(a.child, []trace.SpanStartOption{trace.WithNewRoot()})
	return a
}

func measured(attrs ...attribute.KeyValue) attributes {
	set := metric.WithAttributeSet(attribute.NewSet(attrs...))
	return attributes{add: []metric.AddOption{set}, record: []metric.RecordOption{set}}
}

// traced returns ctx with the span of the attempt, so that later log lines belong to it.
func (a *Attempt) traced(ctx context.Context) context.Context {
	if sc := a.spanContext.Load(); sc != nil {
		return trace.ContextWithSpanContext(ctx, *sc)
	}
	return ctx
}

// traceParent is the W3C form of ctx's span, as it is stored with a job; empty without one. The trace state, which
// belongs to tracing vendors, is not kept.
func traceParent(ctx context.Context) string {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier["traceparent"]
}

// parseTraceParent answers text of any origin that is no trace context with an invalid one.
func parseTraceParent(s string) trace.SpanContext {
	if s == "" {
		return trace.SpanContext{}
	}
	ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": s})
	return trace.SpanContextFromContext(ctx)
}
