package safety

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/checkpoint"
	"github.com/postroom-go/postroom/safety/groups"
)

// A Waiting is an action that waits for approval, with its request.
type Waiting struct {
	Entry
	Approval Approval

	// Fault is nil if the request is what was asked; otherwise it is [ErrApprovalVoid], [checkpoint.ErrRestored],
	// or a [*StateError] if the action does not wait. A request with a Fault must not be shown as genuine, because its
	// text is read from the database and may have been altered there. [Ledger.Approve] makes the same check.
	Fault error
}

type waitingRow struct {
	entryRow
	approvalRow
}

func (r *waitingRow) value() (w Waiting, err error) {
	if w.Entry, err = r.entryRow.value(); err != nil {
		return w, err
	}
	w.Approval, err = r.approvalRow.value()
	return w, err
}

// requests write the requests for approval.
type requests struct {
	cfg     *Config
	keys    *signatures
	audit   *auditor
	actions *actions

	checkpoint *checkpoint.Checkpoint
}

// ask is askGrouped for a request that stands alone.
func (rs *requests) ask(ctx context.Context, tx queue.Tx, p *permitRow, reasons []string) error {
	return rs.askGrouped(ctx, tx, p, reasons, groups.Kind{})
}

// askGrouped writes a request for approval of a waiting action, and calls [Config.Ask], or [Config.Joined] if the
// request joins others.
func (rs *requests) askGrouped(ctx context.Context, tx queue.Tx, p *permitRow, reasons []string,
	kind groups.Kind) error {
	r, err := rs.signed(ctx, tx, p, reasons)
	if err != nil {
		return err
	}
	if r.Group, err = groups.Join(ctx, tx, kind, r.ID); err != nil {
		return err
	}
	return rs.insert(ctx, tx, p, r)
}

// signed returns a new request about an action, which is not stored.
func (rs *requests) signed(ctx context.Context, tx queue.Tx, p *permitRow, reasons []string) (*approvalRow, error) {
	err := rs.keys.Load(ctx, tx)
	if err != nil {
		return nil, err
	}
	now := dbtime.Truncate(queue.Now(tx))
	r := &approvalRow{Outcome: OutcomeWaiting, ActionID: p.ID, RequestedAt: dbtime.Of(now),
		ExpiresAt: dbtime.Of(now.Add(rs.cfg.ApprovalExpiry)), Content: p.Content}
	if r.ID, err = uuid7.New(); err != nil {
		return nil, err
	}
	if r.Reasons, err = encode("reasons", reasons); err != nil {
		return nil, err
	}
	r.Digest = rs.keys.signRequest(p, r)
	return r, nil
}

// insert stores a new request, and calls [Config.Ask] or [Config.Joined].
func (rs *requests) insert(ctx context.Context, tx queue.Tx, p *permitRow, r *approvalRow) error {
	_, err := tx.ExecContext(ctx, insertApproval, r.ID, p.ID, r.Reasons, r.Digest, r.RequestedAt, r.ExpiresAt, r.Group,
		r.Content)
	if err != nil {
		return fmt.Errorf("safety: ask for approval of action %s: %w", p.ID, err)
	}
	if err := rs.audit.auditApproval(ctx, tx, p.AccountID, r); err != nil {
		return err
	}
	return rs.tell(ctx, tx, r)
}

// tell calls [Config.Ask] for a request that stands alone or is the first that waits of its group, and otherwise
// [Config.Joined] for that first.
func (rs *requests) tell(ctx context.Context, tx queue.Tx, r *approvalRow) error {
	if r.Group == "" {
		request, err := r.value()
		return rs.call(ctx, tx, rs.cfg.Ask, request, err)
	}
	if err := lockGroup(ctx, tx, r.Group); err != nil {
		return err
	}
	first, err := firstOf(ctx, tx, r.Group)
	if err == nil && first.ID == r.ID {
		first.Others = 0
		return rs.call(ctx, tx, rs.cfg.Ask, first, nil)
	}
	return rs.call(ctx, tx, rs.cfg.Joined, first, err)
}

