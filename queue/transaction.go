package queue

import (
	"context"
	"errors"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/txlock"
)

// A Tx is a transaction, with the methods that database/sql gives one:
//
//	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
//	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
//	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
//
// It is passed to the functions of [DB].Write, [Attempt.Write] and [Attempt.Complete]. It may also be the program's own
// transaction: a *sql.Tx, a *sqlx.Tx, the ConnPool of a GORM transaction, the DBTX of sqlc, and with postgres.Tx a
// pgx.Tx. A call of the queue that takes a Tx is part of that transaction: it takes effect if and when the transaction
// commits, and the program commits as usual. A *sql.DB or a *sql.Conn is not a transaction and is refused; so is a
// transaction of another database, or one that has ended. Goroutines may share a transaction: the queue runs its calls
// in it one after the other.
type Tx = driver.Tx

// Now returns the instant of a transaction. A transaction that the queue has begun has one instant for all its writes;
// for any other transaction Now returns the current time. The result is in UTC, in whole microseconds, as the database
// returns it.
func Now(tx Tx) time.Time {
	if w, ok := tx.(*driver.WriteTx); ok {
		return w.Now()
	}
	return dbtime.Truncate(time.Now())
}

// OnCommit arranges for fn to be called once a transaction that the queue has begun is committed, on the goroutine that
// commits it and before the call that wrote returns. After a rollback fn is not called; after the rollback of a
// savepoint it is, see [AtEnd]. A panic of fn undoes nothing: the other functions are called, and then it goes on to
// the caller of the write. fn must not write to the database, nor wait for a goroutine that does. OnCommit returns
// false, and fn is not called, for a transaction of the program's own, because the queue does not learn of its end.
func OnCommit(tx Tx, fn func()) bool {
	w, ok := tx.(*driver.WriteTx)
	if !ok || w.Adopted() {
		return false
	}
	w.OnCommit(fn)
	return true
}

// AtEnd arranges for fn to be called before a transaction that the queue has begun is committed, once the function that
// writes has returned without an error. fn reads in it what will be committed, whatever savepoints were rolled back. An
// error or a panic of fn rolls the transaction back. AtEnd returns false, and fn is not called, for a transaction of
// the program's own.
func AtEnd(tx Tx, fn func(ctx context.Context) error) bool {
	w, ok := tx.(*driver.WriteTx)
	if !ok || w.Adopted() {
		return false
	}
	w.AtEnd(fn)
	return true
}

// write runs fn in a write transaction of the queue's own.
func (q *Queue) write(ctx context.Context, fn func(ctx context.Context, tx *driver.WriteTx) error) error {
	if err := q.made(); err != nil {
		return err
	}
	return driver.Write(ctx, q.driver, fn)
}

// maxTries bounds how often a transaction that yielded to others is begun again.
const maxTries = 20

// writeAgain is write for a fn of the queue's own that may run again.
func (q *Queue) writeAgain(ctx context.Context, fn func(ctx context.Context, tx *driver.WriteTx) error) error {
	for tries := 1; ; tries++ {
		err := q.write(ctx, fn)
		if !errors.Is(err, driver.ErrDeadlock) || tries == maxTries {
			return err
		}
	}
}

// writeSoon is write for changes to all jobs, workers or schedules. It does not wait for locks of other transactions;
// the change is tried again.
func (q *Queue) writeSoon(ctx context.Context, fn func(ctx context.Context, tx *driver.WriteTx) error) error {
	ctx, cancel := answered(ctx)
	defer cancel()
	return q.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		if q.locks != nil {
			if err := q.locks.SetLockTimeout(ctx, tx); err != nil {
				return err
			}
		}
		return fn(ctx, tx)
	})
}

// inWrite reports whether the caller is inside the function of a write already.
func (q *Queue) inWrite(ctx context.Context) bool {
	return q.writes != nil && q.writes.InWrite(ctx)
}

// adopt returns tx as the driver takes it, whoever has begun it. The caller calls leave when it needs it no more: until
// then no other call works in it, where it is the program's own.
func (q *Queue) adopt(ctx context.Context, tx Tx) (w *driver.WriteTx, leave func(), err error) {
	if err := q.made(); err != nil {
		return nil, nil, err
	}
	return txlock.Adopt(ctx, q.driver, tx, q.now())
}
