package activity

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
)

// A Summary has counts over the whole record.
type Summary struct {
	Actions   map[postroom.ActionType]int  // by type, in any state; undos under undo_<type>
	States    map[postroom.ActionState]int // by state
	Rules     map[string]int               // decisions of the user's rules, by the rule's name at the time
	Approvals int                          // actions that wait for approval
	Models    map[string]int               // decisions of models, by their names at the time
	Host      int                          // decisions of the program's own, as for a person
	Unmatched int                          // decisions of source none: no rule matched and no model is configured
}

// Summary counts the actions and decisions of one account, or of all if accountID is empty.
func (r *Reader) Summary(ctx context.Context, accountID string) (Summary, error) {
	s := Summary{
		Actions: make(map[postroom.ActionType]int), States: make(map[postroom.ActionState]int), Rules: make(map[string]int),
		Models: make(map[string]int),
	}
	actions, err := r.columns(ctx, countActions, accountID)
	if err != nil {
		return s, err
	}
	for _, g := range actions {
		s.Actions[postroom.ActionType(g.A)] += g.N
		s.States[postroom.ActionState(g.B)] += g.N
	}
	s.Approvals = s.States[postroom.ActionPendingApproval]

	decisions, err := r.columns(ctx, countDecisions, accountID)
	for _, g := range decisions {
		switch postroom.Source(g.A) {
		case postroom.SourceDeterministic:
			s.Rules[g.B] += g.N
		case postroom.SourceModel:
			s.Models[g.C] += g.N
		case postroom.SourceHost:
			s.Host += g.N
		case postroom.SourceNone:
			s.Unmatched += g.N
		}
	}
	return s, err
}

// A group is one line of a count by columns.
type group struct {
	A string `db:"a"`
	B string `db:"b"`
	C string `db:"c"`
	N int    `db:"n"`
}

func (r *Reader) columns(ctx context.Context, query, accountID string) ([]group, error) {
	var groups []group
	if err := dbquery.Select(ctx, r.db.Reader(), &groups, query, accountID); err != nil {
		return nil, fmt.Errorf("safety: summary: %w", err)
	}
	return groups, nil
}

const (
	countActions = `
SELECT type AS a, state AS b, COUNT(*) AS n
FROM actions
WHERE $1 = ''
  OR account_id = $1
GROUP BY type, state`

	countDecisions = `
SELECT source AS a, rule_name AS b, model AS c, COUNT(*) AS n
FROM decisions
WHERE $1 = ''
  OR account_id = $1
GROUP BY source, rule_name, model`
)
