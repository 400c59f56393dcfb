package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/internal/bodytext"
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

// Labels returns the id of a label of the account, found by its whole name, compared without regard to case, or by
// its id.
type Labels interface {
	LabelID(ctx context.Context, accountID, name string) (id string, ok bool, err error)
}

// A Ledger records decisions and their consequences, in the given transaction.
type Ledger interface {
	// Record returns the function that stores the decision and its action, and enqueues the job that executes it or
	// requests approval. It is called before the transaction, since it may read the message.
	// A ctx in which the message's body was read spares reading it again.
	Record(ctx context.Context, msg *postroom.Message, d postroom.Decision) func(ctx context.Context, tx queue.Tx) (
		postroom.Action, error)
	// Refuse stores the decision with a failed action and the reason, and enqueues no job that executes it.
	Refuse(ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision, reason string) (
		postroom.Action, error)
}

// handle decides about the message of the job and records the decisions, all in the transaction that completes the job.
// A decision that breaks its contract is recorded as none, with a request for approval; one that names a missing
// label, and one of a rule whose time has passed, is recorded as failed.
func (c *classifier) handle(ctx context.Context, w *queue.Work[ClassifyPayload]) error {
	msg, err := c.cfg.Messages.Message(ctx, w.Payload.AccountID, w.Payload.MessageID)
	if errors.Is(err, postroom.ErrNotFound) {
		return queue.Cancel(fmt.Errorf(
			"classify message %s of account %s: it is no longer stored, as after its mailbox was removed: %w",
			w.Payload.MessageID, w.Payload.AccountID, err))
	}
	if err != nil {
		return fmt.Errorf("classify: %w", err)
	}
	ctx = bodytext.With(ctx)
	decisions, err := c.decide(ctx, w, msg)
	if errors.Is(err, ErrNotStored) {
		return queue.Defer(err, attempts.Held(w.Job.Interruptions, time.Time{}, time.Now()))
	}
	if err != nil {
		return fmt.Errorf("classify message %s: %w", msg.ID, err)
	}
	record, err := c.prepare(ctx, msg, decisions)
	if err != nil {
		return fmt.Errorf("classify message %s: %w", msg.ID, err)
	}
	if c.cfg.DryRun != nil {
		return c.cfg.DryRun(ctx, msg, record)
	}
	return w.Complete(ctx, c.reporting(msg, decisions, record))
}

// reporting adds the call of OnFallback to the function that records the decisions about a message.
func (c *classifier) reporting(msg *postroom.Message, decisions []postroom.Decision,
	record func(ctx context.Context, tx queue.Tx) error) func(ctx context.Context, tx queue.Tx) error {
	if c.cfg.OnFallback == nil || len(decisions) == 0 || decisions[0].Source != postroom.SourceModel {
		return record
	}
	return func(ctx context.Context, tx queue.Tx) error {
		if err := record(ctx, tx); err != nil {
			return err
		}
		return c.cfg.OnFallback(ctx, tx, msg, decisions[0])
	}
}

// prepare returns the function that records the decisions about a message.
func (c *classifier) prepare(
	ctx context.Context, msg *postroom.Message, decisions []postroom.Decision,
) (record func(ctx context.Context, tx queue.Tx) error, err error) {
	records := make([]recording, len(decisions))
	for i, d := range decisions {
		d = c.usable(d)
		refusal, err := c.refusal(ctx, msg, &d)
		if err != nil {
			return nil, err
		}
		records[i] = c.recording(ctx, msg, d, refusal)
	}
	beside, err := c.beside(ctx, msg, decisions)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tx queue.Tx) error {
		for _, record := range records {
			if _, err := record(ctx, tx); err != nil {
				return err
			}
		}
		if beside == nil {
			return nil
		}
		return beside(ctx, tx)
	}, nil
}

func (c *classifier) beside(ctx context.Context, msg *postroom.Message, decisions []postroom.Decision) (
	record func(ctx context.Context, tx queue.Tx) error, err error) {
	if c.cfg.Beside == nil {
		return nil, nil
	}
	return c.cfg.Beside(ctx, msg, decisions)
}

// A recording records a decision in a transaction.
type recording func(ctx context.Context, tx queue.Tx) (postroom.Action, error)

// recording records a decision, or the reason for which it cannot be executed.
func (c *classifier) recording(ctx context.Context, msg *postroom.Message, d postroom.Decision,
	refusal string) recording {
	if refusal == "" {
		return c.cfg.Ledger.Record(ctx, msg, d)
	}
	return func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
		return c.cfg.Ledger.Refuse(ctx, tx, msg, d, refusal)
	}
}

// An allDecider may make several decisions about one message, as [Engine] does.
type allDecider interface {
	DecideAll(ctx context.Context, msg *postroom.Message) ([]postroom.Decision, error)
}

func (c *classifier) decideByRules(ctx context.Context, msg *postroom.Message) ([]postroom.Decision, error) {
	if all, ok := c.cfg.Rules.(allDecider); ok {
		return all.DecideAll(ctx, msg)
	}
	decision, err := c.cfg.Rules.Decide(ctx, msg)
	return []postroom.Decision{decision}, err
}

