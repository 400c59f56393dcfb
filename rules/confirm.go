package rules

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
)

// Confirm decides about a message again, as of the time of a decision, and returns why that decision is not made;
// empty if it is. The rule must decide at the version that is named, for the same action with the same parameters,
// and no person be asked. It is for the field Confirm of the configuration of package gmail: msg is the message as
// Gmail has it.
//
// All rules are tried as they are now, since one before may be the exception, and whether the sender has written
// before is asked again. Of a decision that [Apply] has made, which may leave rules out, the rule alone is tried.
func (e *Engine) Confirm(ctx context.Context, msg *postroom.Message, p postroom.Permit) (fault string, err error) {
	d := &p.Decision
	if d.Source != postroom.SourceDeterministic {
		return "no rule has decided", nil
	}
	var decisions []postroom.Decision
	if strings.HasPrefix(d.Key, postroom.BatchKeyPrefix) {
		decisions, err = e.decideByOne(ctx, msg, d, p.DecidedAt)
	} else {
		decisions, err = e.decideAt(ctx, msg, p.DecidedAt)
	}
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		return fmt.Sprintf("rule '%s' is not stored as it was when it decided", d.RuleName), nil
	case err != nil:
		return "", err
	}
	i := slices.IndexFunc(decisions, func(again postroom.Decision) bool { return e.sameDecision(&again, d) })
	switch {
	case i < 0:
		return fmt.Sprintf("the rules do not decide %s by rule '%s' about it, as they are now", d.Action, d.RuleName), nil
	case decisions[i].NeedsApproval:
		return decisions[i].ApprovalReason, nil
	}
	return "", nil
}

// decideAt is DecideAll as of a time.
func (e *Engine) decideAt(ctx context.Context, msg *postroom.Message, at time.Time) ([]postroom.Decision, error) {
	set, err := e.current(ctx, msg.AccountID)
	if err != nil {
		return nil, err
	}
	f, err := e.factsOf(ctx, set, msg, at)
	if err != nil {
		return nil, err
	}
	return set.decide(msg, at, f), nil
}

// decideByOne is decideAt by the rule of a decision alone, at the version that has decided.
func (e *Engine) decideByOne(ctx context.Context, msg *postroom.Message, d *postroom.Decision,
	at time.Time) ([]postroom.Decision, error) {
	rule, err := e.store.RuleAt(ctx, d.RuleID, d.RuleVersion)
	if err != nil {
		return nil, err
	}
	rule.Enabled = true
	set := newSet([]Rule{*rule}, e.store.Kinds(), e.knows())
	f, err := e.factsOf(ctx, set, msg, at)
	if err != nil {
		return nil, err
	}
	return set.decide(msg, at, f), nil
}

// sameDecision compares two decisions. Of labels, which the rule names and the ledger has by their ids, it compares
// whether they are there: the version of the rule says which.
func (e *Engine) sameDecision(again, d *postroom.Decision) bool {
	if again.RuleID != d.RuleID || again.RuleVersion != d.RuleVersion || again.Action != d.Action ||
		len(again.Parameters) != len(d.Parameters) {
		return false
	}
	labels := e.store.Kinds().LabelParameters(d.Action)
	for name, value := range again.Parameters {
		other, ok := d.Parameters[name]
		if !ok || !slices.Contains(labels, name) && !sameJSON(value, other) {
			return false
		}
	}
	return true
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
