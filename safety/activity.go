package safety

import (
	"context"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
)

// An Activity counts the decisions of one source for one kind of action.
type Activity struct {
	Source postroom.Source     `db:"source"`
	Rule   string              `db:"rule_name"` // at the time
	Model  string              `db:"model"`
	Action postroom.ActionType `db:"action_type"`
	N      int                 `db:"n"`
}

// Activity counts the decisions about mail of an account since an instant, undos excluded. It reads those decisions,
// and no earlier ones.
func (l *Ledger) Activity(ctx context.Context, accountID string, since time.Time) ([]Activity, error) {
	var list []Activity
	if err := dbquery.Select(ctx, l.cfg.DB.Reader(), &list, countActivity, accountID, dbtime.Of(since)); err != nil {
		return nil, fmt.Errorf("safety: count decisions: %w", err)
	}
	return list, nil
}

// DoneSince counts those decisions since an instant whose actions have been carried out, and that change something.
func (l *Ledger) DoneSince(ctx context.Context, accountID string, since time.Time) ([]Activity, error) {
	var list []Activity
	if err := dbquery.Select(ctx, l.cfg.DB.Reader(), &list, countDone, accountID, dbtime.Of(since),
		string(postroom.None)); err != nil {
		return nil, fmt.Errorf("safety: count actions: %w", err)
	}
	return list, nil
}

// Answers counts the requests that a person has answered in one way.
type Answers struct {
	Approver string  `db:"approver"`
	Outcome  Outcome `db:"outcome"` // approved or rejected
	N        int     `db:"n"`
}

// AnswersSince counts the requests about mail of an account that people have answered since an instant.
func (l *Ledger) AnswersSince(ctx context.Context, accountID string, since time.Time) ([]Answers, error) {
	var list []Answers
	if err := dbquery.Select(ctx, l.cfg.DB.Reader(), &list, countAnswers, accountID, dbtime.Of(since)); err != nil {
		return nil, fmt.Errorf("safety: count answers: %w", err)
	}
	return list, nil
}

// UndoneSince counts the actions of an account that were taken back since an instant, and have stayed so, by the id of
// the rule that had decided; empty where none had. It reads the undos since then, and no earlier ones.
func (l *Ledger) UndoneSince(ctx context.Context, accountID string, since time.Time) (map[string]int, error) {
	var groups []group
	if err := dbquery.Select(ctx, l.cfg.DB.Reader(), &groups, countUndoneSince, accountID, dbtime.Of(since)); err != nil {
		return nil, fmt.Errorf("safety: count undos: %w", err)
	}
	undone := make(map[string]int, len(groups))
	for _, g := range groups {
		undone[g.A] = g.N
	}
	return undone, nil
}

const (
	countActivity = `
SELECT source, rule_name, model, action_type, COUNT(*) AS n
FROM decisions
WHERE account_id = $1
  AND created_at >= $2
GROUP BY source, rule_name, model, action_type
ORDER BY n DESC, rule_name, action_type`

	countDone = `
SELECT d.source, d.rule_name, d.model, d.action_type, COUNT(*) AS n
FROM decisions d
JOIN actions a ON a.decision_id = d.id AND a.type = d.action_type
WHERE d.account_id = $1
  AND d.created_at >= $2
  AND d.action_type <> $3
  AND a.state = 'completed'
GROUP BY d.source, d.rule_name, d.model, d.action_type
ORDER BY n DESC, d.rule_name, d.action_type`

	countAnswers = `
SELECT approvals.approver, approvals.outcome, COUNT(*) AS n
FROM approvals
JOIN actions ON actions.id = approvals.action_id
WHERE actions.account_id = $1
  AND approvals.decided_at >= $2
  AND approvals.outcome IN ('approved', 'rejected')
GROUP BY approvals.approver, approvals.outcome
ORDER BY n DESC, approvals.approver, approvals.outcome`

	// The order of the joins is that of the text, which SQLite keeps for a CROSS JOIN: there are few undos.
	countUndoneSince = `
SELECT decisions.rule_id AS a, '' AS b, '' AS c, COUNT(*) AS n
FROM action_links
CROSS JOIN actions
CROSS JOIN decisions
WHERE action_links.relation = 'undo_of'
  AND action_links.void_at IS NULL
  AND action_links.created_at >= $2
  AND actions.id = action_links.effect_action_id
  AND actions.account_id = $1
  AND decisions.id = actions.decision_id
GROUP BY decisions.rule_id`
)
