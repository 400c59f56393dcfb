package safety

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// Approval returns one request for approval, or [postroom.ErrNotFound].
func (l *Ledger) Approval(ctx context.Context, id string) (Approval, error) {
	return findApproval(ctx, l.cfg.DB.Reader(), id)
}

func findApproval(ctx context.Context, q dbquery.Querier, id string) (Approval, error) {
	r, err := get[approvalRow, Approval](ctx, q, selectApproval, id)
	if errors.Is(err, sql.ErrNoRows) {
		return r, notFound("request for approval", id)
	}
	if err != nil {
		return r, fmt.Errorf("safety: read request for approval %s: %w", id, err)
	}
	return r, nil
}

// ApproveRequest is [Ledger.Approve] for a person who was shown the request as shown: it approves that request and no other. If
// the request was renewed since, or the action's content was composed, the error is [ErrApprovalVoid]. On an error the caller
// must roll the transaction back.
func (l *Ledger) ApproveRequest(ctx context.Context, tx queue.Tx, shown Approval, approver string) (postroom.Action, error) {
	return l.answerRequest(ctx, tx, shown, OutcomeApproved, func() (postroom.Action, error) {
		return l.Approve(ctx, tx, shown.ActionID, approver)
	})
}

// RejectRequest is [Ledger.Reject] for a person who was shown the request as shown; see [Ledger.ApproveRequest]. An expired
// request can be rejected.
func (l *Ledger) RejectRequest(ctx context.Context, tx queue.Tx, shown Approval, approver, why string) (postroom.Action, error) {
	return l.answerRequest(ctx, tx, shown, OutcomeRejected, func() (postroom.Action, error) {
		return l.Reject(ctx, tx, shown.ActionID, approver, why)
	})
}

func (l *Ledger) answerRequest(
	ctx context.Context, tx queue.Tx, shown Approval, outcome Outcome, answer func() (postroom.Action, error),
) (postroom.Action, error) {
	r, err := findApproval(ctx, tx, shown.ID)
	if err != nil {
		return postroom.Action{}, err
	}
	if r.ActionID != shown.ActionID || r.Outcome == OutcomeWaiting && r.Digest != shown.Digest {
		return postroom.Action{}, fmt.Errorf("safety: request %s: %w: look at it again", r.ID, ErrApprovalVoid)
	}
	if r.Outcome != OutcomeWaiting {
		a, err := l.tooLate(ctx, tx, r.ActionID, "answer the request about")
		if a.State == postroom.ActionApprovedPending {
			err = fmt.Errorf("safety: request %s: %w: it was withdrawn, and another one waits", r.ID, ErrApprovalVoid)
		}
		return a, err
	}
	a, err := answer()
	if err != nil {
		return a, err
	}
	// Between the two statements another transaction may have renewed the request. The answer must be to the request that was
	// shown, or to none.
	if r, err = findApproval(ctx, tx, shown.ID); err == nil && r.Outcome != outcome {
		err = fmt.Errorf("safety: request %s: %w: it was withdrawn meanwhile", r.ID, ErrApprovalVoid)
	}
	return a, err
}

// DeriveKey returns a key of 32 bytes for a purpose, such as signing the buttons of a message. It is derived from [Config].Key,
// or from the key that the database keeps. A key reveals nothing about the keys of other purposes.
func (l *Ledger) DeriveKey(ctx context.Context, purpose string) ([]byte, error) {
	if purpose == "" {
		return nil, errors.New("safety: DeriveKey: the purpose is empty")
	}
	if err := l.keys.load(ctx, l.cfg.DB.Reader()); err != nil {
		return nil, err
	}
	h := hmac.New(sha256.New, l.keys.key)
	_, _ = fmt.Fprintf(h, "%q", []string{"a key for", purpose})
	return h.Sum(nil), nil
}

// OpenRequestTx returns the open request for approval of a waiting action, inside a write transaction, as [Config].Ask sees it.
// Without one the error is [postroom.ErrNotFound].
func (l *Ledger) OpenRequestTx(ctx context.Context, tx queue.Tx, actionID string) (Approval, error) {
	r, err := get[openRow, Approval](ctx, tx, selectRequest, actionID)
	if errors.Is(err, sql.ErrNoRows) {
		return r, notFound("open request for approval of action", actionID)
	}
	if err != nil {
		return r, fmt.Errorf("safety: read the request for approval of action %s: %w", actionID, err)
	}
	return r, nil
}
