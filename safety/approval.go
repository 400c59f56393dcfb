package safety

import (
	"context"
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

	// Digest is the signature over the request: the action's id, type, account, message and parameters, the hash of what it sends,
	// if any (see [Ledger.SetContent]), its decision, the reasons and the times. It is verified when the request is approved.
	// The approval has a signature of its own, which covers the approver as well and is verified when the action starts.
	Digest string

	RequestedAt time.Time
	ExpiresAt   time.Time // from this time on, it cannot be approved

	Outcome   Outcome
	DecidedAt time.Time // zero while waiting
	Approver  string    // the person who answered; empty if there is none
	Why       string    // the reason for the answer or the withdrawal
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
	Signature   string      `db:"approval.signature"` // over the approval; empty if nobody has approved
	UsedBy      string      `db:"approval.used_by"`   // the job that has started the action with it
}

func (r *approvalRow) value() (Approval, error) {
	a := Approval{
		ID: r.ID, ActionID: r.ActionID, Digest: r.Digest, RequestedAt: r.RequestedAt.Time, ExpiresAt: r.ExpiresAt.Time,
		Outcome: r.Outcome, DecidedAt: r.DecidedAt.Time, Approver: r.Approver, Why: r.Why,
	}
	return a, decode("reasons of approval "+a.ID, r.Reasons, &a.Reasons)
}

// ask writes a request for approval of a waiting action and calls [Config.Ask].
func (l *Ledger) ask(ctx context.Context, tx queue.Tx, p *permitRow, reasons []string) error {
	a, err := p.value()
	if err != nil {
		return err
	}
	if err := l.keys.load(ctx, tx); err != nil {
		return err
	}
	now := dbtime.Truncate(queue.Now(tx))
	r := approvalRow{Outcome: OutcomeWaiting, ActionID: a.ID, RequestedAt: dbtime.Of(now), ExpiresAt: dbtime.Of(now.Add(l.cfg.ApprovalExpiry))}
	if r.ID, err = uuid7.New(); err != nil {
		return err
	}
	if r.Reasons, err = encode("reasons", reasons); err != nil {
		return err
	}
	r.Digest = l.signRequest(p, &r)
	_, err = tx.ExecContext(ctx, insertApproval, r.ID, a.ID, r.Reasons, r.Digest, r.RequestedAt, r.ExpiresAt)
	if err != nil {
		return fmt.Errorf("safety: ask for approval of action %s: %w", a.ID, err)
	}
	if err := l.auditApproval(ctx, tx, p.AccountID, &r); err != nil {
		return err
	}
	if l.cfg.Ask == nil {
		return nil
	}
	return l.cfg.Ask(ctx, tx, a)
}

// answered returns the request as it is once it is answered or withdrawn.
func (r *approvalRow) answered(outcome Outcome, approver, why string, now time.Time) *approvalRow {
	next := *r
	next.Outcome, next.Approver, next.Why, next.DecidedAt = outcome, dbvalue.Clean(approver), dbvalue.Clean(why), dbtime.Of(dbtime.Truncate(now))
	return &next
}

// close answers or withdraws a request, provided that it still waits as it was read, and calls [Config.OnAnswer].
func (l *Ledger) close(ctx context.Context, tx queue.Tx, r, next *approvalRow) (closed bool, err error) {
	if closed, err := l.storeRequest(ctx, tx, r, next); err != nil || !closed || l.cfg.OnAnswer == nil {
		return closed, err
	}
	request, err := next.value()
	if err != nil {
		return false, err
	}
	return true, l.cfg.OnAnswer(ctx, tx, request)
}

// storeRequest writes the next version of a request, if it is still as it was read.
func (l *Ledger) storeRequest(ctx context.Context, tx queue.Tx, r, next *approvalRow) (stored bool, err error) {
	n, err := dbquery.Exec(ctx, tx, updateApproval, next.Digest, string(next.Outcome), next.Approver, next.Why, next.DecidedAt, next.Signature,
		r.ID, string(r.Outcome), r.Digest, r.Signature)
	if err != nil {
		return false, fmt.Errorf("safety: write the request for approval of action %s: %w", r.ActionID, err)
	}
	if n == 0 {
		return false, nil
	}
	return true, l.auditApproval(ctx, tx, "", next)
}

