package view

import (
	"context"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

// RulesWindow is how far back the hits of rules are counted.
const RulesWindow = 30 * 24 * time.Hour

// MaxUndos bounds the counted undos of a rule: a larger number is at least that.
const MaxUndos = 100

// A ListedRule is a rule with what it has done lately.
type ListedRule struct {
	*rules.Rule
	Mailbox string // its address; empty for a rule of all mailboxes
	When    string // its condition
	Does    []string
	Hits    int // decisions in [RulesWindow]
	Undone  int // of its actions, in [RulesWindow]; at most MaxUndos
}

// NewRules lists the rules of an account and those of all accounts, in the order in which they are tried. An empty
// account means all rules.
func NewRules(ctx context.Context, h *app.App, accountID string, now time.Time) ([]ListedRule, error) {
	stored, err := h.Rules.List(ctx)
	if err != nil {
		return nil, err
	}
	mailboxes, err := Mailboxes(ctx, h)
	if err != nil {
		return nil, err
	}
	hits := make(map[string]int)
	for id := range mailboxes {
		activity, err := h.Ledger.Activity(ctx, id, now.Add(-RulesWindow))
		if err != nil {
			return nil, err
		}
		for _, a := range activity {
			hits[a.Rule] += a.N
		}
	}
	var list []ListedRule
	for i := range stored {
		r := &stored[i]
		if accountID != "" && r.AccountID != "" && r.AccountID != accountID {
			continue
		}
		v := ListedRule{Rule: r, Mailbox: mailboxes[r.AccountID], When: r.Condition.String(), Hits: hits[r.Name]}
		for _, a := range append([]rules.RuleAction{{Type: r.Action, Parameters: r.Parameters}}, r.Also...) {
			v.Does = append(v.Does, InWords(postroom.Action{Type: a.Type, Parameters: a.Parameters}, nil))
		}
		if v.Undone, err = countUndos(ctx, h, r.ID, now.Add(-RulesWindow)); err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// countUndos counts the undos of the actions of a rule since an instant, up to MaxUndos.
func countUndos(ctx context.Context, h *app.App, rule string, since time.Time) (int, error) {
	f := safety.Filter{Rule: rule, Since: since, States: []postroom.ActionState{postroom.ActionCompleted}, Limit: MaxUndos}
	for _, t := range h.Ledger.Kinds().Types() {
		f.Types = append(f.Types, safety.UndoType(t))
	}
	undos, err := h.Ledger.Actions(ctx, f)
	return len(undos), err
}
