package replies

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// record applies an event in the transaction. It reports whether the event has changed the reply or enqueued a job.
func (s *Store) record(
	ctx context.Context, tx queue.Tx, accountID, threadID string, e *event,
) (changed bool, err error) {
	if accountID == "" || threadID == "" {
		return false, fmt.Errorf("replies: %s: the account or the thread is empty; give the ids of both", e.kind)
	}
	before, err := lock(ctx, tx, accountID, threadID)
	if err == nil && e.applies(&before) {
		changed, err = s.apply(ctx, tx, before, e)
	}
	if err != nil {
		return false, fmt.Errorf("replies: %s: thread %s: %w", e.kind, threadID, err)
	}
	return changed, nil
}

func (s *Store) apply(ctx context.Context, tx queue.Tx, before Reply, e *event) (bool, error) {
	next, changed, job := e.after(before)
	if e.need != 0 && !changed { // the result of a job is no cause of its own: it may fit later
		return false, nil
	}
	now := dbtime.Of(queue.Now(tx))
	first, err := dbquery.Exec(ctx, tx, sqlInsertChange, next.AccountID, next.ThreadID, e.cause, e.kind, before.State,
		next.State, next.Need, next.Turn, e.reasonOf(&next), now)
	if err != nil || first == 0 {
		return false, err
	}
	if changed {
		if err := save(ctx, tx, &next, now); err != nil {
			return false, err
		}
	}
	if job {
		_, err = s.cfg.Queue.EnqueueTx(ctx, tx, e.job(&next))
	}
	return changed || job, err
}

func (e *event) reasonOf(next *Reply) string {
	if e.reason == "" && e.kind == EventGaveUp {
		return next.Reason
	}
	return e.reason
}

// lock returns the reply of a thread, or one with the zero State, and keeps other transactions from changing it.
func lock(ctx context.Context, tx queue.Tx, accountID, threadID string) (Reply, error) {
	var row replyRow
	err := dbquery.Get(ctx, tx, &row, sqlLock, accountID, threadID)
	if errors.Is(err, sql.ErrNoRows) {
		now := dbtime.Of(queue.Now(tx))
		if _, err = dbquery.Exec(ctx, tx, sqlInsert, accountID, threadID, now, now); err == nil {
			err = dbquery.Get(ctx, tx, &row, sqlLock, accountID, threadID)
		}
	}
	return row.reply(), err
}

func save(ctx context.Context, tx queue.Tx, r *Reply, now dbtime.Time) error {
	_, err := dbquery.Exec(ctx, tx, sqlUpdate, r.AccountID, r.ThreadID, r.MessageID, r.SentMessageID, r.State, r.Reason,
		r.Need, r.Turn, r.Reworks, now, r.draftKey)
	return err
}

// Forget deletes the replies of an account and their history.
func (s *Store) Forget(ctx context.Context, tx queue.Tx, accountID string) error {
	for _, statement := range []string{sqlForgetChanges, sqlForget} {
		if _, err := dbquery.Exec(ctx, tx, statement, accountID); err != nil {
			return fmt.Errorf("replies: forget account %s: %w", accountID, err)
		}
	}
	return nil
}
