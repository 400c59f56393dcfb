package pipeline

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	metricsdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	tracesdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// watched are the spans and measurements of a pipeline.
type watched struct {
	*testing.T
	spans    *tracetest.SpanRecorder
	measures *metricsdk.ManualReader
}

func (w *watched) config() queue.Config {
	w.spans, w.measures = tracetest.NewSpanRecorder(), metricsdk.NewManualReader()
	return queue.Config{TracerProvider: tracesdk.NewTracerProvider(tracesdk.WithSpanProcessor(w.spans)),
		MeterProvider: metricsdk.NewMeterProvider(metricsdk.WithReader(w.measures))}
}

// ended returns the spans of a name, with those of their attributes whose values do not differ each time.
func (w *watched) ended(name string) (list []string) {
	for _, span := range w.spans.Ended() {
		if span.Name() != name {
			continue
		}
		var texts []string
		for _, a := range span.Attributes() {
			text := string(a.Key) + "=" + a.Value.String()
			if strings.HasSuffix(string(a.Key), ".id") || strings.HasSuffix(string(a.Key), "provider_id") {
				require.NotEmpty(w, a.Value.String())
				text = string(a.Key)
			}
			texts = append(texts, strings.TrimPrefix(text, "postroom."))
		}
		slices.Sort(texts)
		list = append(list, strings.Join(texts, " "))
	}
	slices.Sort(list)
	return list
}

// measured returns how often a duration was measured, by its attributes.
func (w *watched) measured(name string) map[string]uint64 {
	w.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(w, w.measures.Collect(w.Context(), &all))
	found := map[string]uint64{}
	for _, of := range all.ScopeMetrics {
		for _, m := range of.Metrics {
			if h, ok := m.Data.(metricdata.Histogram[float64]); ok && m.Name == name {
				for _, p := range h.DataPoints {
					found[p.Attributes.Encoded(attribute.DefaultEncoder())] += p.Count
				}
			}
		}
	}
	return found
}

// Seed 003 names the spans email.receive, email.classify, email.action and email.approval.
func TestTheWayOfMailIsReported(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		seen := &watched{T: t}
		p, action, shown := w.askedBy(Config{Queue: seen.config()})
		require.Equal(t, []string{"account.id message.provider_id"}, seen.ended("email.receive"))
		require.Equal(t, []string{"account.id action.kind=auto_reply decision.confidence=1 decision.count=1 decision.rule=Tea " +
			"decision.source=deterministic message.provider_id"}, seen.ended("email.classify"))
		require.Empty(t, seen.ended("email.action"))

		require.NoError(t, w.approve(p, shown))
		require.Equal(t, []string{"action.id approval.outcome=approved"}, seen.ended("email.approval"))
		approval := seen.spans.Ended()[slices.IndexFunc(seen.spans.Ended(), func(s tracesdk.ReadOnlySpan) bool {
			return s.Name() == "email.approval"
		})]
		require.WithinDuration(t, shown.RequestedAt, approval.StartTime(), 0)
		require.False(t, approval.EndTime().Before(approval.StartTime()))
		_, err := p.RunUntilIdle(t.Context())
		require.NoError(t, err)
		require.Contains(t, seen.ended("email.action"), "account.id action.id action.kind=auto_reply action.state=completed")
		require.Equal(t, uint64(1), seen.measured("postroom.email.action.duration")["postroom.action.kind=auto_reply,postroom.action.state=completed"])
		require.Equal(t, map[string]uint64{"": 2}, seen.measured("postroom.email.receive.duration"), "with what was sent")
		require.Equal(t, map[string]uint64{"postroom.action.kind=auto_reply,postroom.decision.source=deterministic": 1},
			seen.measured("postroom.email.classify.duration"))
		require.Equal(t, map[string]uint64{"postroom.approval.outcome=approved": 1},
			seen.measured("postroom.email.approval.duration"))
		for _, span := range seen.spans.Ended() {
			require.NotEqual(t, codes.Error, span.Status().Code, span.Name())
			for _, a := range span.Attributes() {
				require.NotContains(t, a.Value.String(), "@", "%s: an address", a.Key)
			}
		}
		require.NotEmpty(t, action.ID)
	})
}

