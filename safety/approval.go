package safety

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// An Outcome is what became of a request for approval.
type Outcome string

// The outcomes. All but the first are final.
const (
	OutcomeWaiting   Outcome = "waiting"
	OutcomeApproved  Outcome = "approved"
	OutcomeRejected  Outcome = "rejected"
	OutcomeWithdrawn Outcome = "withdrawn" // the action was canceled, or the request renewed
)

// An Approval is one request for a person's word about one action, and the answer.
type Approval struct {
	ID       string
	ActionID string
	Reasons  []string // why a person is asked

	// Digest fixes what is asked: the action, its type, account, message and parameters, and the expiry. It is checked
	// when the answer comes.
	Digest string

	RequestedAt time.Time
	ExpiresAt   time.Time // from this instant on, it can no longer be approved

	Outcome   Outcome
	DecidedAt time.Time // zero while waiting
	Approver  string    // who answered; empty when nobody did
	Why       string    // what they or the withdrawal said
}

type approvalRow struct {
	approval                    Approval
	reasons                     string
	requested, expires, decided dbtime.Time
}

func (r *approvalRow) dest() []any {
	a := &r.approval
	return []any{&a.ID, &a.ActionID, &r.reasons, &a.Digest, &r.requested, &r.expires, &r.decided, &a.Outcome, &a.Approver, &a.Why}
}

func (r *approvalRow) value() (Approval, error) {
	a := r.approval
	a.RequestedAt, a.ExpiresAt, a.DecidedAt = r.requested.Time, r.expires.Time, r.decided.Time
	return a, decode("reasons of approval "+a.ID, r.reasons, &a.Reasons)
}

func scanApproval(s scanner) (Approval, error) { return scan(s, &approvalRow{}) }

// digest covers the parameters as they are stored, byte for byte.
func digest(a postroom.Action, storedParameters string, expires time.Time) string {
	// Quoted strings cannot be read in two ways.
	text := fmt.Sprintf("%q", []string{a.ID, a.AccountID, a.MessageID, string(a.Type), storedParameters, dbtime.Format(expires)})
	return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
}

// ask writes a request for approval of an action that waits, and lets the host tell people.
func (l *Ledger) ask(ctx context.Context, tx queue.Tx, a postroom.Action, reasons []string) error {
	id, err := newID()
	if err != nil {
		return err
	}
	text, err := encode("reasons", reasons)
	if err != nil {
		return err
	}
	var parameters string
	if err := tx.QueryRowContext(ctx, selectParameters, a.ID).Scan(&parameters); err != nil {
		return fmt.Errorf("safety: ask for approval of action %s: %w", a.ID, err)
	}
	expires := dbtime.Truncate(queue.Now(tx).Add(l.cfg.ApprovalExpiry))
	_, err = tx.ExecContext(ctx, insertApproval, id, a.ID, text, digest(a, parameters, expires), dbtime.Of(queue.Now(tx)), dbtime.Of(expires))
	if err != nil {
		return fmt.Errorf("safety: ask for approval of action %s: %w", a.ID, err)
	}
	if l.cfg.Ask == nil {
		return nil
	}
	return l.cfg.Ask(ctx, tx, a)
}

