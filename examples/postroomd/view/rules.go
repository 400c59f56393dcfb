package view

import (
	"context"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/rules"
)

// RulesWindow is how far back the hits of rules are counted.
const RulesWindow = 30 * 24 * time.Hour

// A ListedRule is a rule with what it has done lately.
type ListedRule struct {
	*rules.Rule
	Mailbox string // its address; empty for a rule of all mailboxes
	When    string // its condition
	Does    []string
	Begins  string // until when it only labels, or since when it does all of it; empty for most rules
	Hits    int    // decisions in [RulesWindow]
	Undone  int    // of its actions, in [RulesWindow]
}

// NewRules lists the rules of an account and those of all accounts, in the order in which they are tried. An empty
// account means all rules. Hits and undos are those in the counted mailboxes, which the viewer may see.
func NewRules(ctx context.Context, h *app.App, accountID string, counted []mailstore.Account,
	now time.Time) ([]ListedRule, error) {
	stored, err := h.Rules.List(ctx)
	if err != nil {
		return nil, err
	}
	mailboxes, err := Mailboxes(ctx, h)
	if err != nil {
		return nil, err
	}
	hits, undone, err := countHits(ctx, h, counted, now)
	if err != nil {
		return nil, err
	}
	var list []ListedRule
	for i := range stored {
		r := &stored[i]
		if accountID != "" && r.AccountID != "" && r.AccountID != accountID {
			continue
		}
		v := ListedRule{Rule: r, Mailbox: mailboxes[r.AccountID], When: r.Condition.String(), Hits: hits[r.ID],
			Undone: undone[r.ID]}
		for _, a := range append([]rules.RuleAction{{Type: r.Action, Parameters: r.Parameters}}, r.Also...) {
			v.Does = append(v.Does, InWords(postroom.Action{Type: a.Type, Parameters: a.Parameters}, nil))
		}
		v.Begins = beginsWith(r, now)
		list = append(list, v)
	}
	return list, nil
}

// beginsWith says until when a rule only labels; for a while after that, since when it does all that it says.
func beginsWith(r *rules.Rule, now time.Time) string {
	ends := r.LabelOnlyEnds()
	switch {
	case ends.IsZero() || now.Sub(ends) > RulesWindow:
		return ""
	case now.Before(ends):
		return "it only labels until the end of " + r.Schedule.LabelOnlyUntil
	}
	return "since " + ends.Format(time.DateOnly) + " it does all of this; before, it only labelled"
}

// countHits counts the decisions of each rule, and the undos of its actions, in [RulesWindow].
func countHits(ctx context.Context, h *app.App, mailboxes []mailstore.Account, now time.Time) (hits,
	undone map[string]int, err error) {
	hits, undone = map[string]int{}, map[string]int{}
	since := now.Add(-RulesWindow)
	for _, m := range mailboxes {
		activity, err := h.Ledger.Activity().Decided(ctx, m.ID, since)
		if err != nil {
			return nil, nil, err
		}
		for _, a := range activity {
			hits[a.RuleID] += a.N // several mailboxes may have rules of one name
		}
		undos, err := h.Ledger.Activity().Undone(ctx, m.ID, since, now)
		if err != nil {
			return nil, nil, err
		}
		for rule, n := range undos {
			undone[rule] += n
		}
	}
	return hits, undone, nil
}

// Applied is what 'rules apply' has done.
type Applied struct {
	Batch        string         `json:"batch"`
	DryRun       bool           `json:"dry_run"`
	Finished     bool           `json:"finished"`
	Messages     int            `json:"messages"`
	Matched      int            `json:"matched"`
	Actions      map[string]int `json:"actions"`
	Irreversible []string       `json:"irreversible"` // of the actions, those that cannot be undone
	Rules        map[string]int `json:"rules"`
	AlreadySo    int            `json:"already_so"`
	LeftAlone    int            `json:"left_alone"` // a person has changed it by hand, or undone it
	Refused      int            `json:"refused"`
	Waiting      int            `json:"waiting"`
	// rules or models that breakers have stopped: their decisions wait
	Stopped string `json:"stopped,omitempty"`
}
