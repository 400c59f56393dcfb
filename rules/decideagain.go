package rules

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/internal/bodytext"
	"github.com/postroom-go/postroom/queue"
)

// JobDecideAgain asks [Config].Fallback about one message although something was decided about it before: because a
// person wants that, or after a person has rejected what it decided.
const JobDecideAgain queue.Type[DecideAgainPayload] = "classify.again"

// A DecideAgainPayload names the message of a [JobDecideAgain], and the rejection after which it is decided again.
type DecideAgainPayload struct {
	AccountID string     `json:"account_id"`
	MessageID string     `json:"message_id"`
	Rejected  *Rejection `json:"rejected,omitempty"` // nil: nothing was rejected
}

// A Rejection names a rejected action; what it was, and why a person has rejected it, is read from the record, by
// Rejected of [Config].
type Rejection struct {
	ActionID string `json:"action_id"`

	*postroom.Rejection // nil but in jobs of earlier versions, which hold it
}

// AgainKey begins the keys of decisions that were made by a [JobDecideAgain].
const AgainKey = "again:"

// ErrDecidedAgain reports that an action came from a [JobDecideAgain], and is not decided about a third time.
var ErrDecidedAgain = errors.New("the model was asked again about this message already, and is not asked a third time")

// NewDecideAgainJob makes the job that asks again about a message. After a rejection there is one for each action, for
// ever, and none for an action that such a job has led to: that is [ErrDecidedAgain]. Without a rejection, which an
// empty id says, there is one at a time.
func NewDecideAgainJob(accountID, messageID, rejectedID string, decision postroom.Decision) (queue.NewJob, error) {
	p := DecideAgainPayload{AccountID: accountID, MessageID: messageID}
	key := queue.WhileUnfinished(fmt.Sprintf("%s:%s:%s", JobDecideAgain, accountID, messageID))
	if rejectedID != "" {
		if strings.HasPrefix(decision.Key, AgainKey) {
			return queue.NewJob{}, ErrDecidedAgain
		}
		key = queue.Forever(fmt.Sprintf("%s:%s", JobDecideAgain, rejectedID))
		p.Rejected = &Rejection{ActionID: rejectedID}
	}
	return JobDecideAgain.New(p, &queue.Options{MaxAttempts: attempts.Unattended, Key: key}), nil
}

// decideAgain asks the fallback again and records its decision. The action that a person has rejected is not taken
// again: nothing is done then, and the decision says so.
func (c *classifier) decideAgain(ctx context.Context, w *queue.Work[DecideAgainPayload]) error {
	if c.cfg.Fallback == nil {
		return queue.Cancel(errors.New("decide again: no model is configured"))
	}
	msg, err := c.cfg.Messages.Message(ctx, w.Payload.AccountID, w.Payload.MessageID)
	if errors.Is(err, postroom.ErrNotFound) {
		return queue.Cancel(fmt.Errorf("decide again about message %s: it is no longer stored: %w", w.Payload.MessageID, err))
	}
	if err != nil {
		return fmt.Errorf("decide again: %w", err)
	}
	ctx = postroom.WithAsking(bodytext.With(ctx), w.Job.ID)
	rejected, err := c.rejected(ctx, w.Payload.Rejected)
	if err != nil {
		return err
	}
	if rejected != nil {
		ctx = postroom.WithRejection(ctx, *rejected)
	}
	decision, err := c.askFallback(ctx, w, msg)
	if err != nil {
		return fmt.Errorf("decide again about message %s: %w", msg.ID, err)
	}
	decision.Key = AgainKey + w.Job.ID
	refusal, err := c.refusal(ctx, msg, &decision)
	if err != nil {
		return fmt.Errorf("decide again about message %s: %w", msg.ID, err)
	}
	if rejected != nil && isRejected(rejected, decision) {
		decision = postroom.Decision{Action: postroom.None, Source: postroom.SourceModel, Model: decision.Model,
			Key:       decision.Key,
			Rationale: "The model was asked again, and gave what you had rejected; nothing is done: " + decision.Rationale}
		refusal = ""
	}
	recording := c.recording(ctx, msg, decision, refusal)
	record := func(ctx context.Context, tx queue.Tx) error {
		_, err := recording(ctx, tx)
		return err
	}
	if c.cfg.DryRun != nil {
		return c.cfg.DryRun(ctx, msg, record)
	}
	return w.Complete(ctx, record)
}

// rejected returns what a person has rejected; nil if nothing was.
func (c *classifier) rejected(ctx context.Context, r *Rejection) (*postroom.Rejection, error) {
	switch {
	case r == nil:
		return nil, nil
	case r.Rejection != nil:
		return r.Rejection, nil
	case c.cfg.Rejected == nil:
		return nil, queue.Fatal(errors.New("decide again: Config.Rejected is not set"))
	}
	read, err := c.cfg.Rejected(ctx, r.ActionID)
	if errors.Is(err, postroom.ErrNotFound) {
		return nil, queue.Cancel(fmt.Errorf("decide again: action %s is no longer on record: %w", r.ActionID, err))
	}
	if err != nil {
		return nil, fmt.Errorf("decide again: %w", err)
	}
	return &read, nil
}

// isRejected reports whether a decision is the rejected action, with the same parameters.
func isRejected(r *postroom.Rejection, d postroom.Decision) bool {
	text := func(p postroom.Parameters) string {
		if len(p) == 0 {
			return ""
		}
		out, err := json.Marshal(p)
		if err != nil {
			return err.Error()
		}
		return string(out)
	}
	return d.Action == r.Action && text(d.Parameters) == text(r.Parameters)
}
