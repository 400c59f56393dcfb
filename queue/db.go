package queue

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue/driver"
)

// A DB is a database in which the queue and the stores beside it keep their tables. The packages queue/sqlite and
// queue/postgres open one. It has a Dialect, a Reader (a *sqlx.DB for queries), and
//
//	Write(ctx context.Context, fn func(ctx context.Context, tx queue.Tx) error) error
//
// which runs fn in a write transaction and returns when what fn wrote is durable.
type DB = driver.DB

// A Tx is a transaction, with the methods that database/sql gives one:
//
//	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
//	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
//	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
//
// It is what [DB].Write and the handler's [Attempt.Write] and [Attempt.Complete] give, and it may be yours: a *sql.Tx, a
// *sqlx.Tx, the ConnPool of a GORM transaction, the DBTX of sqlc, and with postgres.Tx a pgx.Tx. A call of the queue that
// takes a Tx is part of that transaction: it takes effect if and when that commits, and you commit as you always do. A
// *sql.DB or a *sql.Conn is no transaction, and is refused.
type Tx = driver.Tx

// Now returns the instant of a transaction: that of one begun by the queue is the same for all it writes, and of any other
// it is the current time. It is in UTC, in whole microseconds, as it comes back from the database.
func Now(tx Tx) time.Time {
	if w, ok := tx.(*driver.WriteTx); ok {
		return w.Now()
	}
	return dbtime.Truncate(time.Now())
}

// write runs fn in a write transaction of the queue's own.
func (q *Queue) write(ctx context.Context, fn func(ctx context.Context, tx *driver.WriteTx) error) error {
	return driver.Write(ctx, q.driver, fn)
}

// maxTries bounds how often a transaction that was given up in favour of others is begun anew.
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

// writeSoon is write for what is done for all jobs, or workers, or schedules: it does not wait for what others hold, to be
// tried again.
func (q *Queue) writeSoon(ctx context.Context, fn func(ctx context.Context, tx *driver.WriteTx) error) error {
	return q.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		if t, ok := q.driver.(driver.LockTimeouter); ok {
			if err := t.SetLockTimeout(ctx, tx); err != nil {
				return err
			}
		}
		return fn(ctx, tx)
	})
}

// inWrite reports whether the caller is inside the function of a write already.
func (q *Queue) inWrite(ctx context.Context) bool {
	c, ok := q.driver.(driver.WriteChecker)
	return ok && c.InWrite(ctx)
}

var errNoTx = errors.New("the transaction is nil: begin one, or use the call without Tx")

// join returns tx as the driver takes it, whoever has begun it.
func (q *Queue) join(ctx context.Context, tx Tx) (*driver.WriteTx, error) {
	if w, ok := tx.(*driver.WriteTx); ok && w != nil {
		return w, nil
	}
	if v := reflect.ValueOf(tx); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, errNoTx
	}
	// A pool and a connection have the methods of a transaction too, and would write each statement by itself. BeginTx of
	// some wrappers has other results than that of database/sql.
	if _, ok := reflect.TypeOf(tx).MethodByName("BeginTx"); ok {
		return nil, fmt.Errorf("a %T is no transaction: begin one with BeginTx, or use the call without Tx", tx)
	}
	return q.driver.Join(ctx, tx, q.now())
}

//go:embed migrations
var migrations embed.FS

// Migrate creates the queue's tables (jobs, job_keys, job_steps, job_attempts, job_logs, job_workers, job_schedules and those of
// limits) or brings them up to date. It may be called at every start, by several processes at once. Where they are
// up to date it only reads: then a role that may not create tables can call it as well.
func Migrate(ctx context.Context, db DB) error {
	return migrate.Up(ctx, db, string(db.Dialect()), "queue", migrations)
}