// passOn calls [Config.Ask] for the next of a group whose first has ended, or [Config.Joined] for the first if another
// has ended and others are left.
func (rs *requests) passOn(ctx context.Context, tx queue.Tx, ended *approvalRow) error {
	first, err := firstOf(ctx, tx, ended.Group)
	switch {
	case err == nil && first.ID > ended.ID:
		first.Others = 0
		return rs.call(ctx, tx, rs.cfg.Ask, first, nil)
	case err == nil && first.Others == 0:
		return nil
	}
	return rs.call(ctx, tx, rs.cfg.Joined, first, err)
}

// call calls a function of the host, if there is one and a request is left to hand to it.
func (rs *requests) call(ctx context.Context, tx queue.Tx, fn func(context.Context, queue.Tx, Approval) error,
	request Approval, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("safety: ask for approval: %w", err)
	case fn == nil || request.ID == "":
		return nil
	}
	return fn(ctx, tx, request)
}

// lockGroup makes other transactions that change a group wait until this one ends, so that of two requests that end, or
// one that ends and one that joins, the later sees what the other has left.
func lockGroup(ctx context.Context, tx queue.Tx, group string) error {
	if _, err := tx.ExecContext(ctx, lockApproval, group); err != nil {
		return fmt.Errorf("safety: lock group %s: %w", group, err)
	}
	return nil
}

// firstOf returns the first request of a group that waits and has not expired, with the number of the others. Without
// one, it is the zero value.
func firstOf(ctx context.Context, tx queue.Tx, group string) (first Approval, err error) {
	list, err := all[approvalRow, Approval](ctx, tx, selectGroup, group, dbtime.Of(queue.Now(tx)))
	if err != nil || len(list) == 0 {
		return first, err
	}
	first = list[0]
	first.Others = len(list) - 1
	return first, nil
}

// close answers or withdraws a request, provided that it still waits as it was read, and calls [Config.OnAnswer]. If
// others of its group are left, they are passed on.
func (rs *requests) close(ctx context.Context, tx queue.Tx, r, next *approvalRow) (closed bool, err error) {
	if r.Group != "" {
		if err := lockGroup(ctx, tx, r.Group); err != nil {
			return false, err
		}
	}
	if closed, err := rs.storeRequest(ctx, tx, r, next); err != nil || !closed {
		return closed, err
	}
	request, err := next.value()
	if err == nil && rs.cfg.OnAnswer != nil {
		err = rs.cfg.OnAnswer(ctx, tx, request)
	}
	if err == nil && r.Group != "" {
		err = rs.passOn(ctx, tx, r)
	}
	return err == nil, err
}

// storeRequest writes the next version of a request, if it is still as it was read.
func (rs *requests) storeRequest(ctx context.Context, tx queue.Tx, r, next *approvalRow) (stored bool, err error) {
	n, err := dbquery.Exec(ctx, tx, updateApproval, next.Digest, string(next.Outcome), next.Approver, next.Why,
		next.DecidedAt, next.Signature, next.Content, next.ReplacedBy,
		r.ID, string(r.Outcome), r.Digest, r.Signature)
	if err != nil {
		return false, fmt.Errorf("safety: write the request for approval of action %s: %w", r.ActionID, err)
	}
	if n == 0 {
		return false, nil
	}
	return true, rs.audit.auditApproval(ctx, tx, "", next)
}

// nameContent signs a request or an approval again so that it covers the content.
func (rs *requests) nameContent(ctx context.Context, tx queue.Tx, p *permitRow, r *approvalRow) error {
	next := *r
	next.Content = p.Content
	if next.Outcome == OutcomeApproved {
		next.Signature = rs.keys.signRequest(p, &next)
	} else {
		next.Digest = rs.keys.signRequest(p, &next)
	}
	if ok, err := rs.storeRequest(ctx, tx, r, &next); err != nil || ok {
		return err
	}
	return fmt.Errorf("safety: content of action %s: its request was answered at this moment: try again", p.ID)
}

