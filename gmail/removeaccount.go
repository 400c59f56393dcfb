package gmail

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
)

// RemoveAccount removes an account: it cancels the unfinished jobs with its [mailstore.LimitKey], and deletes what
// this package stores of it: messages, threads, labels. Hashes of the mailbox, of the messages about which it has
// sent something, and of the recipients are kept, so that nothing is sent twice if the mailbox comes back; see
// [outbox.SentRecord.Forget]. Records of other packages, such as decisions and actions, are kept, so that it stays
// known who did what; their jobs find the messages gone. The grant is stored elsewhere: revoke it first (auth.Revoke),
// or forget it.
//
// rest removes what other packages keep for the account, such as its schedules, rules and requests for approval. It is
// called when the mail is deleted, and before the account is.
//
// RemoveAccount writes in many small transactions, because an account can be large. If it is interrupted, or rest
// fails, the account stays in the state [mailstore.AccountRemoving] with its jobs stopped, and another call of
// RemoveAccount finishes: rest must bear being called again. A missing account is [postroom.ErrNotFound].
func RemoveAccount(ctx context.Context, store *mailstore.Store, q *queue.Queue, accountID string,
	rest ...func(ctx context.Context) error) error {
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
	if err := outbox.NewSentRecord(store).Keep(ctx, account); err != nil {
		return err
	}
	return store.FinishRemoval(ctx, q, accountID, rest...)
}