// Approve releases a waiting action: it becomes queued and is passed to [Config.Execute]; an action of type none completes at
// once. The ledger records who approved it and when, and signs that together with the action: nothing else is executed.
//
// Approve returns [ErrNotApprover], [ErrApprovalExpired], [ErrApprovalVoid] or [ErrRestored]; [ErrInvalidDecision] if the action
// can no longer be carried out, because its kind is gone or the time of a snooze has passed; or a [*StateError] with the answer
// that was given, if the action is no longer waiting. It then writes nothing.
func (l *Ledger) Approve(ctx context.Context, tx queue.Tx, actionID, approver string) (postroom.Action, error) {
	if err := l.mayAnswer(approver); err != nil {
		return postroom.Action{}, err
	}
	p, r, err := l.request(ctx, tx, actionID, "approve")
	if err != nil {
		return postroom.Action{}, err
	}
	if err := l.checkRequest(ctx, tx, p, r); err != nil {
		return postroom.Action{}, err
	}
	given := r.answered(OutcomeApproved, approver, "", queue.Now(tx))
	given.Signature = l.signRequest(p, given)
	a, err := l.move(ctx, tx, &p.actionRow, change{op: "approve", to: postroom.ActionQueued, approval: &r.ID})
	if err != nil {
		return postroom.Action{}, err
	}
	closed, err := l.close(ctx, tx, r, given)
	switch {
	case err != nil:
		return postroom.Action{}, err
	case !closed:
		return postroom.Action{}, fmt.Errorf("safety: action %s: %w: the request is gone", actionID, ErrApprovalVoid)
	case a.Type == postroom.None:
		return l.finishNone(ctx, tx, &p.actionRow)
	}
	return a, l.cfg.Execute(ctx, tx, a)
}

// Reject ends an action that is waiting, or that the gate has let pass and no job has started. why may be empty. An action that a
// person has approved is not rejected: the first answer stands, and the [*StateError] has it. Use [Ledger.Cancel] to stop an
// approved action that has not started.
func (l *Ledger) Reject(ctx context.Context, tx queue.Tx, actionID, approver, why string) (postroom.Action, error) {
	if err := l.mayAnswer(approver); err != nil {
		return postroom.Action{}, err
	}
	p, err := l.lockPermit(ctx, tx, actionID)
	if err != nil {
		return postroom.Action{}, err
	}
	if p.State == postroom.ActionQueued && p.ApprovalID != "" {
		return l.tooLate(ctx, tx, actionID, "reject")
	}
	if err := l.checkpoint.check(ctx, tx, l.cfg.Audit); err != nil {
		return postroom.Action{}, err
	}
	reason := "rejected by " + approver
	if why != "" {
		reason += ": " + why
	}
	a, err := l.move(ctx, tx, &p.actionRow, change{op: "reject", to: postroom.ActionRejected, error: reason})
	if err != nil {
		return postroom.Action{}, err
	}
	r, err := openRequest(ctx, tx, actionID)
	if err == nil && r != nil {
		_, err = l.close(ctx, tx, r, r.answered(OutcomeRejected, approver, why, queue.Now(tx)))
	}
	return a, err
}

// Hold makes a queued action wait for approval, for the given reason. The job that was to execute the action must end in the same
// transaction, completed by itself or canceled, so that [Config.Execute] finds its key free when the person approves. If the
// action was altered in the database, Hold returns [ErrAltered] and writes nothing, because a person would be asked about
// something else.
func (l *Ledger) Hold(ctx context.Context, tx queue.Tx, actionID, reason string) (postroom.Action, error) {
	p, err := l.lockPermit(ctx, tx, actionID)
	if err != nil {
		return postroom.Action{}, err
	}
	if p.State == postroom.ActionQueued && l.verify(p) == signedWrong {
		return postroom.Action{}, alteredError("hold", actionID)
	}
	return l.hold(ctx, tx, p, reason)
}

func (l *Ledger) hold(ctx context.Context, tx queue.Tx, p *permitRow, reason string) (postroom.Action, error) {
	none := ""
	a, err := l.move(ctx, tx, &p.actionRow, change{op: "hold", to: postroom.ActionPendingApproval, approval: &none})
	if err != nil {
		return postroom.Action{}, err
	}
	return a, l.ask(ctx, tx, p, []string{reason})
}

