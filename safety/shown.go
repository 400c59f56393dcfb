package safety

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
)

// What people are shown is in the database, and may have been altered there, also between two statements, or for one of them. So what is
// shown is compared with what is signed, column by column, in the state of the database from which it was read.

// checkShown reads and checks the request about an action that waits. It is not about what is shown, if that is not nil, is not what
// was asked, or nobody can tell: that is the fault. err is the database's.
func (l *Ledger) checkShown(ctx context.Context, tx dbquery.Querier, actionID string, shown *waitingRow) (fault, err error) {
	p, err := readPermit(ctx, tx, actionID)
	if err != nil {
		return nil, err
	}
	r, err := openRequest(ctx, tx, actionID)
	if err != nil {
		return nil, err
	}
	if r == nil || p.State != postroom.ActionApprovedPending {
		return &StateError{Op: "check the request about", ActionID: actionID, State: p.State, JobID: p.JobID}, nil
	}
	if shown != nil && !shown.is(&p, r) {
		return fmt.Errorf("safety: action %s: %w: %w: reject it", actionID, ErrApprovalVoid, ErrAltered), nil
	}
	err = l.checkGenuine(ctx, tx, &p, r, "check the request about")
	if errors.Is(err, ErrApprovalVoid) || errors.Is(err, postroom.ErrHeld) || errors.Is(err, ErrState) {
		return err, nil
	}
	return nil, err
}

// is reports whether what was listed is what was read.
func (s *waitingRow) is(p *permitRow, r *openRow) bool {
	action, decision, request := &s.actionRow, &s.decisionRow, &s.approvalRow
	return slices.Equal(action.parts(), p.parts()) && slices.Equal(decision.parts(), p.decided.parts()) && slices.Equal(request.parts(), r.parts())
}

// CheckRequest returns nil if the request for approval of an action that waits is what was asked, and its action and decision are what
// they were then; otherwise [ErrApprovalVoid], [ErrLogCut], or a [*StateError] if it does not wait. Show nobody a request as genuine for which
// it does not return nil: what is shown is in the database, and may have been altered there. [Ledger.Approve] checks the same. What is
// shown may have been read from another state of the database: [Ledger.Approvals] and [Ledger.Waiting] return what they have checked.
func (l *Ledger) CheckRequest(ctx context.Context, actionID string) error {
	var fault error
	err := l.snapshot(ctx, func(tx *snapshot) (err error) {
		if err = l.keys.load(ctx, tx); err == nil {
			fault, err = l.checkShown(ctx, tx, actionID, nil)
		}
		return err
	})
	if err != nil {
		return err
	}
	return fault
}

// Waiting returns one action that waits for approval, with the request; one that does not wait is a [*StateError].
func (l *Ledger) Waiting(ctx context.Context, actionID string) (w Waiting, err error) {
	a, err := l.Action(ctx, actionID)
	if err != nil {
		return w, err
	}
	for f := (Filter{AccountID: a.AccountID, MessageID: a.MessageID, Limit: maxLimit}); ; {
		page, err := l.Approvals(ctx, f)
		if err != nil {
			return w, err
		}
		if i := slices.IndexFunc(page, func(w Waiting) bool { return w.Action.ID == actionID }); i >= 0 {
			return page[i], nil
		}
		if len(page) < f.Limit {
			return w, &StateError{Op: "read the request about", ActionID: actionID, State: a.State, JobID: a.JobID}
		}
		f.Before = page[len(page)-1].Action.ID
	}
}