// check returns an error if the request of an action cannot be approved now, whatever the action is.
func (rs *requests) check(ctx context.Context, tx queue.Tx, p *permitRow, r *approvalRow) error {
	if err := rs.checkpoint.Check(ctx, tx); err != nil {
		return err
	}
	if !queue.Now(tx).Before(r.ExpiresAt.Time) {
		return fmt.Errorf("safety: action %s: %w on %s: reject it, or ask again", p.ID, ErrApprovalExpired,
			r.ExpiresAt.Format(time.RFC3339))
	}
	return rs.keys.genuine(p, r)
}

// waiting reads a waiting action and the request for its approval.
func (rs *requests) waiting(ctx context.Context, tx queue.Tx, actionID, op string) (*permitRow, *approvalRow, error) {
	p, err := rs.keys.lockPermit(ctx, tx, actionID)
	if err != nil {
		return nil, nil, err
	}
	r, err := openRequest(ctx, tx, actionID)
	if err == nil && (r == nil || p.State != postroom.ActionPendingApproval) {
		_, err = tooLate(ctx, tx, actionID, op)
	}
	return p, r, err
}

// withdraw withdraws the open request about an action, if there is one.
func (rs *requests) withdraw(ctx context.Context, tx queue.Tx, actionID, why string) error {
	r, err := openRequest(ctx, tx, actionID)
	if err != nil || r == nil {
		return err
	}
	_, err = rs.close(ctx, tx, r, r.answered(OutcomeWithdrawn, "", why, queue.Now(tx)))
	return err
}

// readWaiting reads waiting actions and verifies what it has read. The keys must be loaded.
func (rs *requests) readWaiting(ctx context.Context, query string, args []any) ([]Waiting, error) {
	db := rs.cfg.DB.Reader()
	held := rs.checkpoint.Check(ctx, db)
	var accepted dbtime.Time
	if err := dbquery.Get(ctx, db, &accepted, selectAccepted); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, err
	}
	var rows []waitingRow
	if err := dbquery.Select(ctx, db, &rows, query, args...); err != nil {
		return nil, err
	}
	list := make([]Waiting, len(rows))
	for i := range rows {
		r := &rows[i]
		var err error
		if list[i], err = r.value(); err != nil {
			return nil, err
		}
		p := permitRow{actionRow: r.actionRow, decided: decided{r.decisionRow}, AcceptedAt: accepted}
		switch {
		case p.State != postroom.ActionPendingApproval:
			list[i].Fault = &StateError{Op: "check the request about", ActionID: p.ID, State: p.State, JobID: p.JobID}
		case held != nil:
			list[i].Fault = held
		default:
			list[i].Fault = rs.keys.genuine(&p, &r.approvalRow)
		}
	}
	return list, nil
}

// hold makes an action wait for approval.
func (rs *requests) hold(ctx context.Context, tx queue.Tx, p *permitRow, reason string) (postroom.Action, error) {
	none := ""
	a, err := rs.actions.move(ctx, tx, &p.actionRow,
		change{op: "hold", to: postroom.ActionPendingApproval, approval: &none})
	if err != nil {
		return postroom.Action{}, err
	}
	return a, rs.ask(ctx, tx, p, []string{reason})
}

// refuse fails an action that is not what was permitted, and withdraws its open request. The lock that ends is that
// of the decision's message.
func (rs *requests) refuse(ctx context.Context, tx queue.Tx, p *permitRow, reason string) (postroom.Action, error) {
	locked := postroom.Action{ID: p.ID, AccountID: p.decided.AccountID, MessageID: p.decided.MessageID}
	if err := unlockMessage(ctx, tx, locked); err != nil {
		return postroom.Action{}, err
	}
	a, err := rs.actions.finish(ctx, tx, &p.actionRow, change{op: "start", to: postroom.ActionFailed, error: reason})
	if err != nil {
		return a, err
	}
	return a, rs.withdraw(ctx, tx, p.ID, reason)
}
