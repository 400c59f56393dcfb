package safety

import (
	"cmp"
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
	// if any (see [Ledger.SetContent]), its decision, the reasons and the times. It is checked when the request is approved.
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
	Rev         int         `db:"approval.rev"`
}

// An openRow is a waiting request with the last entry about it.
type openRow struct {
	approvalRow
	Last lastEntry `db:"last"`
}

func (r *approvalRow) value() (Approval, error) {
	a := Approval{
		ID: r.ID, ActionID: r.ActionID, Digest: r.Digest, RequestedAt: r.RequestedAt.Time, ExpiresAt: r.ExpiresAt.Time,
		Outcome: r.Outcome, DecidedAt: r.DecidedAt.Time, Approver: r.Approver, Why: r.Why,
	}
	return a, decode("reasons of approval "+a.ID, r.Reasons, &a.Reasons)
}

// requested returns what the digest of a request covers.
func (p *permitRow) requested(r *approvalRow) []string {
	return append(p.permitted("asked for approval"), r.ID, r.Reasons, dbtime.Format(r.RequestedAt.Time), dbtime.Format(r.ExpiresAt.Time))
}

// ask writes a request for approval of a waiting action and calls [Config.Ask].
func (l *Ledger) ask(ctx context.Context, tx queue.Tx, p *permitRow, reasons []string) error {
	a, err := p.value()
	if err != nil {
		return err
	}
	r := approvalRow{Outcome: OutcomeWaiting, Rev: 1, ActionID: a.ID, RequestedAt: dbtime.Of(queue.Now(tx)), ExpiresAt: dbtime.Of(queue.Now(tx).Add(l.cfg.ApprovalExpiry))}
	if r.ID, err = uuid7.New(); err != nil {
		return err
	}
	if r.Reasons, err = encode("reasons", reasons); err != nil {
		return err
	}
	r.Digest = l.seal(p.requested(&r))
	_, err = tx.ExecContext(ctx, insertApproval, r.ID, a.ID, r.Reasons, r.Digest, r.RequestedAt, r.ExpiresAt)
	if err != nil {
		return fmt.Errorf("safety: ask for approval of action %s: %w", a.ID, err)
	}
	if err := l.logApproval(ctx, tx, &r); err != nil {
		return err
	}
	if l.cfg.Ask == nil {
		return nil
	}
	return l.cfg.Ask(ctx, tx, a)
}

// close answers or withdraws a request, provided that it still waits as it was read, and calls [Config.OnAnswer].
func (l *Ledger) close(ctx context.Context, tx queue.Tx, r *openRow, outcome Outcome, approver, why string) (closed bool, err error) {
	if r == nil {
		return false, nil
	}
	next := r.approvalRow
	next.Outcome, next.Approver, next.Why, next.DecidedAt = outcome, dbvalue.Clean(approver), dbvalue.Clean(why), dbtime.Of(dbtime.Truncate(queue.Now(tx)))
	if closed, err := l.storeRequest(ctx, tx, r, &next); err != nil || !closed || l.cfg.OnAnswer == nil {
		return closed, err
	}
	request, err := next.value()
	if err != nil {
		return false, err
	}
	return true, l.cfg.OnAnswer(ctx, tx, request)
}

// storeRequest writes and signs the next version of a request, if it still waits as it was read.
func (l *Ledger) storeRequest(ctx context.Context, tx queue.Tx, r *openRow, next *approvalRow) (stored bool, err error) {
	next.Rev = r.Rev + 1
	var row approvalRow
	err = dbquery.Get(ctx, tx, &row, updateApproval, next.Digest, string(next.Outcome), next.Approver, next.Why, next.DecidedAt, next.Rev, r.ID, r.Rev)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("safety: write the request for approval of action %s: %w", r.ActionID, err)
	case !slices.Equal(row.parts(), next.parts()):
		return false, fmt.Errorf("safety: the request for approval of action %s: %w at this moment, by something in the database", r.ActionID, ErrAltered)
	}
	if err := l.keys.load(ctx, tx); err != nil {
		return false, err
	}
	return true, l.logApproval(ctx, tx, next)
}

// Approve releases a waiting action: it becomes queued and is passed to [Config.Execute]; an action of type none completes at
// once. The ledger records who approved it and when, and signs that together with the action: nothing else is executed.
//
// Approve returns [ErrNotApprover], [ErrApprovalExpired], [ErrApprovalVoid] or [ErrLogCut]; [ErrInvalidDecision] if the action
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
	p.ApprovalID, p.Approver, p.DecidedAt = r.ID, dbvalue.Clean(approver), dbtime.Of(dbtime.Truncate(queue.Now(tx)))
	p.RequestedAt, p.ExpiresAt = r.RequestedAt, r.ExpiresAt
	seal := l.seal(p.sealed())
	a, err := l.move(ctx, tx, &p.actionRow, change{op: "approve", to: postroom.ActionQueued, seal: &seal})
	if err != nil {
		return postroom.Action{}, err
	}
	closed, err := l.close(ctx, tx, r, OutcomeApproved, approver, "")
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
	p, err := l.permitAlone(ctx, tx, actionID)
	if err != nil {
		return postroom.Action{}, err
	}
	if p.State == postroom.ActionQueued && p.ApprovalID != "" {
		return l.tooLate(ctx, tx, actionID, "reject")
	}
	altered, err := l.noteSuspect(ctx, tx, p, "reject")
	if err != nil {
		return postroom.Action{}, err
	}
	reason := "rejected by " + approver
	if why != "" {
		reason += ": " + why
	}
	a, err := l.move(ctx, tx, &p.actionRow, change{op: "reject", to: postroom.ActionRejected, error: reason, altered: altered, last: p.Last.rev})
	if err != nil {
		return postroom.Action{}, err
	}
	r, err := openRequest(ctx, tx, actionID)
	if err == nil {
		_, err = l.close(ctx, tx, r, OutcomeRejected, approver, why)
	}
	return a, err
}

