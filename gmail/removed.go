package gmail

import (
	"context"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/queue"
)

// mailboxRemoved is the reason of jobs and actions that are canceled because the mailbox is gone.
const mailboxRemoved = "the mailbox was removed"

// canceledWith returns the error of a job whose account was removed before or while it ran: it does not fail.
func canceledWith(accountID string) error {
	return queue.Cancel(fmt.Errorf("gmail: account %s: %s, and there is nothing left to do", accountID, mailboxRemoved))
}

// settles reports whether a job carries out an action, which it also ends; see [jobs.endAction].
func settles(p payload) bool {
	switch p.(type) {
	case ActionPayload, OutboundPayload:
		return true
	}
	return false
}

// removed reports whether the cause of a failure is that the account was removed.
func (j *jobs) removed(ctx context.Context, cause error, accountID string) bool {
	if gmailapi.ClassOf(cause) != gmailapi.ClassNotFound {
		return false
	}
	_, err := j.Store.Account(ctx, accountID)
	return errors.Is(err, postroom.ErrNotFound)
}

// endAction makes the error of a handler. If no attempt follows, the action is failed, or canceled if its account was removed; note is
// stored with a failure.
func (j *jobs) endAction(
	ctx context.Context, w *queue.Attempt, a postroom.Action, cause error, note func(ctx context.Context, tx queue.Tx) error,
) error {
	verdict := gmailapi.Verdict(cause)
	removed := j.removed(ctx, cause, a.AccountID)
	if removed {
		verdict = canceledWith(a.AccountID)
	}
	if ctx.Err() != nil || !w.Ends(verdict) {
		return verdict // a stopped attempt is not the last
	}
	err := w.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if removed {
			return j.Ledger.Cancel(ctx, tx, a.ID, mailboxRemoved)
		}
		if err := note(ctx, tx); err != nil {
			return err
		}
		return j.Ledger.Fail(ctx, tx, a.ID, cause.Error())
	})
	switch {
	case err != nil:
		return errors.Join(cause, err)
	case removed:
		return verdict
	}
	return queue.Fatal(cause)
}
