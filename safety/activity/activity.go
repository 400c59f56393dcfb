// Package activity counts what the ledger of package safety has on record: decisions, actions, answers and undos, each
// by the time at which it happened.
package activity

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// A Reader counts the records of a database. It is safe for concurrent use. [New] makes one.
type Reader struct{ db queue.DB }

// New makes a reader of the ledger's tables in a database.
func New(db queue.DB) *Reader { return &Reader{db} }

// A Count counts the decisions of one source for one kind of action, or the actions that they led to.
type Count struct {
	Source postroom.Source     `db:"source"`
	RuleID string              `db:"rule_id"`   // only of [Reader.Decided]
	Rule   string              `db:"rule_name"` // at the time
	Model  string              `db:"model"`
	Action postroom.ActionType `db:"action_type"`
	N      int                 `db:"n"`
}

// Decided counts the decisions about mail of an account since an instant, undos excluded. It reads those decisions, and
// no earlier ones.
func (r *Reader) Decided(ctx context.Context, accountID string, since time.Time) (list []Count, err error) {
	if err := dbquery.Select(ctx, r.db.Reader(), &list, countDecided, accountID, dbtime.Of(since)); err != nil {
		return nil, fmt.Errorf("safety: count decisions: %w", err)
	}
	return list, nil
}

// Done counts the actions of an account that were completed at from or later and before until, whenever they were
// decided, without undos and those that change nothing. It reads what ended within that time.
func (r *Reader) Done(ctx context.Context, accountID string, from, until time.Time) (list []Count, err error) {
	err = dbquery.Select(ctx, r.db.Reader(), &list, countDone, accountID, dbtime.Of(from), dbtime.Of(until))
	if err != nil {
		return nil, fmt.Errorf("safety: count actions: %w", err)
	}
	return list, nil
}

// Answers counts the requests that a person has answered in one way.
type Answers struct {
	Approver string `db:"approver"`
	Outcome  string `db:"outcome"` // approved or rejected
	N        int    `db:"n"`
}

// Answers counts the requests about mail of an account that people have answered at from or later and before until.
func (r *Reader) Answers(ctx context.Context, accountID string, from, until time.Time) (list []Answers, err error) {
	err = dbquery.Select(ctx, r.db.Reader(), &list, countAnswers, accountID, dbtime.Of(from), dbtime.Of(until))
	if err != nil {
		return nil, fmt.Errorf("safety: count answers: %w", err)
	}
	return list, nil
}

// Undone counts the actions of an account that were taken back at from or later and before until, and have stayed so,
// by the id of the rule that had decided; empty where none had. It reads what was taken back within that time.
func (r *Reader) Undone(ctx context.Context, accountID string, from, until time.Time) (map[string]int, error) {
	var rules []struct {
		ID string `db:"rule_id"`
		N  int    `db:"n"`
	}
	err := dbquery.Select(ctx, r.db.Reader(), &rules, countUndone, accountID, dbtime.Of(from), dbtime.Of(until))
	if err != nil {
		return nil, fmt.Errorf("safety: count undos: %w", err)
	}
	undone := make(map[string]int, len(rules))
	for _, rule := range rules {
		undone[rule.ID] = rule.N
	}
	return undone, nil
}

// A ModelAction is what a model's decision has come to.
type ModelAction struct {
	ActionID   string               `db:"action_id"`
	MessageID  string               `db:"message_id"`
	Sender     string               `db:"sender"` // of the message
	Action     postroom.ActionType  `db:"type"`
	Confidence float64              `db:"confidence"`
	State      postroom.ActionState `db:"state"`    // completed or rejected
	Approved   bool                 `db:"approved"` // by a person
	EndedAt    dbtime.Time          `db:"ended_at"`
	AnsweredAt dbtime.Time          `db:"answered_at"` // by a person; zero if nobody was asked
	Group      string               `db:"group_id"`    // of the request; empty if it stood alone
}

// OfModels lists up to most actions of an account that models have decided on since an instant, and that were completed
// or rejected, the last decided first. Undos and what changes nothing are left out.
func (r *Reader) OfModels(ctx context.Context, accountID string, since time.Time, most int) (list []ModelAction,
	err error) {
	err = dbquery.Select(ctx, r.db.Reader(), &list, listOfModels, accountID, dbtime.Of(since), most)
	if err != nil {
		return nil, fmt.Errorf("safety: list the actions of models: %w", err)
	}
	return list, nil
}

