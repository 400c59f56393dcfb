package app

import (
	"context"
	"errors"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// RemoveAccount removes an account. It cancels waiting actions first, so that people who were asked are notified at once, and again at
// the end, together with executing ones: until then a running postroomd may have decided about mail.
func (h *App) RemoveAccount(ctx context.Context, a mailstore.Account) error {
	waiting := []postroom.ActionState{postroom.ActionPendingApproval, postroom.ActionQueued}
	if err := h.cancelActions(ctx, a.ID, "the mailbox was removed", waiting...); err != nil {
		return err
	}
	if err := gmail.RemoveAccount(ctx, h.Mail, h.Queue, a.ID); err != nil {
		return err
	}
	if err := h.cancelActions(ctx, a.ID, "the mailbox was removed", waiting...); err != nil {
		return err
	}
	return h.cancelActions(ctx, a.ID, "the mailbox was removed while this was carried out; what it has done at Gmail stays", postroom.ActionExecuting)
}

// cancelActions cancels the actions of a mailbox in the given states: nobody can carry them out without the mailbox.
func (h *App) cancelActions(ctx context.Context, accountID, why string, states ...postroom.ActionState) error {
	for f := (safety.Filter{AccountID: accountID, States: states, Limit: 100}); ; {
		page, err := h.Ledger.Actions(ctx, f)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, e := range page {
			err := h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return h.Ledger.Cancel(ctx, tx, e.Action.ID, why) })
			if err != nil && !errors.Is(err, safety.ErrState) {
				return err
			}
		}
		f.Before = page[len(page)-1].Action.ID
	}
}
