package safety

import (
	"context"
	"fmt"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/audit"
)

// An auditor adds to the audit log, if there is one, what the ledger writes.
type auditor struct {
	log   AuditLog // nil: none
	kinds *postroom.Kinds
}

// The kinds of entries.
const (
	auditDecision = audit.Decision // the subject is the action
	auditAction   = "action"
	auditApproval = "approval"
	auditUndo     = "undo" // the subject is the job that is to undo an action
)

// auditDecision logs a decision with its action, in the state in which it is recorded.
func (a *auditor) auditDecision(ctx context.Context, tx queue.Tx, p *permitRow) error {
	if a.log == nil {
		return nil
	}
	return a.log.Append(ctx, tx, audit.Entry{
		Kind: auditDecision, AccountID: p.AccountID, Subject: p.ID, Rev: 1, Note: string(p.State),
		Digest: decisionDigest(&p.actionRow, &p.decisionRow),
	})
}

// decisionDigest covers the decision and what stays of its action.
func decisionDigest(a *actionRow, d *decisionRow) string {
	return audit.Digest(append(d.parts(), a.ID, a.AccountID, a.MessageID, a.DecisionID, string(a.Type), a.Parameters)...)
}

// auditAction logs a change of an action, but not the start of one that can be undone: its end says more.
func (a *auditor) auditAction(ctx context.Context, tx queue.Tx, r *actionRow) error {
	if a.log == nil || startsReversibly(r, a.kinds) {
		return nil
	}
	return a.log.Append(ctx, tx, audit.Entry{
		Kind: auditAction, AccountID: r.AccountID, Subject: r.ID, Rev: r.Rev, Note: string(r.State),
		Digest: audit.Digest(r.parts()...),
	})
}

func startsReversibly(r *actionRow, kinds *postroom.Kinds) bool {
	return r.State == postroom.ActionExecuting && !IsUndo(r.Type) && kinds.Danger(r.Type) != postroom.Dangerous
}

// auditApproval logs a request, when it is made, answered or withdrawn.
func (a *auditor) auditApproval(ctx context.Context, tx queue.Tx, accountID string, r *approvalRow) error {
	if a.log == nil {
		return nil
	}
	note := string(r.Outcome)
	if r.Approver != "" {
		note += " by " + r.Approver
	}
	if r.ReplacedBy != "" {
		note = fmt.Sprintf("edited by %s: it was about SHA-256 %s; request %s replaces it", r.Approver, r.Content,
			r.ReplacedBy)
	}
	return a.log.Append(ctx, tx, audit.Entry{
		Kind: auditApproval, AccountID: accountID, Subject: r.ID, Note: note, Digest: audit.Digest(r.parts()...),
	})
}

// auditUndo logs who has requested an undo, and of what.
func (a *auditor) auditUndo(ctx context.Context, tx queue.Tx, original postroom.Action, jobID, by string) error {
	if a.log == nil {
		return nil
	}
	note := original.ID
	if by != "" {
		note += undoneBy + by
	}
	return a.log.Append(ctx, tx, audit.Entry{Kind: auditUndo, AccountID: original.AccountID,
		Subject: jobID, Note: note})
}

// UndoRequester returns the person or program that has requested an undo, as the note of its entry in the audit log
// has it; empty if that is not known.
func UndoRequester(e audit.Entry) string {
	_, by, _ := strings.Cut(e.Note, undoneBy)
	return by
}

// undoneBy stands between the id of the action and the name.
const undoneBy = " by "

// auditedActions are the actions with their decisions. An undo shares the decision of its original, and the start of
// what can be undone is not logged.
func (a *auditor) auditedActions(ctx context.Context, q audit.Querier, after string, limit int) ([]audit.Row, error) {
	var rows []entryRow
	if err := dbquery.Select(ctx, q, &rows, selectAllActions, after, limit); err != nil {
		return nil, fmt.Errorf("safety: read actions: %w", err)
	}
	list := make([]audit.Row, len(rows))
	for i := range rows {
		r := &rows[i].actionRow
		list[i] = audit.Row{Kind: auditAction, ID: r.ID, Digest: audit.Digest(r.parts()...), Rev: r.Rev,
			Note: string(r.State), Unlogged: startsReversibly(r, a.kinds)}
		if !IsUndo(r.Type) {
			list[i].Made = decisionDigest(r, &rows[i].decisionRow)
		}
	}
	return list, nil
}

func auditedApprovals(ctx context.Context, q audit.Querier, after string, limit int) ([]audit.Row, error) {
	var rows []approvalRow
	if err := dbquery.Select(ctx, q, &rows, selectAllApprovals, after, limit); err != nil {
		return nil, fmt.Errorf("safety: read approvals: %w", err)
	}
	list := make([]audit.Row, len(rows))
	for i := range rows {
		list[i] = audit.Row{Kind: auditApproval, ID: rows[i].ID, Digest: audit.Digest(rows[i].parts()...)}
	}
	return list, nil
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
)