// Renew withdraws the request of a waiting action and makes a new one, with a new expiry. Use it when the request has expired, or
// was made under another key. If the action or the request was altered in the database, Renew returns [ErrAltered], because a new
// request would sign the alteration. Reject it.
func (l *Ledger) Renew(ctx context.Context, tx queue.Tx, actionID string) error {
	p, r, err := l.request(ctx, tx, actionID, "renew the approval of")
	if err != nil {
		return err
	}
	if err := l.checkpoint.check(ctx, tx, l.cfg.Audit); err != nil {
		return err
	}
	reasons, err := l.askedFor(p, r)
	if err != nil {
		return err
	}
	closed, err := l.close(ctx, tx, r, r.answered(OutcomeWithdrawn, "", "renewed", queue.Now(tx)))
	if err != nil {
		return err
	}
	if !closed {
		_, err := l.tooLate(ctx, tx, actionID, "renew the approval of")
		return err
	}
	return l.ask(ctx, tx, p, reasons)
}

// askedFor returns the reasons of a request to renew, if nothing was altered since.
func (l *Ledger) askedFor(p *permitRow, r *approvalRow) ([]string, error) {
	switch fits := l.verifyRequest(p, r); {
	case fits == signedWrong:
		return nil, alteredError("renew the approval of", p.ID)
	case fits == signedByAnotherKey:
		return []string{"it was asked for under another key"}, nil
	case r.restored(p.AcceptedAt):
		return []string{putBack}, nil
	}
	old, err := r.value()
	return old.Reasons, err
}

// restored reports whether the request was made before a person accepted a database that was put back.
func (r *approvalRow) restored(accepted dbtime.Time) bool {
	return !accepted.IsZero() && !r.RequestedAt.After(accepted.Time)
}

// genuine returns an error if the request is not the one that was made, or if the database was put back since.
func (l *Ledger) genuine(p *permitRow, r *approvalRow) error {
	switch fits := l.verifyRequest(p, r); {
	case fits == signedWrong:
		return fmt.Errorf("safety: action %s: %w: %w: reject it", p.ID, ErrApprovalVoid, ErrAltered)
	case fits == signedByAnotherKey:
		return fmt.Errorf("safety: action %s: %w: it was made under another key: ask again, or reject it", p.ID, ErrApprovalVoid)
	case r.restored(p.AcceptedAt):
		return fmt.Errorf("safety: action %s: %w: %s: ask again, or reject it", p.ID, ErrApprovalVoid, putBack)
	}
	return nil
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
func (l *Ledger) checkRequest(ctx context.Context, tx queue.Tx, p *permitRow, r *approvalRow) error {
	if err := l.checkpoint.check(ctx, tx, l.cfg.Audit); err != nil {
		return err
	}
	if !queue.Now(tx).Before(r.ExpiresAt.Time) {
		return fmt.Errorf("safety: action %s: %w on %s: reject it, or ask again", p.ID, ErrApprovalExpired, r.ExpiresAt.Format(time.RFC3339))
	}
	if err := l.genuine(p, r); err != nil {
		return err
	}
	a, err := p.value()
	if err != nil {
		return err
	}
	return l.checkPossible(ctx, tx, &a)
}

// request reads a waiting action and the request for its approval.
func (l *Ledger) request(ctx context.Context, tx queue.Tx, actionID, op string) (*permitRow, *approvalRow, error) {
	p, err := l.lockPermit(ctx, tx, actionID)
	if err != nil {
		return nil, nil, err
	}
	r, err := openRequest(ctx, tx, actionID)
	if err == nil && (r == nil || p.State != postroom.ActionPendingApproval) {
		_, err = l.tooLate(ctx, tx, actionID, op)
	}
	return p, r, err
}

// openRequest returns the waiting request; nil if there is none.
func openRequest(ctx context.Context, q dbquery.Querier, actionID string) (*approvalRow, error) {
	var r approvalRow
	err := dbquery.Get(ctx, q, &r, selectRequest, actionID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // none is no error, and no request
	}
	if err != nil {
		return nil, fmt.Errorf("safety: read the request for approval of action %s: %w", actionID, err)
	}
	return &r, nil
}

// ApprovalsOf lists the requests for approval of one action, with their outcomes, oldest first.
func (l *Ledger) ApprovalsOf(ctx context.Context, actionID string) ([]Approval, error) {
	requests, err := all[approvalRow, Approval](ctx, l.cfg.DB.Reader(), selectApprovals, actionID)
	if err != nil {
		return nil, fmt.Errorf("safety: list the requests for approval of action %s: %w", actionID, err)
	}
	return requests, nil
}
