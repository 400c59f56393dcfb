package gmail

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
)

// RemoveAccount removes an account: it cancels the unfinished jobs with its [mailstore.LimitKey], and deletes what this package stores of
// it: messages, threads, labels. Hashes of the mailbox, of the messages about which it has sent something, and of the recipients
// are kept, so that nothing is sent twice if the mailbox comes back; see [SentRecord.Forget]. Records of other packages, such as
// decisions and actions, are kept, so that it stays known who did what; their jobs find the messages gone. The grant is stored
// elsewhere: revoke it first (auth.Revoke), or forget it.
//
// It writes in many small transactions, because an account can be large. If it is interrupted, the account stays in the state
// [mailstore.AccountRemoving] with its jobs stopped, and another call of RemoveAccount finishes. A missing account is
// [postroom.ErrNotFound].
func RemoveAccount(ctx context.Context, store *mailstore.Store, q *queue.Queue, accountID string) error {
	if err := fields.Required("gmail: RemoveAccount: the Queue", q, "one made by queue.New"); err != nil {
		return err
	}
	err := store.DB().Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return store.StartRemoval(ctx, tx, q, accountID)
	})
	if err != nil {
		return err
	}
	if _, err := q.CancelAll(ctx, queue.Filter{LimitKey: mailstore.LimitKey(accountID)}); err != nil {
		return fmt.Errorf("gmail: remove account %s: %w", accountID, err)
	}
	account, err := store.Account(ctx, accountID)
	if err != nil {
		return err
	}
	if err := NewSentRecord(store).remember(ctx, account); err != nil {
		return err
	}
	return store.FinishRemoval(ctx, q, accountID)
}
