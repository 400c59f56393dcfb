package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

// JobClassify decides about one message. Ingestion enqueues it, with [NewClassifyJob], for each message that needs a
// decision; it leaves out sent mail, drafts, spam and trash.
const JobClassify queue.Type[ClassifyPayload] = "classify"

// A ClassifyPayload names the message of a [JobClassify] by its UUID, not by Gmail's id.
type ClassifyPayload struct {
	AccountID string `json:"account_id"`
	MessageID string `json:"message_id"`
}

// NewClassifyJob makes the job that decides about a message. Its key allows one such job per message, for ever.
func NewClassifyJob(accountID, messageID string) queue.NewJob {
	return JobClassify.New(ClassifyPayload{accountID, messageID}, &queue.Options{
		MaxAttempts: attempts.Unattended,
		Key:         queue.Forever(fmt.Sprintf("classify:%s:%s", accountID, messageID)),
	})
}

// Messages returns a stored message, or [postroom.ErrNotFound].
type Messages interface {
	Message(ctx context.Context, accountID, messageID string) (*postroom.Message, error)
}

// Labels returns the id of a label of the account, found by its whole name, compared without regard to case, or by its id.
type Labels interface {
	LabelID(ctx context.Context, accountID, name string) (id string, ok bool, err error)
}

// A Ledger records decisions and what follows from them, in the transaction it is given.
type Ledger interface {
	// Record stores the decision and its action, and enqueues the job that executes it or requests approval.
	Record(ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision) (postroom.Action, error)
	// Refuse stores the decision with a failed action and the reason, and enqueues no job that executes it.
	Refuse(ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision, reason string) (postroom.Action, error)
}

// handle decides about the message of the job and records the decision, all in the transaction that completes the job.
// A decision that breaks its contract is recorded as none, with a request for approval; one that names a missing label is
// recorded as failed.
func (c *classifier) handle(ctx context.Context, w *queue.Work[ClassifyPayload]) error {
	msg, err := c.cfg.Messages.Message(ctx, w.Payload.AccountID, w.Payload.MessageID)
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
			_, err := c.cfg.Ledger.Refuse(ctx, tx, msg, decision, missing)
			return err
		}
		_, err := c.cfg.Ledger.Record(ctx, tx, msg, decision)
		return err
	})
}

func (c *classifier) decide(ctx context.Context, w *queue.Work[ClassifyPayload], msg *postroom.Message) (postroom.Decision, error) {
	decision, err := c.cfg.Rules.Decide(ctx, msg)
	if err != nil || decision.Source != postroom.SourceNone {
		return decision, err
	}
	if c.cfg.Fallback == nil {
		decision.Rationale += ", and no model is configured"
		return decision, nil
	}
	return queue.Step(ctx, w, "fallback", func(ctx context.Context) (postroom.Decision, error) {
		return c.cfg.Fallback.Decide(ctx, msg)
	})
}

// usable replaces a decision that breaks its contract by none, with a request for approval.
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

// resolveLabel replaces the label's name by its id. If there is no such label, missing says why the decision cannot be
// executed.
func (c *classifier) resolveLabel(ctx context.Context, msg *postroom.Message, d *postroom.Decision) (missing string, err error) {
	if !d.Action.TakesLabel() {
		return "", nil
	}
	name, _ := d.Parameters.Text(postroom.ParamLabel) // Validate has seen it
	id, ok, err := c.cfg.Labels.LabelID(ctx, msg.AccountID, name)
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