// A step whose code panics has an end.
func TestAStepThatPanicsEnds(t *testing.T) {
	w, seen, asked := newWorld(t), &watched{T: t}, 0
	p := w.pipeline(Config{Queue: seen.config(),
		Model: func(*Pipeline) (postroom.Decider, error) {
			return postroom.DeciderFunc(func(context.Context, *postroom.Message) (postroom.Decision, error) {
				if asked++; asked == 1 {
					panic("no model")
				}
				return postroom.Decision{Action: postroom.Archive, Confidence: .75, Source: postroom.SourceModel, Model: "small",
					Rationale: "it is old"}, nil
			}), nil
		},
		Rules: func(context.Context, mailstore.Account) (*rulesfile.File, error) {
			return rulesfile.Parse("none.yaml", strings.NewReader("rules: []"))
		}})
	w.add(p, ada)
	w.deliver(ada, tea)
	_, err := p.RunUntilIdle(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, asked)
	require.Len(t, seen.ended("email.classify"), 2)
}

// What is rolled back was not answered.
func TestAnAnswerThatIsRolledBackIsNotReported(t *testing.T) {
	w, seen := newWorld(t), &watched{T: t}
	p, action, _ := w.askedBy(Config{Queue: seen.config()})
	reject := func(then error) error {
		return w.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			if _, err := p.Ledger.Reject(ctx, tx, action.ID, "ann", "no"); err != nil {
				return err
			}
			return then
		})
	}
	require.ErrorIs(t, reject(context.Canceled), context.Canceled)
	require.Empty(t, seen.ended("email.approval"))
	require.NoError(t, reject(nil))
	require.Equal(t, []string{"action.id approval.outcome=rejected"}, seen.ended("email.approval"))
}

// A model that decides is named, and so is what is undone; an attempt that ends its job has its error.
func TestModelsUndosAndFailuresAreReported(t *testing.T) {
	w, seen := newWorld(t), &watched{T: t}
	p := w.pipeline(Config{Queue: seen.config(),
		Model: func(*Pipeline) (postroom.Decider, error) {
			return postroom.DeciderFunc(func(context.Context, *postroom.Message) (postroom.Decision, error) {
				return postroom.Decision{Action: postroom.Archive, Confidence: .75, Source: postroom.SourceModel, Model: "small",
					Rationale: "it is old"}, nil
			}), nil
		},
		Rules: func(context.Context, mailstore.Account) (*rulesfile.File, error) {
			return rulesfile.Parse("none.yaml", strings.NewReader("rules: []"))
		}})
	id := w.add(p, ada)
	w.deliver(ada, tea)
	_, err := p.RunUntilIdle(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"account.id action.kind=archive decision.confidence=0.75 decision.count=1 decision.model=small " +
		"decision.source=llm message.id"}, seen.ended("email.classify"))
	done := w.actions(p, id)[0].Action
	_, err = p.Undoer.Request(t.Context(), done.ID)
	require.NoError(t, err)
	_, err = p.RunUntilIdle(t.Context())
	require.NoError(t, err)
	require.Contains(t, seen.ended("email.action"), "account.id action.id action.kind=undo_archive")

	w.deliver(ada, "From: eve@example.com\r\nSubject: More tea\r\n\r\n")
	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesModify, Status: 400, Reason: "invalidArgument"})
	_, err = p.RunUntilIdle(t.Context())
	require.NoError(t, err)
	require.Contains(t, seen.ended("email.action"), "account.id action.id action.kind=archive action.state=failed")
	require.True(t, slices.ContainsFunc(seen.spans.Ended(), func(s tracesdk.ReadOnlySpan) bool {
		return s.Name() == "email.action" && s.Status().Code == codes.Error
	}))
}
