package safety

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/safety/audit"
)

// A verifier compares the ledger with its audit log.
type verifier struct {
	l        *Ledger
	tx       dbquery.Querier
	report   audit.Report
	latest   map[[2]string]audit.Entry // the last entries about rows, by kind and id
	recorded map[string]audit.Entry    // the decisions, by the ids of their actions
}

func (v *verifier) run(ctx context.Context, heads []audit.Head) error {
	err := dbquery.Snapshot(ctx, v.l.cfg.DB.Reader(), func(tx dbquery.Tx) (err error) {
		v.tx = tx
		if v.report, err = v.l.cfg.Audit.Verify(ctx, tx, heads, v.entry); err != nil {
			return err
		}
		return errors.Join(
			eachRow(ctx, v, selectAllActions, v.action, func(r *entryRow) string { return r.actionRow.ID }),
			eachRow(ctx, v, selectAllApprovals, func(r *approvalRow) { v.row(auditApproval, r.ID, r.parts()) }, func(r *approvalRow) string { return r.ID }),
			eachRow(ctx, v, selectAllEvents, func(r *eventRow) { v.row(auditEvent, r.ID, r.parts()) }, func(r *eventRow) string { return r.ID }),
		)
	})
	if err != nil {
		return fmt.Errorf("safety: verify the audit log: %w", err)
	}
	for key := range v.latest {
		v.report.Faultf(key[0], key[1], "the log has the row, and it is gone")
	}
	for id := range v.recorded {
		v.report.Faultf(auditDecision, id, "the log has the decision, and it is gone with its action")
	}
	return nil
}

func (v *verifier) entry(e *audit.Entry) error {
	switch e.Kind {
	case auditDecision:
		v.recorded[e.Subject] = *e
	case auditAction, auditApproval, auditEvent:
		v.latest[[2]string{e.Kind, e.Subject}] = *e
	}
	return nil
}

// eachRow calls fn for all rows of a table, in the order of their ids.
func eachRow[R any](ctx context.Context, v *verifier, query string, fn func(*R), id func(*R) string) error {
	const page = 2000
	for last := ""; ; {
		var rows []R
		if err := dbquery.Select(ctx, v.tx, &rows, query, last, page); err != nil || len(rows) == 0 {
			return err
		}
		for i := range rows {
			fn(&rows[i])
		}
		last = id(&rows[len(rows)-1])
	}
}

// row compares a row with its last entry.
func (v *verifier) row(kind, id string, parts []string) {
	key := [2]string{kind, id}
	last, ok := v.latest[key]
	delete(v.latest, key)
	v.report.Rows++
	switch {
	case !ok:
		v.report.Faultf(kind, id, "the log does not have the row: it was added by something else")
	case last.Digest != audit.Digest(parts...):
		v.report.Faultf(kind, id, "the row was altered, or put back")
	}
}

// action compares an action and its decision with their entries. An undo shares the decision of its original.
func (v *verifier) action(r *entryRow) {
	a := &r.actionRow
	key := [2]string{auditAction, a.ID}
	last, changed := v.latest[key]
	decided, ok := v.recorded[a.ID]
	delete(v.latest, key)
	delete(v.recorded, a.ID)
	v.report.Rows++
	was := decided
	if changed {
		was = last
	}
	switch started := startsReversibly(a, v.l.gate.kinds) && a.Rev == was.Rev+1; {
	case !ok && (!changed || !IsUndo(a.Type)):
		v.report.Faultf(auditAction, a.ID, "the log does not have its decision: it was added by something else")
	case ok && decided.Digest != decisionDigest(a, &r.decisionRow):
		v.report.Faultf(auditDecision, a.ID, "the action or its decision was altered")
	case started:
	case a.Rev != was.Rev:
		v.report.Faultf(auditAction, a.ID, "it is at revision %d, and the log at %d: the row was put back, or altered", a.Rev, was.Rev)
	case changed && last.Digest != audit.Digest(a.parts()...), !changed && string(a.State) != was.Note:
		v.report.Faultf(auditAction, a.ID, "the row was altered")
	}
}

// auditHead returns the end of the audit log that the checkpoint remembers.
func (c *checkpoint) auditHead() (head audit.Head, ok bool) {
	if c.store == nil {
		return head, false
	}
	text, _, err := c.store.Load()
	if err != nil {
		return head, false
	}
	_, logged, _ := strings.Cut(text, ", ")
	head, err = audit.ParseHead(logged)
	return head, err == nil
}

const (
	selectAllActions = `
SELECT ` + actionColumns + `, ` + decisionColumns + `
FROM actions
JOIN decisions ON decisions.id = actions.decision_id
WHERE actions.id > $1
ORDER BY actions.id
LIMIT $2`

	selectAllApprovals = `
SELECT ` + approvalColumns + `
FROM approvals
WHERE id > $1
ORDER BY id
LIMIT $2`

	selectAllEvents = `
SELECT id, kind, account_id, source, changed_by, why, created_at
FROM safety_events
WHERE id > $1
ORDER BY id
LIMIT $2`
)
