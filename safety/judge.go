package safety

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/gate"
	"github.com/postroom-go/postroom/safety/internal/counts"
	"github.com/postroom-go/postroom/safety/limits"
)

// A judge collects what speaks against a decision.
type judge struct {
	cfg      *Config
	gate     *gate.Gate
	breakers *limits.Breakers
	counts   counts.Counts
}

// gateOf returns the gate of an account.
func (j *judge) gateOf(accountID string) *gate.Gate {
	if j.cfg.PolicyOf != nil {
		if own := j.cfg.PolicyOf(accountID); own != nil {
			return own.With(j.cfg.Kinds)
		}
	}
	return j.gate
}

// accountIn returns the account of a message; empty without a message.
func accountIn(msg *postroom.Message) string {
	if msg == nil {
		return ""
	}
	return msg.AccountID
}

// evidence looks up the rule of a decision, and the doubts about a model's decision. If the stored rule differs from
// the one that matched, or specifies another action, a person is asked.
func (j *judge) evidence(
	ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision, seen seenMail,
) (gate.Evidence, error) {
	if d.Source == postroom.SourceModel {
		doubts, err := j.modelDoubts(ctx, tx, msg, d, seen)
		return gate.Evidence{Doubts: doubts}, err
	}
	switch {
	case d.Source != postroom.SourceDeterministic:
		return gate.Evidence{}, nil
	case d.RuleID == "" && d.Action != postroom.None:
		return doubtful("a rule is said to have decided, and none is named"), nil
	case d.RuleID == "" || j.cfg.Rules == nil:
		return gate.Evidence{}, nil
	}
	rule, err := j.cfg.Rules.StoredRule(ctx, tx, d.RuleID)
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		rule = postroom.StoredRule{}
	case err != nil:
		return gate.Evidence{}, fmt.Errorf("safety: look up rule %s: %w", d.RuleID, err)
	}
	if fault := j.ruleFault(rule, d); fault != "" {
		return doubtful(fmt.Sprintf("rule '%s' decided, and %s", d.RuleName, fault)), nil
	}
	return gate.Evidence{SafeMode: rule.SafeMode}, nil
}

// doubtful is the evidence about a rule that does not stand behind its decision.
func doubtful(why string) gate.Evidence {
	return gate.Evidence{Doubts: []gate.Doubt{{Check: gate.OverrideRule, Reason: why}}}
}

// endsAtOnce returns the reason for which the action of a decision ends before it begins, and the state in which it
// does: it is forbidden, would be refused, would only send what was sent before, or about mail that came long ago.
func (j *judge) endsAtOnce(
	ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision, v *gate.Verdict,
) (state postroom.ActionState, why string, err error) {
	if why, err = j.forbidden(ctx, tx, msg, d, v); why != "" || err != nil {
		return postroom.ActionCanceled, why, err
	}
	if state, why, err = j.refusal(ctx, tx, msg, d); why != "" || err != nil {
		return state, why, err
	}
	if why = j.gateOf(accountIn(msg)).TooOld(msg, d, queue.Now(tx)); why != "" {
		return postroom.ActionCanceled, counts.RefusedMark + why, nil
	}
	why, err = j.sentBefore(ctx, tx, msg, d, v)
	return postroom.ActionCanceled, why, err
}

// beyond asks about a decision that nothing else speaks against, if a cap or a breaker is exceeded, or if people have
// corrected too much of what has decided.
func (j *judge) beyond(
	ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision, v *gate.Verdict,
) error {
	if v.RequiresApproval || msg == nil || d.Action == postroom.None {
		return nil
	}
	if j.cfg.Drifts != nil {
		why, err := j.cfg.Drifts.Asks(ctx, tx, msg.AccountID, d)
		if err != nil {
			return fmt.Errorf("safety: ask whether there is a drift: %w", err)
		}
		if why != "" {
			v.Doubt(gate.Doubt{Check: gate.OverrideDrift, Reason: why})
			return nil // nothing is done that a cap or a breaker counts
		}
	}
	stopped, err := j.breakers.Stopped(ctx, tx, msg.AccountID, d.Source)
	if err != nil {
		return err
	}
	caps := limits.Caps{Caps: j.gateOf(msg.AccountID).Policy().Caps, Counts: j.counts}
	reached, err := caps.Reached(ctx, tx, msg.AccountID, d)
	if stopped != "" {
		v.Doubt(gate.Doubt{Check: gate.OverrideBreaker, Reason: stopped})
	}
	if reached != "" {
		v.Doubt(gate.Doubt{Check: gate.OverrideCap, Reason: reached})
	}
	return err
}

