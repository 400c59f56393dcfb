package telemetry

import (
	"context"
	"encoding/json"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/undo"
)

// steps are the steps of jobs, by their types.
var steps = map[string]step{
	string(gmail.JobIngest):      receive,
	string(rules.JobClassify):    classify,
	string(rules.JobDecideAgain): classify,
	string(gmail.JobAction):      act,
	string(outbox.JobSend):       act,
	string(undo.JobAction):       act,
}

// Actions reads actions and their decisions; *safety.Ledger does.
type Actions interface {
	Action(ctx context.Context, id string) (postroom.Action, error)
}

// Middleware reports the attempts of jobs that receive, classify, act and undo. actions is asked what has become of an
// action, where somebody sees that.
func (t *Telemetry) Middleware(actions Actions) queue.Middleware {
	return func(next queue.HandlerFunc) queue.HandlerFunc {
		return func(ctx context.Context, a *queue.Attempt) error {
			s, reported := steps[a.Job.Type]
			if !reported || !t.heeded(ctx, s) {
				return next(ctx, a)
			}
			p, made := payloadOf(&a.Job), &decisions{}
			ctx, w := t.start(ctx, s, time.Now(), p.ids(s)...)
			defer w.span.End() // a handler that panics is told of by the span of its job
			err := next(context.WithValue(ctx, decisionsKey{}, made), a)
			switch s {
			case act:
				w.acted(ctx, actions, p)
			case classify:
				w.decided(made)
			}
			cause := err
			if err != nil && !a.Ends(err) {
				cause = nil
			}
			w.end(ctx, cause)
			return err
		}
	}
}

// A payload has what the payloads of all these jobs may have.
type payload struct {
	AccountID        string `json:"account_id"`
	MessageID        string `json:"message_id"`
	ActionID         string `json:"action_id"`
	OriginalActionID string `json:"original_action_id"`
}

// payloadOf returns the zero payload where it cannot be read: then the handler fails, and says so.
func payloadOf(job *queue.Job) (p payload) {
	_ = json.Unmarshal(job.Payload, &p)
	return p
}

func (p payload) ids(s step) (attrs []attribute.KeyValue) {
	message := keyMessage
	if s == receive {
		message = keyProvider
	}
	for _, id := range []attribute.KeyValue{keyAccount.String(p.AccountID), message.String(p.MessageID),
		keyAction.String(p.ActionID + p.OriginalActionID)} {
		if id.Value.AsString() != "" {
			attrs = append(attrs, id)
		}
	}
	return attrs
}

// acted adds what an action is, and what has become of it. An action that is gone with its mailbox is not known.
func (w *walked) acted(ctx context.Context, actions Actions, p payload) {
	a, err := actions.Action(context.WithoutCancel(ctx), p.ActionID+p.OriginalActionID)
	if err != nil {
		return
	}
	if p.OriginalActionID != "" {
		w.is(keyKind.String("undo_" + string(a.Type)))
		return
	}
	w.is(keyKind.String(string(a.Type)), keyState.String(string(a.State)))
}