// Hold makes a queued action wait for approval, for the given reason. The job that was to execute the action must end in the same
// transaction, completed by itself or canceled, so that [Config.Execute] finds its key free when the person approves. If the
// action was altered in the database, Hold returns [ErrAltered] and writes nothing, because a person would be asked about
// something else.
func (l *Ledger) Hold(ctx context.Context, tx queue.Tx, actionID, reason string) (postroom.Action, error) {
	p, err := l.permitAlone(ctx, tx, actionID)
	if err != nil {
		return postroom.Action{}, err
	}
	if p.State == postroom.ActionQueued {
		if _, sound, err := l.sound(ctx, tx, p, "hold"); err != nil || !sound {
			return postroom.Action{}, cmp.Or(err, alteredError("hold", actionID))
		}
	}
	return l.hold(ctx, tx, p, reason)
}

func (l *Ledger) hold(ctx context.Context, tx queue.Tx, p *permitRow, reason string) (postroom.Action, error) {
	unsealed := ""
	a, err := l.move(ctx, tx, &p.actionRow, change{op: "hold", to: postroom.ActionApprovedPending, seal: &unsealed})
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
	reasons, err := l.askedFor(ctx, tx, p, r)
	if err != nil {
		return err
	}
	closed, err := l.close(ctx, tx, r, OutcomeWithdrawn, "", "renewed")
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
func (l *Ledger) askedFor(ctx context.Context, tx queue.Tx, p *permitRow, r *openRow) ([]string, error) {
	switch l.requestVouched(p, r) {
	case signedRight:
		old, err := r.value()
		if err != nil {
			return nil, err
		}
		switch log, err := l.wholeSince(ctx, tx, p, r, "renew the approval of"); {
		case err != nil || log == logWhole:
			return old.Reasons, err
		case log == logAccepted:
			return []string{logWasCut}, nil
		}
	case signedByAnotherKey:
		switch proven, log, err := l.provenSince(ctx, tx, p, r, "renew the approval of"); {
		case err != nil || log != logBroken:
			return []string{"it was asked for under another key"}, err
		case !proven:
			return nil, unprovenError("renew the approval of", p.ID)
		}
	case signedWrong:
	}
	return nil, alteredError("renew the approval of", p.ID)
}

// checkGenuine returns an error if the request is not the one that was made.
func (l *Ledger) checkGenuine(ctx context.Context, q dbquery.Querier, p *permitRow, r *openRow, op string) error {
	switch l.requestVouched(p, r) {
	case signedRight:
		switch log, err := l.wholeSince(ctx, q, p, r, op); {
		case err != nil || log == logWhole:
			return err
		case log == logAccepted:
			return fmt.Errorf("safety: action %s: %w: %s: ask again, or reject it", p.ID, ErrApprovalVoid, logWasCut)
		}
		return fmt.Errorf("safety: action %s: %w: %w: the log is not whole since, and does not tell whether it was answered: reject it", p.ID, ErrApprovalVoid, ErrAltered)
	case signedByAnotherKey:
		switch proven, log, err := l.provenSince(ctx, q, p, r, op); {
		case err != nil:
			return err
		case log != logBroken:
			return fmt.Errorf("safety: action %s: %w: it was made under another key: ask again, or reject it", p.ID, ErrApprovalVoid)
		case !proven:
			return fmt.Errorf("safety: action %s: %w: %w", p.ID, ErrApprovalVoid, unprovenError("approve", p.ID))
		}
	case signedWrong:
	}
	return fmt.Errorf("safety: action %s: %w: %w: reject it", p.ID, ErrApprovalVoid, ErrAltered)
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
func (l *Ledger) checkRequest(ctx context.Context, tx queue.Tx, p *permitRow, r *openRow) error {
	if !queue.Now(tx).Before(r.ExpiresAt.Time) {
		return fmt.Errorf("safety: action %s: %w on %s: reject it, or ask again", p.ID, ErrApprovalExpired, r.ExpiresAt.Format(time.RFC3339))
	}
	if err := l.checkGenuine(ctx, tx, p, r, "approve"); err != nil {
		return err
	}
	a, err := p.value()
	if err != nil {
		return err
	}
	return l.checkPossible(ctx, tx, &a)
}

// request reads a waiting action and the request for its approval.
func (l *Ledger) request(ctx context.Context, tx queue.Tx, actionID, op string) (*permitRow, *openRow, error) {
	p, err := l.permitAlone(ctx, tx, actionID)
	if err != nil {
		return nil, nil, err
	}
	r, err := openRequest(ctx, tx, actionID)
	if err == nil && (r == nil || p.State != postroom.ActionApprovedPending) {
		_, err = l.tooLate(ctx, tx, actionID, op)
	}
	return p, r, err
}

// openRequest returns the waiting request; nil if there is none.
func openRequest(ctx context.Context, q dbquery.Querier, actionID string) (*openRow, error) {
	var r openRow
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
