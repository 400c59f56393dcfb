package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// ClassifyJob decides about one message. Ingestion enqueues it, with [NewClassifyJob], for each message that is to be
// decided about; which are not (sent mail, drafts, spam, trash) is known there.
const ClassifyJob queue.Type[ClassifyPayload] = "classify"

// A ClassifyPayload names the message of a [ClassifyJob], by our ids.
type ClassifyPayload struct {
	AccountID string `json:"account_id"`
	MessageID string `json:"message_id"`
}

// patience is how many failures end the job. Nobody asks for a decision again, so it outlasts hours in which a database
// or a model does not answer.
const patience = 100

// NewClassifyJob makes the job that decides about a message, once for ever.
func NewClassifyJob(accountID, messageID string) queue.NewJob {
	return ClassifyJob.New(ClassifyPayload{accountID, messageID}, &queue.Options{
		MaxAttempts: patience,
		Key:         queue.Forever(fmt.Sprintf("classify:%s:%s", accountID, messageID)),
	})
}

// Messages finds a message; one that is not stored is [postroom.ErrNotFound].
type Messages interface {
	Message(ctx context.Context, accountID, messageID string) (*postroom.Message, error)
}

// Labels finds the id of a label of the account by its whole name, compared without regard to case, or by its id.
type Labels interface {
	LabelID(ctx context.Context, accountID, name string) (id string, ok bool, err error)
}

// A Ledger records decisions and what follows from them, in the transaction it is given.
type Ledger interface {
	// Record stores the decision and its action, and enqueues what executes it or asks a person.
	Record(ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision) (postroom.Action, error)
	// Refuse stores the decision with an action that has failed for the reason, and enqueues nothing that executes it.
	Refuse(ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision, reason string) (postroom.Action, error)
}

// A Classifier is the handler of [ClassifyJob]. All fields but Fallback are required.
type Classifier struct {
	Messages Messages
	Labels   Labels
	Ledger   Ledger

	// Rules decide first; usually an [Engine].
	Rules postroom.Decider
	// Fallback decides about what no rule matched; usually a language model. Its decision is kept as a step of the job:
	// a later attempt does not ask again. Nil records such mail with action none.
	Fallback postroom.Decider
}

// Handle decides about the message of the job and records the decision, all in the transaction that completes the job.
// A decision that breaks its contract is recorded as one that a person must look at, and a label that does not exist as
// one that has failed: neither loses the mail.
func (c *Classifier) Handle(ctx context.Context, w *queue.Work[ClassifyPayload]) error {
	msg, err := c.Messages.Message(ctx, w.Payload.AccountID, w.Payload.MessageID)
	if errors.Is(err, postroom.ErrNotFound) {
		return queue.Fatal(fmt.Errorf("classify message %s of account %s: %w", w.Payload.MessageID, w.Payload.AccountID, err))
	}
	if err != nil {
		return fmt.Errorf("classify: %w", err)
	}
	decision, err := c.decide(ctx, w, msg)
	if err != nil {
		return fmt.Errorf("classify message %s: %w", msg.ID, err)
	}
	decision = usable(decision)
	missing, err := c.resolveLabel(ctx, msg, &decision)
	if err != nil {
		return fmt.Errorf("classify message %s: %w", msg.ID, err)
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		if missing != "" {
			_, err := c.Ledger.Refuse(ctx, tx, msg, decision, missing)
			return err
		}
		_, err := c.Ledger.Record(ctx, tx, msg, decision)
		return err
	})
}

func (c *Classifier) decide(ctx context.Context, w *queue.Work[ClassifyPayload], msg *postroom.Message) (postroom.Decision, error) {
	decision, err := c.Rules.Decide(ctx, msg)
	if err != nil || decision.Source != postroom.SourceNone {
		return decision, err
	}
	if c.Fallback == nil {
		decision.Rationale += ", and no model is configured"
		return decision, nil
	}
	return queue.Step(ctx, w, "fallback", func(ctx context.Context) (postroom.Decision, error) {
		return c.Fallback.Decide(ctx, msg)
	})
}

// usable turns a decision that breaks its contract into one for a person to look at.
func usable(d postroom.Decision) postroom.Decision {
	err := d.Validate()
	if err == nil {
		return d
	}
	return postroom.Decision{
		Action: postroom.None, NeedsApproval: true,
		Rationale: "The decision could not be used, a person must look: " + strings.ReplaceAll(err.Error(), "\n", "; "),
		Source:    cmp.Or(d.Source, postroom.SourceModel), RuleID: d.RuleID, RuleName: d.RuleName, SafeMode: d.SafeMode, Model: d.Model, Key: d.Key,
	}
}

// resolveLabel puts the label's id in the place of its name. It returns why the decision cannot be executed when there
// is no such label.
func (c *Classifier) resolveLabel(ctx context.Context, msg *postroom.Message, d *postroom.Decision) (missing string, err error) {
	if !d.Action.TakesLabel() {
		return "", nil
	}
	name, _ := d.Parameters.Text(postroom.ParamLabel) // Validate has seen it
	id, ok, err := c.Labels.LabelID(ctx, msg.AccountID, name)
	switch {
	case err != nil:
		return "", err
	case ok:
		d.Parameters = cloneParameters(d.Parameters)
		d.Parameters[postroom.ParamLabel] = id
		return "", nil
	case d.RuleName != "":
		return fmt.Sprintf("label %q does not exist in this mailbox: create it, or name another one in rule '%s'", name, d.RuleName), nil
	default:
		return fmt.Sprintf("label %q does not exist in this mailbox: create it, or take it out of what the model may choose", name), nil
	}
}