// An Actor is a rule at a version, or the models, of an account.
type Actor struct {
	AccountID           string
	RuleID, RuleVersion string // empty: the models
}

// Acted lists up to most messages on which an actor has acted since an instant, in the caller's transaction, the one
// acted on last first. What a person had approved is among it, and so is what was taken back.
func Acted(ctx context.Context, tx queue.Tx, by Actor, since time.Time, most int) (messages []string, err error) {
	var ids []string
	err = dbquery.Select(ctx, tx, &ids, listActed, by.AccountID, dbtime.Of(since), by.RuleID, by.RuleVersion,
		most*actsOfMessage)
	if err != nil {
		return nil, fmt.Errorf("safety: list what was acted on: %w", err)
	}
	for _, id := range ids {
		if len(messages) < most && !slices.Contains(messages, id) {
			messages = append(messages, id)
		}
	}
	return messages, nil
}

// actsOfMessage is how many actions on a message Acted reads on average at most: it runs within a write transaction.
const actsOfMessage = 4

const (
	// By the index actions_ended.
	listActed = `
SELECT a.message_id
FROM actions a
JOIN decisions d ON d.id = a.decision_id AND d.action_type = a.type
WHERE a.account_id = $1
  AND a.ended_at >= $2
  AND a.state = 'completed'
  AND d.rule_id = $3
  AND d.rule_version = $4
  AND d.source IN ('deterministic', 'llm')
ORDER BY a.ended_at DESC, a.id DESC
LIMIT $5`

	// By the index decisions_models; SQLite keeps the order of a cross join.
	listOfModels = `
SELECT a.id AS action_id, a.message_id, d.sender, a.type, d.confidence, a.state, a.ended_at,
  CASE WHEN a.approval_id <> '' THEN 1 ELSE 0 END AS approved,
  (SELECT MAX(p.decided_at) FROM approvals p WHERE p.action_id = a.id AND p.outcome IN ('approved', 'rejected'))
    AS answered_at,
  COALESCE((SELECT MAX(p.group_id) FROM approvals p WHERE p.action_id = a.id AND p.outcome IN ('approved', 'rejected')), '')
    AS group_id
FROM decisions d
CROSS JOIN actions a
WHERE d.account_id = $1
  AND d.source = 'llm'
  AND d.created_at >= $2
  AND d.confidence IS NOT NULL
  AND a.decision_id = d.id
  AND a.type = d.action_type
  AND a.state IN ('completed', 'rejected')
  AND a.ended_at IS NOT NULL
ORDER BY d.created_at DESC, d.id DESC
LIMIT $3`

	countDecided = `
SELECT source, rule_id, rule_name, model, action_type, COUNT(*) AS n
FROM decisions
WHERE account_id = $1
  AND created_at >= $2
GROUP BY source, rule_id, rule_name, model, action_type
ORDER BY n DESC, rule_name, rule_id, action_type`

	// By the index actions_ended. The type of an undo is not that of its decision.
	countDone = `
SELECT d.source, d.rule_name, d.model, d.action_type, COUNT(*) AS n
FROM actions a
JOIN decisions d ON d.id = a.decision_id AND d.action_type = a.type
WHERE a.account_id = $1
  AND a.ended_at >= $2
  AND a.ended_at < $3
  AND a.state = 'completed'
GROUP BY d.source, d.rule_name, d.model, d.action_type
ORDER BY n DESC, d.rule_name, d.action_type`

	countAnswers = `
SELECT approvals.approver, approvals.outcome, COUNT(*) AS n
FROM approvals
JOIN actions ON actions.id = approvals.action_id
WHERE actions.account_id = $1
  AND approvals.decided_at >= $2
  AND approvals.decided_at < $3
  AND approvals.outcome IN ('approved', 'rejected')
GROUP BY approvals.approver, approvals.outcome
ORDER BY n DESC, approvals.approver, approvals.outcome`

	// The order of the tables is that of the text, which SQLite keeps for a CROSS JOIN: there are few undos.
	countUndone = `
SELECT decisions.rule_id, COUNT(*) AS n
FROM action_links
CROSS JOIN actions
CROSS JOIN decisions
WHERE action_links.relation = 'undo_of'
  AND action_links.void_at IS NULL
  AND action_links.created_at >= $2
  AND action_links.created_at < $3
  AND actions.id = action_links.effect_action_id
  AND actions.account_id = $1
  AND decisions.id = actions.decision_id
GROUP BY decisions.rule_id`
)