// forbidden returns the reason to cancel what a model has decided and the user has forbidden. The verdict says so as
// well.
func (j *judge) forbidden(ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision,
	v *gate.Verdict) (why string, err error) {
	if j.cfg.Forbids == nil || msg == nil || d.Source != postroom.SourceModel || d.Action == postroom.None {
		return "", nil
	}
	why, err = j.cfg.Forbids.Forbidden(ctx, tx, msg, d.Action)
	if err != nil {
		return "", fmt.Errorf("safety: ask whether %s of message %s is forbidden: %w", d.Action, msg.ID, err)
	}
	if why == "" {
		return "", nil
	}
	v.Doubt(gate.Doubt{Check: gate.OverrideForbidden, Reason: why})
	return dbvalue.Clean(counts.RefusedMark + why), nil
}

// refusal returns the reason for which the action of a decision ends at once, and the state in which it does.
func (j *judge) refusal(ctx context.Context, tx queue.Tx, msg *postroom.Message,
	d postroom.Decision) (state postroom.ActionState, why string, err error) {
	if j.cfg.Refusals == nil || msg == nil {
		return "", "", nil
	}
	why, failed, err := j.cfg.Refusals.Refusal(ctx, tx, msg.AccountID, msg, d.Action, d.Parameters)
	switch {
	case err != nil:
		return "", "", fmt.Errorf("safety: ask whether %s of message %s would be refused: %w", d.Action, msg.ID, err)
	case why == "":
		return "", "", nil
	case failed:
		return postroom.ActionFailed, dbvalue.Clean(counts.RefusedMark + why), nil
	}
	return postroom.ActionCanceled, dbvalue.Clean(counts.RefusedMark + why), nil
}

// checkPossible returns an error if an action that a person approves could not be carried out.
func (j *judge) checkPossible(ctx context.Context, tx queue.Tx, p *permitRow) error {
	a, err := p.value()
	if err != nil {
		return err
	}
	if err := j.cfg.Kinds.Check(a.Type, a.Parameters, queue.Now(tx).Local()); err != nil {
		return fmt.Errorf("safety: action %s: %w: %w: reject it", a.ID, ErrInvalidDecision, err)
	}
	if j.cfg.Refusals == nil {
		return nil
	}
	why, _, err := j.cfg.Refusals.Refusal(ctx, tx, a.AccountID, nil, a.Type, a.Parameters)
	switch {
	case err != nil:
		return fmt.Errorf("safety: ask whether action %s would be refused: %w", a.ID, err)
	case why != "":
		return fmt.Errorf("safety: action %s: %w: it %s%s", a.ID, ErrInvalidDecision, counts.RefusedMark, why)
	}
	return nil
}

// sentBefore looks up what was sent before, so that nothing is sent twice without a person. If a person is asked
// anyway, or must decide what is left to send, the request says what was sent. If all of it was sent and no person
// needs to be asked, sentBefore returns the reason to cancel the action: a mailbox that comes back has one such
// action for everything that it has sent.
func (j *judge) sentBefore(ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision,
	v *gate.Verdict) (again string, err error) {
	if j.cfg.Sent == nil || msg == nil {
		return "", nil
	}
	said, all, err := j.cfg.Sent.SentBefore(ctx, tx, msg, d.Action, d.Parameters)
	switch {
	case err != nil:
		return "", fmt.Errorf("safety: look for what was sent about message %s: %w", msg.ID, err)
	case said == "":
		return "", nil
	case all && !v.RequiresApproval:
		return dbvalue.Clean(counts.SentMark + said), nil
	}
	v.Doubt(gate.Doubt{Check: gate.OverrideSent, Reason: said})
	return "", nil
}

// ruleFault returns why the stored rule does not stand behind the decision; empty if it does.
func (j *judge) ruleFault(rule postroom.StoredRule, d postroom.Decision) string {
	switch {
	case rule.ID != d.RuleID:
		return "is no longer stored"
	case !rule.Enabled:
		return "is disabled now"
	case rule.Version == "" || rule.Version != d.RuleVersion:
		return "has been changed since it matched"
	case d.Action == postroom.None:
		return ""
	}
	labels := j.cfg.Kinds.LabelParameters(d.Action)
	for _, does := range rule.Actions {
		if does.Type == d.Action && sameParameters(does.Parameters, d.Parameters, labels) {
			return ""
		}
	}
	return fmt.Sprintf("does not say %s with these parameters", d.Action)
}

// sameParameters compares the parameters of the rule and the decision. A rule may name a label that the decision has
// by id, so of labels it compares only their presence.
func sameParameters(rule, decided postroom.Parameters, labels []string) bool {
	if len(rule) != len(decided) {
		return false
	}
	for name, value := range rule {
		other, ok := decided[name]
		if !ok || !slices.Contains(labels, name) && !sameJSON(value, other) {
			return false
		}
	}
	return true
}