func (c *classifier) decide(ctx context.Context, w *queue.Work[ClassifyPayload],
	msg *postroom.Message) ([]postroom.Decision, error) {
	decisions, err := c.decideByRules(ctx, msg)
	if err != nil || c.final(msg, w.Job.CreatedAt, decisions) {
		return decisions, err
	}
	decision, err := c.askFallback(ctx, w, msg)
	return []postroom.Decision{decision}, err
}

// askFallback asks the fallback once for a job. A dry run, of which nothing is left, asks each time.
func (c *classifier) askFallback(ctx context.Context, w queue.Running, msg *postroom.Message) (postroom.Decision,
	error) {
	ask := func(ctx context.Context) (postroom.Decision, error) {
		// A decision that breaks its contract may be one that cannot be stored.
		decision, err := c.cfg.Fallback.Decide(ctx, msg)
		return c.usable(byModel(decision)), err
	}
	if c.cfg.DryRun != nil {
		return ask(ctx)
	}
	return queue.Step(ctx, w, "fallback", ask)
}

// final reports whether the rules decide finally: one has decided, or no fallback is asked, which the decision then
// says. Mail does not become old while it waits for the fallback: its age is that at the time since which it waits.
func (c *classifier) final(msg *postroom.Message, since time.Time, decisions []postroom.Decision) bool {
	why := ", and no model is configured"
	switch {
	case len(decisions) > 0 && decisions[0].Source != postroom.SourceNone:
		return true
	case c.cfg.Fallback == nil:
	case c.cfg.FallbackAge > 0 && !msg.ReceivedAt.IsZero() && since.Sub(msg.ReceivedAt) > c.cfg.FallbackAge:
		why = fmt.Sprintf(", and a model is not asked about mail that is older than %v", c.cfg.FallbackAge)
	default:
		return false
	}
	for i := range decisions {
		decisions[i].Rationale += why
	}
	return true
}

// byModel stamps the decision of the fallback as a model's, whatever it says of itself: an answer that a mail has
// talked into naming a rule of the user's gains nothing by it.
func byModel(d postroom.Decision) postroom.Decision {
	d.Source, d.RuleID, d.RuleName, d.RuleVersion, d.SafeMode, d.Key = postroom.SourceModel, "", "", "", "", ""
	return d
}

// usable replaces a decision that breaks its contract by none. What a rule says that has
// become wrong stays: see [classifier.refusal].
func (c *classifier) usable(d postroom.Decision) postroom.Decision {
	err := d.Validate(c.cfg.Kinds, time.Now())
	if err == nil || isRight(&d, c.cfg.Kinds) {
		return d
	}
	return postroom.Decision{
		Action: postroom.None, NeedsApproval: true,
		Rationale: "The decision could not be used, and nothing is done: " + strings.ReplaceAll(err.Error(), "\n", "; "),
		Source:    cmp.Or(d.Source, postroom.SourceModel), RuleID: d.RuleID, RuleName: d.RuleName,
		RuleVersion: d.RuleVersion, SafeMode: d.SafeMode,
		Model: d.Model, Key: d.Key,
	}
}

// isRight reports whether a rule's decision was right once, whatever the time is now.
func isRight(d *postroom.Decision, kinds *postroom.Kinds) bool {
	return d.Source == postroom.SourceDeterministic && d.Validate(kinds, time.Time{}) == nil
}

// refusal says why a usable decision cannot be carried out; empty if it can: then it has the ids of its labels.
func (c *classifier) refusal(ctx context.Context, msg *postroom.Message, d *postroom.Decision) (string, error) {
	if err := c.cfg.Kinds.Check(d.Action, d.Parameters, time.Now()); err != nil {
		return fmt.Sprintf("%v: rule '%s' says so; correct its parameters, or disable it", err, d.RuleName), nil
	}
	return c.resolveLabels(ctx, msg, d)
}

// resolveLabels replaces the names of labels by their ids. If there is no such label, missing says why the decision
// cannot be executed.
func (c *classifier) resolveLabels(ctx context.Context, msg *postroom.Message,
	d *postroom.Decision) (missing string, err error) {
	for _, parameter := range c.cfg.Kinds.LabelParameters(d.Action) {
		name, given := d.Parameters.Text(parameter)
		if !given {
			continue // Validate has seen those that are required
		}
		id, ok, err := c.cfg.Labels.LabelID(ctx, msg.AccountID, name)
		if err != nil {
			return "", err
		}
		if !ok {
			return missingLabel(name, d.RuleName), nil
		}
		if d.Source == postroom.SourceModel && (IsSystemLabel(id) || IsSystemLabel(name)) {
			return fmt.Sprintf("label %q is one of Gmail's own, and a model chooses among yours", name), nil
		}
		d.Parameters = cloneParameters(d.Parameters)
		d.Parameters[parameter] = id
	}
	return "", nil
}

func missingLabel(name, ruleName string) string {
	if ruleName != "" {
		return fmt.Sprintf("label %q does not exist in this mailbox: create it, or name another one in rule '%s'",
			name, ruleName)
	}
	return fmt.Sprintf("label %q does not exist in this mailbox: create it, or take it out of what the model may choose",
		name)
}
