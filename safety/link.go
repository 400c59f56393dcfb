package safety

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// A linkRow links an undo to the action that it undoes. A void link prevents no other undo.
type linkRow struct {
	Cause     string      `db:"cause_action_id"`
	Effect    string      `db:"effect_action_id"`
	Relation  string      `db:"relation"`
	CreatedAt dbtime.Time `db:"created_at"`
	VoidAt    dbtime.Time `db:"void_at"`
}

func (r *linkRow) parts() []string {
	return []string{r.Cause, r.Effect, r.Relation, stamp(r.CreatedAt), stamp(r.VoidAt)}
}

// rev counts the writes of the row: when it was made, and when it became void.
func (r *linkRow) rev() int {
	if r.VoidAt.IsZero() {
		return 1
	}
	return 2
}

func (l *Ledger) entryOfLink(accountID string, r *linkRow) AuditEntry {
	return l.entry(auditLink, accountID, r.Cause, r.rev(), r.Effect, r.parts())
}

// voidLinks runs a statement that voids the links of an undo, and adds them to the audit log.
func (l *Ledger) voidLinks(ctx context.Context, tx queue.Tx, statement, accountID, actionID string) error {
	var links []linkRow
	if err := dbquery.Select(ctx, tx, &links, statement, dbtime.Of(queue.Now(tx)), actionID); err != nil {
		return fmt.Errorf("safety: void the links of action %s: %w", actionID, err)
	}
	for i := range links {
		if err := l.log(ctx, tx, l.entryOfLink(accountID, &links[i])); err != nil {
			return err
		}
	}
	return nil
}

// checkLinks returns an error if the audit log has an undo of the action whose link is gone: the action would be undone twice.
func (l *Ledger) checkLinks(ctx context.Context, tx queue.Tx, originalID string) error {
	var undo string
	err := dbquery.Get(ctx, tx, &undo, selectMissedUndo, originalID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("safety: look for undos of action %s in the log: %w", originalID, err)
	}
	return fmt.Errorf("safety: undo action %s: %w: the log has it undone by action %s, and the link is gone", originalID, ErrAltered, undo)
}
