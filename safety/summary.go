package safety

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom"
)

// A Summary counts what is in the ledger.
type Summary struct {
	Actions   map[postroom.ActionType]int  // by type, in whatever state; undos under undo_<type>
	States    map[postroom.ActionState]int // by state
	Rules     map[string]int               // decisions of the user's rules, by the rule's name at the time
	Approvals int                          // actions that wait for a person
	Unmatched int                          // decisions that nobody made: no rule matched and no model is configured
}

// Summary counts the ledger of one account; of all when accountID is empty.
func (l *Ledger) Summary(ctx context.Context, accountID string) (Summary, error) {
	s := Summary{
		Actions: make(map[postroom.ActionType]int), States: make(map[postroom.ActionState]int), Rules: make(map[string]int),
	}
	actions, err := l.count(ctx, countActions, accountID)
	if err != nil {
		return s, err
	}
	for _, g := range actions {
		s.Actions[postroom.ActionType(g.a)] += g.n
		s.States[postroom.ActionState(g.b)] += g.n
	}
	s.Approvals = s.States[postroom.ActionApprovedPending]

	decisions, err := l.count(ctx, countDecisions, accountID)
	for _, g := range decisions {
		switch postroom.Source(g.a) {
		case postroom.SourceDeterministic:
			s.Rules[g.b] += g.n
		case postroom.SourceNone:
			s.Unmatched += g.n
		}
	}
	return s, err
}

// A group is one line of a count by two columns.
type group struct {
	a, b string
	n    int
}

func (l *Ledger) count(ctx context.Context, query, accountID string) ([]group, error) {
	rows, err := l.cfg.DB.Reader().QueryContext(ctx, query, accountID)
	groups, err := collect(rows, err, func(s scanner) (g group, err error) {
		err = s.Scan(&g.a, &g.b, &g.n)
		return g, err
	})
	if err != nil {
		return nil, fmt.Errorf("safety: summary: %w", err)
	}
	return groups, nil
}
