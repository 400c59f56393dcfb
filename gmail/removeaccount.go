package gmail

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
)

// RemoveAccount removes an account: it cancels the unfinished jobs with its [LimitKey], and deletes what this package stores of
// it: messages, threads, labels. Hashes of the mailbox, of the messages about which it has sent something, and of the recipients
// are kept, so that nothing is sent twice if the mailbox comes back; see [Store.ForgetSent]. Records of other packages, such as
// decisions and actions, are kept, so that it stays known who did what; their jobs find the messages gone. The grant is stored
// elsewhere: revoke it first (auth.Revoke), or forget it.
//
// It writes in many small transactions, because an account can be large. If it is interrupted, the account stays in the state
// [AccountRemoving] with its jobs stopped, and another call of RemoveAccount finishes. A missing account is
// [postroom.ErrNotFound].
func (s *Store) RemoveAccount(ctx context.Context, q *queue.Queue, accountID string) error {
	if err := fields.Required("gmail: RemoveAccount: the Queue", q, giveQueue); err != nil {
		return err
	}
	key := queue.ForKey(LimitKey(accountID))
	err := s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		now := dbtime.Of(queue.Now(tx))
		if err := maildb.MustExec(ctx, tx, "account "+accountID, sqlRemoving, now, now, accountID); err != nil {
			return err
		}
		return q.PauseTx(ctx, tx, key)
	})
	if err != nil {
		return err
	}
	if _, err := q.CancelAll(ctx, queue.Filter{LimitKey: LimitKey(accountID)}); err != nil {
		return fmt.Errorf("gmail: remove account %s: %w", accountID, err)
	}
	account, err := s.Account(ctx, accountID)
	if err != nil {
		return err
	}
	if err := s.rememberSent(ctx, account); err != nil {
		return err
	}
	if err := s.deleteMail(ctx, accountID); err != nil {
		return err
	}
	return s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if _, err := maildb.Exec(ctx, tx, "account "+accountID, sqlDeleteAccount, accountID); err != nil {
			return err
		}
		return q.ResumeTx(ctx, tx, key) // a job that is enqueued late finds no account
	})
}

// deleteBatch is the number of rows that one transaction deletes, so that other writes come in between.
const deleteBatch = 500

// deleteMail deletes the messages of an account, and what belongs to them.
func (s *Store) deleteMail(ctx context.Context, accountID string) error {
	if _, err := s.deleteAll(ctx, accountID, sqlDeleteMessages); err != nil {
		return err
	}
	_, err := s.repeat(ctx, func(ctx context.Context, tx queue.Tx) (int64, error) {
		return s.index().DeleteSome(ctx, tx, accountID, deleteBatch)
	})
	if err != nil {
		return err
	}
	for _, statement := range []string{sqlDeleteBrokens, sqlDeleteReconciled, sqlDeleteThreads} {
		if _, err := s.deleteAll(ctx, accountID, statement); err != nil {
			return err
		}
	}
	return nil
}

// deleteAll repeats the statement until it deletes nothing, and returns how many rows it has deleted.
func (s *Store) deleteAll(ctx context.Context, accountID, statement string) (all int64, err error) {
	return s.repeat(ctx, func(ctx context.Context, tx queue.Tx) (int64, error) {
		return maildb.Exec(ctx, tx, "remove account "+accountID, statement, accountID, deleteBatch)
	})
}

// repeat calls fn in transactions until it deletes nothing, and returns how many rows it has deleted.
func (s *Store) repeat(ctx context.Context, fn func(ctx context.Context, tx queue.Tx) (int64, error)) (all int64, err error) {
	for deleted := int64(1); deleted > 0; {
		err := s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
			deleted, err = fn(ctx, tx)
			return err
		})
		if err != nil {
			return all, err
		}
		all += deleted
	}
	return all, nil
}
