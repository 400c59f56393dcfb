package mailstore

import (
	"context"

	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// StartRemoval begins to remove an account: it gets the state [AccountRemoving], and its jobs are paused.
// [Store.FinishRemoval] ends that, also after an interruption. A missing account is [postroom.ErrNotFound]. Hosts
// call RemoveAccount of package gmail, which also keeps the record of what was sent.
func (s *Store) StartRemoval(ctx context.Context, tx queue.Tx, q *queue.Queue, accountID string) error {
	now := dbtime.Of(queue.Now(tx))
	if err := maildb.MustExec(ctx, tx, "account "+accountID, sqlRemoving, now, now, accountID); err != nil {
		return err
	}
	return q.PauseTx(ctx, tx, queue.ForKey(LimitKey(accountID)))
}

// FinishRemoval deletes the mail of an account, in many small transactions because an account can be large, calls what
// else is to be removed, and then deletes the account. Jobs with its [LimitKey] that are enqueued late find no account.
func (s *Store) FinishRemoval(ctx context.Context, q *queue.Queue, accountID string,
	rest ...func(ctx context.Context) error) error {
	if err := s.deleteMail(ctx, accountID); err != nil {
		return err
	}
	for _, remove := range rest {
		if err := remove(ctx); err != nil {
			return err
		}
	}
	return s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if _, err := maildb.Exec(ctx, tx, "account "+accountID, sqlDeleteAccount, accountID); err != nil {
			return err
		}
		return q.ResumeTx(ctx, tx, queue.ForKey(LimitKey(accountID)))
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
		return s.Index().DeleteSome(ctx, tx, accountID, deleteBatch)
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
func (s *Store) repeat(ctx context.Context, fn func(ctx context.Context, tx queue.Tx) (int64, error)) (all int64,
	err error) {
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
