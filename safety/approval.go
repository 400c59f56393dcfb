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
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
)

// An Outcome is the outcome of a request for approval.
type Outcome string

// The outcomes. All but the first are final.
const (
	OutcomeWaiting   Outcome = "waiting"
	OutcomeApproved  Outcome = "approved"
	OutcomeRejected  Outcome = "rejected"
	OutcomeWithdrawn Outcome = "withdrawn" // the action was canceled, or the request renewed
)

// An Approval is one request for a person's approval of one action, and the answer.
type Approval struct {
	ID       string
	ActionID string
	Reasons  []string // why a person is asked

	// Digest is a hash of the action's id, type, account, message and parameters, and of the expiry. It is checked when the
	// request is approved.
	Digest string

	RequestedAt time.Time
	ExpiresAt   time.Time // from this time on, it cannot be approved

	Outcome   Outcome
	DecidedAt time.Time // zero while waiting
	Approver  string    // the person who answered; empty when nobody did
	Why       string    // the reason of the answer or of the withdrawal
}

type approvalRow struct {
	ID          string      `db:"approval.id"`
	ActionID    string      `db:"approval.action_id"`
	Reasons     string      `db:"approval.reasons_json"`
	Digest      string      `db:"approval.digest"`
	RequestedAt dbtime.Time `db:"approval.requested_at"`
	ExpiresAt   dbtime.Time `db:"approval.expires_at"`
	DecidedAt   dbtime.Time `db:"approval.decided_at"`
	Outcome     Outcome     `db:"approval.outcome"`
	Approver    string      `db:"approval.approver"`
	Why         string      `db:"approval.why"`
}

func (r *approvalRow) value() (Approval, error) {
	a := Approval{
		ID: r.ID, ActionID: r.ActionID, Digest: r.Digest, RequestedAt: r.RequestedAt.Time, ExpiresAt: r.ExpiresAt.Time,
		Outcome: r.Outcome, DecidedAt: r.DecidedAt.Time, Approver: r.Approver, Why: r.Why,
	}
	return a, decode("reasons of approval "+a.ID, r.Reasons, &a.Reasons)
}

// digest covers the parameters as they are stored, byte for byte.
func digest(a postroom.Action, storedParameters string, expires time.Time) string {
	// Quoted strings are unambiguous.
	text := fmt.Sprintf("%q", []string{a.ID, a.AccountID, a.MessageID, string(a.Type), storedParameters, dbtime.Format(expires)})
	return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
}

// ask writes a request for approval of a waiting action and calls [Config.Ask].
func (l *Ledger) ask(ctx context.Context, tx queue.Tx, a postroom.Action, reasons []string) error {
	id, err := uuid7.New()
	if err != nil {
		return err
	}
	text, err := encode("reasons", reasons)
	if err != nil {
		return err
	}
	var parameters string
	if err := dbquery.Get(ctx, tx, &parameters, selectParameters, a.ID); err != nil {
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

// close answers or withdraws the open request, if there is one.
func (l *Ledger) close(ctx context.Context, tx queue.Tx, actionID string, outcome Outcome, approver, why string) (closed bool, err error) {
	n, err := dbquery.Exec(ctx, tx, closeApproval, string(outcome), dbvalue.Clean(approver), dbvalue.Clean(why), dbtime.Of(queue.Now(tx)), actionID)
	if err != nil {
		return false, fmt.Errorf("safety: close the request for approval of action %s: %w", actionID, err)
	}
	return n > 0, nil
}

// Approve releases a waiting action: it becomes queued and is passed to [Config.Execute]; an action of type none completes
// at once. The ledger records who approved it and when.
//
// Approve returns [ErrNotApprover], [ErrApprovalExpired], [ErrApprovalVoid], or a [*StateError] when the action is no longer
// waiting, and then writes nothing.
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

// Reject ends an action that is waiting or queued, with the person's reason, which may be empty.
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

// Hold makes a queued action wait for approval, for the reason given. The job that was to execute the action must end in the
// same transaction, completed by itself or canceled, so that [Config.Execute] finds its key free when the person approves.
func (l *Ledger) Hold(ctx context.Context, tx queue.Tx, actionID, reason string) (postroom.Action, error) {
	a, err := l.move(ctx, tx, actionID, change{op: "hold", to: postroom.ActionApprovedPending})
	if err != nil {
		return postroom.Action{}, err
	}
	return a, l.ask(ctx, tx, a, []string{reason})
}

// Renew withdraws the request of a waiting action and makes a new one for the action as it is now, with a new expiry. Use it
// when the request has expired or become void.
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

// checkRequest returns an error if the action's request cannot be approved now.
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

// request reads a waiting action, the request for its approval and its parameters as they are stored.
func (l *Ledger) request(ctx context.Context, tx queue.Tx, actionID, op string) (a postroom.Action, _ Approval, parameters string, err error) {
	var row struct {
		actionRow
		approvalRow
	}
	err = dbquery.Get(ctx, tx, &row, selectWaiting, actionID)
	if errors.Is(err, sql.ErrNoRows) {
		a, err = l.tooLate(ctx, tx, actionID, op)
		return a, Approval{}, "", err
	}
	if err != nil {
		return a, Approval{}, "", fmt.Errorf("safety: %s action %s: %w", op, actionID, err)
	}
	if a, err = row.actionRow.value(); err != nil {
		return a, Approval{}, "", err
	}
	approval, err := row.approvalRow.value()
	return a, approval, row.Parameters, err
}

// ApprovalsOf lists the requests for approval of one action, with their outcomes, oldest first.
func (l *Ledger) ApprovalsOf(ctx context.Context, actionID string) ([]Approval, error) {
	requests, err := all[approvalRow, Approval](ctx, l.cfg.DB.Reader(), selectApprovals, actionID)
	if err != nil {
		return nil, fmt.Errorf("safety: list the requests for approval of action %s: %w", actionID, err)
	}
	return requests, nil
}
