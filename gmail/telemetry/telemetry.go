// Package telemetry reports the way of mail to OpenTelemetry, beside what package queue reports of all jobs: a span,
// and a measurement of its duration, for each message that is received, each that is classified, each action that is
// carried out or undone, and each answer of a person to a request for approval. Package pipeline does so with the
// providers of its queue.
//
// # Spans
//
//	email.receive   a message is fetched from Gmail and stored
//	email.classify  rules, or else a model, decide about it; inside email.receive if rules alone decide
//	email.action    an action is carried out, or undone
//	email.approval  from the request until a person has answered, or until nobody is asked any more
//
// Each is within the span queue.job of its attempt, but for email.approval, which nobody's job waits for. An attempt
// whose error ends its job has the status Error; what is tried again is the matter of the job's span.
//
// # Attributes
//
//	postroom.account.id           of the mailbox
//	postroom.message.id           of the stored message
//	postroom.message.provider_id  Gmail's, while it is received
//	postroom.action.id            of the action
//	postroom.action.kind *        such as archive; undo_archive for its undo
//	postroom.action.state *       after the attempt, such as completed; queued if it was put off
//	postroom.decision.source *    deterministic, llm, host or none
//	postroom.decision.rule        the name of the rule that decided
//	postroom.decision.model       the model that decided
//	postroom.decision.confidence  from 0 to 1
//	postroom.decision.count       how many decisions there are about the message; the others are of its first
//	postroom.approval.outcome *   approved, rejected or withdrawn
//
// Those with a star are also attributes of the measurements, which are histograms in seconds:
// postroom.email.receive.duration, and so on. No attribute has an address, a subject or a text. The text of an error,
// which the status has, may name a mailbox, as on the job's span.
package telemetry

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

const scope = "github.com/postroom-go/postroom/gmail/telemetry"

const (
	keyAccount    = attribute.Key("postroom.account.id")
	keyMessage    = attribute.Key("postroom.message.id")
	keyProvider   = attribute.Key("postroom.message.provider_id")
	keyAction     = attribute.Key("postroom.action.id")
	keyKind       = attribute.Key("postroom.action.kind")
	keyState      = attribute.Key("postroom.action.state")
	keySource     = attribute.Key("postroom.decision.source")
	keyRule       = attribute.Key("postroom.decision.rule")
	keyModel      = attribute.Key("postroom.decision.model")
	keyConfidence = attribute.Key("postroom.decision.confidence")
	keyCount      = attribute.Key("postroom.decision.count")
	keyOutcome    = attribute.Key("postroom.approval.outcome")
)

// A step is one on the way of mail.
type step string

const (
	receive  step = "email.receive"
	classify step = "email.classify"
	act      step = "email.action"
	approve  step = "email.approval"
)

// descriptions are those of the measurements.
var descriptions = map[step]string{
	receive:  "How long it took to fetch and store messages",
	classify: "How long it took to decide about messages",
	act:      "How long attempts of actions and undos took",
	approve:  "How long requests for approval waited for their answers",
}

// A Telemetry reports the way of mail. It is safe for concurrent use. [New] makes one.
type Telemetry struct {
	tracer    trace.Tracer
	durations map[step]metric.Float64Histogram
}

// New makes a telemetry that reports to the providers; nil means OpenTelemetry's global ones.
func New(tracers trace.TracerProvider, meters metric.MeterProvider) (*Telemetry, error) {
	if tracers == nil {
		tracers = otel.GetTracerProvider()
	}
	if meters == nil {
		meters = otel.GetMeterProvider()
	}
	t := &Telemetry{tracer: tracers.Tracer(scope), durations: make(map[step]metric.Float64Histogram)}
	var faults []error
	for s, description := range descriptions {
		bounds := []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}
		if s == approve {
			bounds = []float64{1, 10, 60, 300, 1800, 3600, 4 * 3600, 12 * 3600, 86400, 3 * 86400, 7 * 86400}
		}
		h, err := meters.Meter(scope).Float64Histogram("postroom."+string(s)+".duration", metric.WithUnit("s"),
			metric.WithDescription(description), metric.WithExplicitBucketBoundaries(bounds...))
		t.durations[s], faults = h, append(faults, err)
	}
	return t, errors.Join(faults...)
}

// heeded reports whether anybody sees what is reported in the context.
func (t *Telemetry) heeded(ctx context.Context, s step) bool {
	return trace.SpanFromContext(ctx).IsRecording() || t.durations[s].Enabled(ctx)
}

// A walked is a step that is under way.
type walked struct {
	*Telemetry
	step     step
	span     trace.Span
	began    time.Time
	measured []attribute.KeyValue
}

func (t *Telemetry) start(ctx context.Context, s step, began time.Time, ids ...attribute.KeyValue) (context.Context,
	*walked) {
	ctx, span := t.tracer.Start(ctx, string(s), trace.WithTimestamp(began), //nolint:spancheck // walked.end ends it
		trace.WithAttributes(ids...))
	return ctx, &walked{Telemetry: t, step: s, span: span, began: began} //nolint:spancheck // as above
}

// is adds attributes to the span and to the measurement.
func (w *walked) is(attrs ...attribute.KeyValue) {
	w.span.SetAttributes(attrs...)
	w.measured = append(w.measured, attrs...)
}

// decided adds the decisions about a message, of which the first is named.
func (w *walked) decided(made *decisions) {
	if made.count == 0 {
		return
	}
	d := made.first
	w.is(keySource.String(string(d.Source)), keyKind.String(string(d.Action)))
	w.span.SetAttributes(keyConfidence.Float64(d.Confidence), keyCount.Int(made.count))
	if d.RuleName != "" {
		w.span.SetAttributes(keyRule.String(d.RuleName))
	}
	if d.Model != "" {
		w.span.SetAttributes(keyModel.String(d.Model))
	}
}

// end ends the step; err is what has ended its job, if anything has.
func (w *walked) end(ctx context.Context, err error) {
	if err != nil {
		w.span.SetStatus(codes.Error, err.Error())
	}
	w.span.End()
	w.durations[w.step].Record(ctx, time.Since(w.began).Seconds(), metric.WithAttributes(w.measured...))
}

// Answered reports the answer to a request for approval, or its end without one, when the transaction is committed.
func (t *Telemetry) Answered(ctx context.Context, tx queue.Tx, request safety.Approval) {
	asked, answered := request.RequestedAt, request.DecidedAt
	if answered.IsZero() {
		answered = queue.Now(tx)
	}
	outcome := keyOutcome.String(string(request.Outcome))
	queue.OnCommit(tx, func() {
		ctx := context.WithoutCancel(ctx)
		_, span := t.tracer.Start(ctx, string(approve), trace.WithTimestamp(asked), trace.WithNewRoot(),
			trace.WithLinks(trace.LinkFromContext(ctx)), trace.WithAttributes(keyAction.String(request.ActionID), outcome))
		span.End(trace.WithTimestamp(answered))
		t.durations[approve].Record(ctx, answered.Sub(asked).Seconds(), metric.WithAttributes(outcome))
	})
}
