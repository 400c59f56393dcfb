package safety

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom/internal/dbquery"
)

// Request returns a request for approval, whether it waits or was answered, with its action and its decision, or [postroom.ErrNotFound].
// Its Fault is nil if it was asked and answered so; otherwise it is [ErrApprovalVoid] or [ErrLogCut]. Tell nobody what it says then.
func (l *Ledger) Request(ctx context.Context, id string) (w Waiting, err error) {
	err = l.snapshot(ctx, func(tx *snapshot) error {
		if err := l.keys.load(ctx, tx); err != nil {
			return err
		}
		var r openRow
		if err := dbquery.Get(ctx, tx, &r, selectLoggedApproval, id); errors.Is(err, sql.ErrNoRows) {
			return notFound("request for approval", id)
		} else if err != nil {
			return fmt.Errorf("safety: read request for approval %s: %w", id, err)
		}
		p, err := readPermit(ctx, tx, r.ActionID)
		if err != nil {
			return err
		}
		if w, err = p.requestedBy(&r); err != nil {
			return err
		}
		w.Fault, err = l.checkTold(ctx, tx, &p, &r)
		return err
	})
	return w, err
}

// requestedBy is the request about an action, for people.
func (p *permitRow) requestedBy(r *openRow) (w Waiting, err error) {
	if w.Approval, err = r.value(); err != nil {
		return w, err
	}
	if w.Action, err = p.value(); err != nil {
		return w, err
	}
	w.Decision, err = p.decided.value()
	return w, err
}

// checkTold returns why a request was not asked, or not answered, as it is stored; err is the database's. What an action sends may have been
// composed after the request was answered.
func (l *Ledger) checkTold(ctx context.Context, tx *snapshot, p *permitRow, r *openRow) (fault, err error) {
	unnamed := *p
	unnamed.Content = ""
	asked := l.checkSigned(r.Digest, p.requested(&r.approvalRow)) == signedRight || l.checkSigned(r.Digest, unnamed.requested(&r.approvalRow)) == signedRight
	if !asked || l.asLogged(&p.actionRow, &p.Last) != signedRight || l.isLast(auditApproval, r.Rev, &r.Last, r.Last.digest, r.parts()) != signedRight {
		return fmt.Errorf("safety: request %s: %w: %w, or signed with another key", r.ID, ErrApprovalVoid, ErrAltered), nil
	}
	switch log, err := l.wholeSince(ctx, tx, p, r, "tell of"); {
	case errors.Is(err, ErrLogCut):
		return err, nil
	case err != nil:
		return nil, err
	case log == logBroken:
		return fmt.Errorf("safety: request %s: %w: %w: the log is not whole since, and does not tell whether it was answered", r.ID, ErrApprovalVoid, ErrAltered), nil
	}
	return nil, nil
}
