package safety

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/audit"
)

// An AuditLog is the log of what is decided, permitted and done; *audit.Log implements it.
type AuditLog interface {
	// Append adds entries in the caller's transaction.
	Append(ctx context.Context, tx queue.Tx, entries ...audit.Entry) error
	// Head returns the end of the log; zero if it is empty.
	Head(ctx context.Context, q audit.Querier) (audit.Head, error)
	// Has reports whether the log has a head, as its end or before.
	Has(ctx context.Context, q audit.Querier, head audit.Head) (bool, error)
	// Verify reads the whole log, calls each for every entry, and reports what was altered.
	Verify(ctx context.Context, q audit.Querier, heads []audit.Head, each func(*audit.Entry) error) (audit.Report, error)
}

var _ AuditLog = (*audit.Log)(nil)

// ErrNoAudit reports that the ledger has no audit log.
var ErrNoAudit = errors.New("there is no audit log: Config.Audit is nil")

// The kinds of entries.
const (
	auditDecision = "decision" // the subject is the action
	auditAction   = "action"
	auditApproval = "approval"
	auditEvent    = "event"
	auditUndo     = "undo" // the subject is the job that is to undo an action
)

// auditDecision logs a decision with its action, in the state in which it is recorded.
func (l *Ledger) auditDecision(ctx context.Context, tx queue.Tx, p *permitRow) error {
	if l.cfg.Audit == nil {
		return nil
	}
	return l.cfg.Audit.Append(ctx, tx, audit.Entry{
		Kind: auditDecision, AccountID: p.AccountID, Subject: p.ID, Rev: 1, Note: string(p.State),
		Digest: decisionDigest(&p.actionRow, &p.decisionRow),
	})
}

// decisionDigest covers the decision and what stays of its action.
func decisionDigest(a *actionRow, d *decisionRow) string {
	return audit.Digest(append(d.parts(), a.ID, a.AccountID, a.MessageID, a.DecisionID, string(a.Type), a.Parameters)...)
}

// auditAction logs a change of an action, but not the start of one that can be undone: its end says more.
func (l *Ledger) auditAction(ctx context.Context, tx queue.Tx, r *actionRow) error {
	if l.cfg.Audit == nil || startsReversibly(r, l.gate.kinds) {
		return nil
	}
	return l.cfg.Audit.Append(ctx, tx, audit.Entry{
		Kind: auditAction, AccountID: r.AccountID, Subject: r.ID, Rev: r.Rev, Note: string(r.State), Digest: audit.Digest(r.parts()...),
	})
}

func startsReversibly(r *actionRow, kinds *postroom.Kinds) bool {
	return r.State == postroom.ActionExecuting && !IsUndo(r.Type) && kinds.Danger(r.Type) != postroom.Dangerous
}

// parts are the columns of an action.
func (r *actionRow) parts() []string {
	return []string{
		r.ID, r.AccountID, r.MessageID, r.DecisionID, string(r.Type), r.Parameters, string(r.State), r.Error,
		strconv.FormatBool(r.UndoHint.Valid), r.UndoHint.String, r.JobID, r.Content, stamp(r.CreatedAt), stamp(r.UpdatedAt), stamp(r.ExecutedAt),
		strconv.FormatInt(r.Sequence.Int64, 10), r.ApprovalID, strconv.Itoa(r.Rev),
	}
}

// auditApproval logs a request, when it is made, answered or withdrawn.
func (l *Ledger) auditApproval(ctx context.Context, tx queue.Tx, accountID string, r *approvalRow) error {
	if l.cfg.Audit == nil {
		return nil
	}
	note := string(r.Outcome)
	if r.Approver != "" {
		note += " by " + r.Approver
	}
	return l.cfg.Audit.Append(ctx, tx, audit.Entry{
		Kind: auditApproval, AccountID: accountID, Subject: r.ID, Note: note, Digest: audit.Digest(r.parts()...),
	})
}

// parts are the columns of a request, except the job that uses it.
func (r *approvalRow) parts() []string {
	return []string{
		r.ID, r.ActionID, r.Reasons, r.Digest, stamp(r.RequestedAt), stamp(r.ExpiresAt), stamp(r.DecidedAt), string(r.Outcome), r.Approver, r.Why,
		r.Signature,
	}
}

func (l *Ledger) auditEvent(ctx context.Context, tx queue.Tx, r *eventRow) error {
	if l.cfg.Audit == nil {
		return nil
	}
	return l.cfg.Audit.Append(ctx, tx, audit.Entry{
		Kind: auditEvent, AccountID: r.AccountID, Subject: r.ID, Note: string(r.Kind), Digest: audit.Digest(r.parts()...),
	})
}

func (r *eventRow) parts() []string {
	return []string{r.ID, string(r.Kind), r.AccountID, string(r.Source), r.By, r.Why, stamp(r.At)}
}

// auditUndo logs who has requested an undo, and of what.
func (l *Ledger) auditUndo(ctx context.Context, tx queue.Tx, original postroom.Action, jobID, by string) error {
	if l.cfg.Audit == nil {
		return nil
	}
	note := original.ID
	if by != "" {
		note += " by " + by
	}
	return l.cfg.Audit.Append(ctx, tx, audit.Entry{Kind: auditUndo, AccountID: original.AccountID, Subject: jobID, Note: note})
}

// VerifyAudit verifies the audit log and compares the decisions, actions, approvals and events with it: it finds rows and entries
// that were altered, removed, added or put back. It finds that the whole database was put back only if heads has a later end of
// the log, which was kept elsewhere, or [Config].Checkpoint has one. It reads everything in one state of the database. Without an
// audit log the error is [ErrNoAudit].
func (l *Ledger) VerifyAudit(ctx context.Context, heads []audit.Head) (audit.Report, error) {
	if l.cfg.Audit == nil {
		return audit.Report{}, fmt.Errorf("safety: %w", ErrNoAudit)
	}
	v := verifier{l: l, latest: map[[2]string]audit.Entry{}, recorded: map[string]audit.Entry{}}
	if head, ok := l.checkpoint.auditHead(); ok {
		heads = append(slices.Clip(heads), head)
	}
	err := v.run(ctx, heads)
	return v.report, err
}
