package safety

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/injection"
)

// Rules looks up rules; *rulestore.Store implements it.
type Rules interface {
	// StoredRule returns the rule as it is stored now, or [postroom.ErrNotFound].
	StoredRule(ctx context.Context, tx queue.Tx, id string) (postroom.StoredRule, error)
}

// evidence looks up the rule of a decision, and the doubts about a model's decision. If the stored rule differs from the one that
// matched, or specifies another action, a person is asked.
func (l *Ledger) evidence(
	ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision, found []injection.Indicator,
) (Evidence, error) {
	if d.Source == postroom.SourceModel {
		doubts, err := l.modelDoubts(ctx, tx, msg, d, found)
		return Evidence{Doubts: doubts}, err
	}
	if d.Source != postroom.SourceDeterministic || d.RuleID == "" || l.cfg.Rules == nil {
		return Evidence{}, nil
	}
	rule, err := l.cfg.Rules.StoredRule(ctx, tx, d.RuleID)
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		rule = postroom.StoredRule{}
	case err != nil:
		return Evidence{}, fmt.Errorf("safety: look up rule %s: %w", d.RuleID, err)
	}
	if fault := l.ruleFault(rule, d); fault != "" {
		return Evidence{Doubts: []Doubt{{OverrideRule, fmt.Sprintf("rule '%s' decided, and %s", d.RuleName, fault)}}}, nil
	}
	return Evidence{SafeMode: rule.SafeMode}, nil
}

// ruleFault returns why the stored rule does not stand behind the decision; empty if it does.
func (l *Ledger) ruleFault(rule postroom.StoredRule, d postroom.Decision) string {
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
	labels := l.cfg.Kinds.LabelParameters(d.Action)
	for _, does := range rule.Actions {
		if does.Type == d.Action && sameParameters(does.Parameters, d.Parameters, labels) {
			return ""
		}
	}
	return fmt.Sprintf("does not say %s with these parameters", d.Action)
}

// sameParameters compares the parameters of the rule and the decision. A rule may name a label that the decision has by id, so of
// labels it compares only their presence.
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

// sameText is sameJSON for two texts.
func sameText(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && sameJSON(x, y)
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