// close answers or withdraws the request that waits, if one does.
func (l *Ledger) close(ctx context.Context, tx queue.Tx, actionID string, outcome Outcome, approver, why string) (closed bool, err error) {
	res, err := tx.ExecContext(ctx, closeApproval, string(outcome), clean(approver), clean(why), dbtime.Of(queue.Now(tx)), actionID)
	if err != nil {
		return false, fmt.Errorf("safety: close the request for approval of action %s: %w", actionID, err)
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// Approve lets an action that waits be executed: it becomes queued and is handed to [Config.Execute] (one of type none
// completes at once). Who approved, and when, is on record.
//
// It is refused with [ErrNotApprover], [ErrApprovalExpired], [ErrApprovalVoid], or a [*StateError] when the action does
// not wait any more; then nothing has been written.
func (l *Ledger) Approve(ctx context.Context, tx queue.Tx, actionID, approver string) (postroom.Action, error) {
	if err := l.mayAnswer(approver); err != nil {
		return postroom.Action{}, err
	}
	if err := l.checkRequest(ctx, tx, actionID); err != nil {
		return postroom.Action{}, err
	}
	a, err := l.move(ctx, tx, actionID, change{op: "approve", to: postroom.ActionQueued})
	if err != nil {
		return postroom.Action{}, err
	}
	if _, err := l.close(ctx, tx, actionID, OutcomeApproved, approver, ""); err != nil {
		return postroom.Action{}, err
	}
	if a.Type == postroom.None {
		return l.finishNone(ctx, tx, actionID)
	}
	return a, l.cfg.Execute(ctx, tx, a)
}

// Reject ends an action that waits, or is queued and has not begun, with the person's reason, which may be empty.
func (l *Ledger) Reject(ctx context.Context, tx queue.Tx, actionID, approver, why string) (postroom.Action, error) {
	if err := l.mayAnswer(approver); err != nil {
		return postroom.Action{}, err
	}
	reason := "rejected by " + approver
	if why != "" {
		reason += ": " + why
	}
	a, err := l.move(ctx, tx, actionID, change{op: "reject", to: postroom.ActionRejected, error: reason})
	if err != nil {
		return postroom.Action{}, err
	}
	_, err = l.close(ctx, tx, actionID, OutcomeRejected, approver, why)
	return a, err
}

// Hold takes a queued action that has not begun back and asks a person first, for the reason given. The job that was to
// execute the action must end in the same transaction, completed by itself or canceled, so that [Config.Execute] finds its
// key free when the person approves.
func (l *Ledger) Hold(ctx context.Context, tx queue.Tx, actionID, reason string) (postroom.Action, error) {
	a, err := l.move(ctx, tx, actionID, change{op: "hold", to: postroom.ActionApprovedPending})
	if err != nil {
		return postroom.Action{}, err
	}
	return a, l.ask(ctx, tx, a, []string{reason})
}

// Renew withdraws the request of an action that waits and asks again for the action as it is now, with a new expiry: for
// requests that have expired or become void.
func (l *Ledger) Renew(ctx context.Context, tx queue.Tx, actionID string) error {
	a, old, _, err := l.request(ctx, tx, actionID, "renew the approval of")
	if err != nil {
		return err
	}
	closed, err := l.close(ctx, tx, actionID, OutcomeWithdrawn, "", "renewed")
	if err != nil {
		return err
	}
	if !closed {
		_, err := l.tooLate(ctx, tx, actionID, "renew the approval of")
		return err
	}
	return l.ask(ctx, tx, a, old.Reasons)
}

func (l *Ledger) mayAnswer(approver string) error {
	if strings.TrimSpace(approver) == "" {
		return fmt.Errorf("safety: %w: the approver's name is blank, and it goes on record", ErrNotApprover)
	}
	if len(l.cfg.Approvers) > 0 && !slices.Contains(l.cfg.Approvers, approver) {
		return fmt.Errorf("safety: %q is %w: Config.Approvers does not have the name", approver, ErrNotApprover)
	}
	return nil
}

// checkRequest tells whether the action's request can be approved now.
func (l *Ledger) checkRequest(ctx context.Context, tx queue.Tx, actionID string) error {
	a, approval, parameters, err := l.request(ctx, tx, actionID, "approve")
	switch {
	case err != nil:
		return err
	case !queue.Now(tx).Before(approval.ExpiresAt):
		return fmt.Errorf("safety: action %s: %w on %s: reject it, or ask again", actionID, ErrApprovalExpired,
			approval.ExpiresAt.Format(time.RFC3339))
	case digest(a, parameters, approval.ExpiresAt) != approval.Digest:
		return fmt.Errorf("safety: action %s: %w: reject it, or ask again", actionID, ErrApprovalVoid)
	}
	return nil
}

// request reads an action that waits, the request for its approval and its parameters as they are stored.
func (l *Ledger) request(ctx context.Context, tx queue.Tx, actionID, op string) (a postroom.Action, _ Approval, parameters string, err error) {
	var ar actionRow
	var pr approvalRow
	err = tx.QueryRowContext(ctx, selectWaiting, actionID).Scan(append(ar.dest(), pr.dest()...)...)
	if errors.Is(err, sql.ErrNoRows) {
		a, err = l.tooLate(ctx, tx, actionID, op)
		return a, Approval{}, "", err
	}
	if err != nil {
		return a, Approval{}, "", fmt.Errorf("safety: %s action %s: %w", op, actionID, err)
	}
	if a, err = ar.value(); err != nil {
		return a, Approval{}, "", err
	}
	approval, err := pr.value()
	return a, approval, ar.parameters, err
}

// ApprovalsOf lists the requests that were made for one action, oldest first, and how they were answered.
func (l *Ledger) ApprovalsOf(ctx context.Context, actionID string) ([]Approval, error) {
	rows, err := l.cfg.DB.Reader().QueryContext(ctx, selectApprovals, actionID)
	return collect(rows, err, scanApproval)
}
