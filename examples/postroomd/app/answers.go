package app

import (
	"context"
	"errors"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/gmail/pipeline"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// AnsweredTogether reports whether a person may answer several requests for actions of the type at once: it is a
// standard one that can be taken back and reaches nobody. What a kind of the program's own does is not known.
func (h *App) AnsweredTogether(t postroom.ActionType) bool {
	kinds := h.Ledger.Kinds()
	standard, ok := postroom.StandardKind(t)
	return ok && standard.Danger != postroom.Dangerous && kinds.Danger(t) != postroom.Dangerous && !kinds.Sends(t)
}

// ApproveShown approves the request as it was shown, and no other. A request that can no longer be approved is a
// [usage.Error]. Jobs carry the action out.
func (h *App) ApproveShown(ctx context.Context, shown safety.Approval, by string) error {
	return answerable(h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := h.Ledger.ApproveRequest(ctx, tx, shown, by)
		return err
	}))
}

// RejectShown rejects the request as it was shown: its action is never carried out. why may be empty.
func (h *App) RejectShown(ctx context.Context, shown safety.Approval, by, why string) error {
	return answerable(h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := h.Ledger.RejectRequest(ctx, tx, shown, by, why)
		return err
	}))
}

// RenewRequest asks again about an action whose request has expired.
func (h *App) RenewRequest(ctx context.Context, actionID string) error {
	return answerable(h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return h.Ledger.Renew(ctx, tx, actionID)
	}))
}

// EditShown changes the subject and the text of what the request sends, as it was shown, and returns the request that
// is asked instead: nothing is approved yet. What cannot be edited is a [usage.Error].
func (h *App) EditShown(ctx context.Context, shown safety.Approval, by string, edit outbox.Edit) (
	safety.Approval, error) {
	next, err := h.Edit(ctx, shown, by, edit)
	fault, known := errors.AsType[*gmailapi.Error](err)
	switch {
	case errors.Is(err, pipeline.ErrSendsNothing):
		return next, usage.Errorf("%w: there is nothing to edit", err)
	case known && fault.Class == gmailapi.ClassInvalid:
		return next, usage.Errorf("nothing was edited: %w", fault.Err)
	}
	return next, answerable(hintRejecting(err))
}

// answerable makes what the person at a request can mend, or has only to know, a [usage.Error].
func answerable(err error) error {
	for _, known := range []error{safety.ErrState, safety.ErrApprovalExpired, safety.ErrApprovalVoid, safety.ErrAltered,
		safety.ErrInvalidDecision, safety.ErrNotApprover} {
		if errors.Is(err, known) {
			return usage.Wrap(err)
		}
	}
	return err
}
