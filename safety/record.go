package safety

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/groups"
	"github.com/postroom-go/postroom/safety/injection"
	"github.com/postroom-go/postroom/safety/origin"
)

// Record returns the function that records a decision about a message in a transaction. The gate judges the decision.
// The decision, its action and what follows (a job or a request for approval) are written together. A label parameter
// must be the id of a label. If the decision is a model's, Record reads the message (see [injection.Indicators]):
// call Record before the transaction, and the function in it.
//
// The action is pending_approval if the gate requires approval, completed if there is nothing to do ([postroom.None]),
// canceled if it is a model's and forbidden to models ([Config].Forbids), or would only send what was sent before
// ([Config].Sent), or something about mail that came long ago ([gate.Policy].SendAge), canceled or failed if it would
// be refused ([Config].Refusals), and otherwise queued and passed to [Config.Execute].
//
// The function is idempotent: if the message has a decision with the same [postroom.Decision.Key], it writes nothing
// and returns the action of that decision in its present state.
//
// The Source of the decision and its rule must be what the caller knows, not what the decider says.
//
// A decision that breaks its contract is [ErrInvalidDecision]; use [Ledger.Refuse] to record it.
func (l *Ledger) Record(ctx context.Context, msg *postroom.Message, d postroom.Decision) func(ctx context.Context,
	tx queue.Tx) (postroom.Action, error) {
	seen := seenMail{origin: origin.Of(msg)}
	var err error
	if msg != nil && d.Source == postroom.SourceModel && d.Action != postroom.None {
		seen.indicators = injection.Indicators(ctx, msg)
		seen.known, err = l.judge.known(ctx, msg, seen.origin)
	}
	return func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
		if err != nil {
			return postroom.Action{}, err
		}
		return l.record(ctx, tx, msg, d, seen)
	}
}

func (l *Ledger) record(
	ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision, seen seenMail,
) (postroom.Action, error) {
	if err := d.Validate(l.cfg.Kinds, queue.Now(tx).Local()); err != nil {
		return postroom.Action{}, fmt.Errorf("safety: record: %w: %w", ErrInvalidDecision, err)
	}
	evidence, err := l.judge.evidence(ctx, tx, msg, d, seen)
	if err != nil {
		return postroom.Action{}, err
	}
	judging := l.judge.gateOf(accountIn(msg))
	evidence.Doubts = append(evidence.Doubts, judging.AgeDoubts(msg, d, queue.Now(tx))...)
	verdict := judging.Judge(d, evidence)
	state, why, err := l.judge.endsAtOnce(ctx, tx, msg, d, &verdict)
	if err == nil && why == "" {
		err = l.judge.beyond(ctx, tx, msg, d, &verdict)
	}
	kind, full := groupOf(l.cfg.Kinds, msg, d, &verdict, seen.origin), groups.Kind{}
	if err == nil && why == "" {
		state = postroom.ActionCanceled
		why, full, err = notAsked(ctx, tx, d, &verdict, kind, seen.known)
	}
	if err != nil {
		return postroom.Action{}, err
	}
	action := postroom.Action{State: postroom.ActionQueued}
	switch {
	case why != "":
		action.State, action.Error = state, why
	case d.Action == postroom.None && !verdict.RequiresApproval:
		action.State, action.ExecutedAt, action.UndoHint = postroom.ActionCompleted, queue.Now(tx), nothingDone()
	case l.cfg.DryRun:
		action.State, action.Error = postroom.ActionCanceled, dryRun(verdict)
	case verdict.RequiresApproval:
		action.State = postroom.ActionPendingApproval
	}
	action, p, err := l.actions.insert(ctx, tx, msg, d, verdict, action, seen.origin)
	if err != nil || p == nil {
		return action, err
	}
	switch {
	case why != "" && full.Key != "":
		err = tellNotAsked(ctx, tx, l.events, full)
	case action.State == postroom.ActionQueued:
		err = l.cfg.Execute(ctx, tx, action)
	case action.State == postroom.ActionPendingApproval:
		err = l.requests.askGrouped(ctx, tx, p, verdict.Reasons, kind)
	}
	return action, err
}

// Refuse records a decision that must not be carried out, such as one that names a missing label. Its action is
// failed from the start, with the reason, which must not be blank. Nothing is executed and no approval is requested.
// Refuse is idempotent as [Ledger.Record] is, and accepts decisions that Record finds invalid.
func (l *Ledger) Refuse(ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision,
	reason string) (postroom.Action, error) {
	if strings.TrimSpace(reason) == "" {
		return postroom.Action{}, errors.New("safety: refuse: the reason is blank")
	}
	action := postroom.Action{State: postroom.ActionFailed, Error: dbvalue.Clean(reason)}
	evidence, err := l.judge.evidence(ctx, tx, msg, d, seenMail{})
	if err != nil {
		return action, err
	}
	verdict := l.judge.gateOf(accountIn(msg)).Judge(d, evidence)
	action, _, err = l.actions.insert(ctx, tx, msg, d, verdict, action, origin.Of(msg))
	return action, err
}
