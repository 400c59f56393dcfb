// Package counts counts the decisions and actions of a ledger, for what limits them.
package counts

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/limits"
	"github.com/postroom-go/postroom/safety/origin"
)

// Counts counts decisions and actions.
type Counts struct{ Kinds *postroom.Kinds }

var _ limits.Counts = Counts{}

// Unattended implements [limits.Counts].
func (c Counts) Unattended(ctx context.Context, tx queue.Tx, q limits.Query) (int, error) {
	kinds := q.Actions
	if len(kinds) == 0 {
		kinds = slices.DeleteFunc(c.Kinds.Types(), func(t postroom.ActionType) bool { return t == postroom.None })
	}
	query, args, err := sqlx.In(countAlone, q.AccountID, q.Sources, kinds, dbtime.Of(q.Since), q.Most)
	if err != nil {
		return 0, fmt.Errorf("safety: count actions: %w", err)
	}
	return c.count(ctx, tx, sqlx.Rebind(sqlx.DOLLAR, query), args...)
}

// Failed implements [limits.Counts].
func (c Counts) Failed(ctx context.Context, tx queue.Tx, q limits.Query) (int, error) {
	return c.count(ctx, tx, countFailed, q.AccountID, string(q.Sources[0]), dbtime.Of(q.Since), q.Most)
}

// Undone implements [limits.Counts].
func (c Counts) Undone(ctx context.Context, tx queue.Tx, q limits.Query) (int, error) {
	return c.count(ctx, tx, countUndone, q.AccountID, string(q.Sources[0]), dbtime.Of(q.Since), q.Most)
}

// A Sender has the messages of a day from one origin.
type Sender struct {
	Decided int `db:"decided"`
	Taken   int `db:"taken"` // by models alone
}

// BySender counts the messages since a time that no list has sent, by their origin.
func (Counts) BySender(ctx context.Context, tx queue.Tx, accountID string, hiding []postroom.ActionType,
	since time.Time) (senders []Sender, err error) {
	query, args, err := sqlx.In(countBySender, hiding, accountID, dbtime.Of(since))
	if err == nil {
		err = dbquery.Select(ctx, tx, &senders, sqlx.Rebind(sqlx.DOLLAR, query), args...)
	}
	if err != nil {
		return nil, fmt.Errorf("safety: count what models have done: %w", err)
	}
	return senders, nil
}

func (Counts) count(ctx context.Context, tx queue.Tx, query string, args ...any) (n int, err error) {
	if err := dbquery.Get(ctx, tx, &n, query, args...); err != nil {
		return 0, fmt.Errorf("safety: count actions: %w", err)
	}
	return n, nil
}

// Source implements [limits.Counts].
func (Counts) Source(ctx context.Context, tx queue.Tx, decisionID string) (source postroom.Source, err error) {
	if err := dbquery.Get(ctx, tx, &source, selectSource, decisionID); err != nil {
		return "", fmt.Errorf("safety: read decision %s: %w", decisionID, err)
	}
	return source, nil
}

const (
	// By who has sent them, the messages of an account that were received since a time and were decided about, and those
	// of them that models have taken out alone. The mail of lists, and a batch of rules over earlier mail, do not count.
	countBySender = `
SELECT COUNT(DISTINCT message_id) AS decided,
  COUNT(DISTINCT CASE WHEN source = 'llm' AND needs_approval = 0 AND action_type IN (?) AND ` + notDry + ` THEN message_id END) AS taken
FROM decisions
WHERE account_id = ?
  AND created_at > ?
  AND origin <> '` + origin.List + `'
  AND decision_key NOT LIKE '` + postroom.BatchKeyPrefix + `%'
GROUP BY origin`

	// At most as many rows as the last parameter are counted.
	countAlone = `
SELECT COUNT(*)
FROM (
  SELECT 1
  FROM decisions
  WHERE account_id = ?
    AND source IN (?)
    AND action_type IN (?)
    AND needs_approval = 0
    AND created_at > ?
    AND ` + notDry + `
  LIMIT ?) AS alone`

	// A dry run has done nothing, and neither has what was not sent again, or refused when it was decided.
	notDry = `NOT EXISTS (
    SELECT 1
    FROM actions
    WHERE actions.decision_id = decisions.id
      AND actions.state IN ('canceled', 'failed')
      AND (actions.error LIKE '` + DryRunMark + `%' OR actions.error LIKE '` + SentMark + `%' OR actions.error LIKE '` + RefusedMark + `%'))`

	countFailed = `
SELECT COUNT(*)
FROM (
  SELECT 1
  FROM actions
  JOIN decisions ON decisions.id = actions.decision_id
  WHERE actions.account_id = $1
    AND actions.state = 'failed'
    AND actions.error NOT LIKE '` + RefusedMark + `%'
    AND decisions.source = $2
    AND actions.updated_at > $3
  LIMIT $4) AS failed`

	countUndone = `
SELECT COUNT(*)
FROM (
  SELECT 1
  FROM action_links
  JOIN actions ON actions.id = action_links.effect_action_id
  JOIN decisions ON decisions.id = actions.decision_id
  WHERE action_links.relation = 'undo_of'
    AND actions.account_id = $1
    AND decisions.source = $2
    AND action_links.created_at > $3
  LIMIT $4) AS undone`

	selectSource = `
SELECT source
FROM decisions
WHERE id = $1`
)

// What the reason of an action begins with that was decided and not carried out: it counts for nothing.
const (
	DryRunMark  = "dry run: "               // canceled by a dry run
	SentMark    = "not sent again: "        // it would only send what was sent before
	RefusedMark = "cannot be carried out: " // it was refused when it was decided
)
