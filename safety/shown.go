package safety

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
)

// The text that people are shown is read from the database and may have been altered there, even between two statements or for
// one of them. So it is compared with what is signed, column by column, in the state of the database from which it was read.

// checkShown reads and checks the request of a waiting action. The fault says that it differs from shown, if that is not nil, or
// from what was asked, or that it cannot be verified. err is an error of the database.
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

// is reports whether the listed request and action are those that were read.
func (s *waitingRow) is(p *permitRow, r *openRow) bool {
	action, decision, request := &s.actionRow, &s.decisionRow, &s.approvalRow
	return slices.Equal(action.parts(), p.parts()) && slices.Equal(decision.parts(), p.decided.parts()) && slices.Equal(request.parts(), r.parts())
}

// CheckRequest returns nil if the request for approval of a waiting action is what was asked, and its action and decision are
// unchanged. Otherwise it returns [ErrApprovalVoid], [ErrLogCut], or a [*StateError] if the action does not wait. A request must
// not be shown as genuine unless CheckRequest returns nil, because its text is read from the database and may have been altered
// there. [Ledger.Approve] makes the same check. CheckRequest may read a later state of the database than the caller;
// [Ledger.Approvals] and [Ledger.Waiting] return what they have checked.
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

// Waiting returns an action that waits for approval, with its request. An action that does not wait is a [*StateError].
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
