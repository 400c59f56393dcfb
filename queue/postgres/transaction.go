package postgres

import (
	"cmp"
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
	"github.com/postroom-go/postroom/queue/internal/txend"
)

// A transaction is one write, with its own connection. A statement of the driver whose result is not needed at once is
// delayed, and sent together with the next one, at the latest with the commit. So enqueueing a job is one round trip:
// BEGIN, INSERT, COMMIT.
//
// Its calls from several goroutines run one after the other.
type transaction struct {
	of   *engine
	conn *sqlx.Conn

	mu      sync.Mutex
	over    bool // nothing is accepted any more
	begun   bool
	planned bool // ours, see planOurs
	waiting []step
	theirs  []any // see planTheirs
	users   bool  // the program has run statements of its own
	failed  error // of a send: nothing is run any more, since it might commit by itself
	// rows are those that the program has queried last, and endRow ends the context of the row that it has. Those
	// before are closed: a connection answers one query at a time.
	rows   *sql.Rows
	endRow context.CancelFunc
}

// A step is a statement with a function for its rows. read is nil if they do not matter.
type step struct {
	sql  string
	args []any
	read func(rows) error
	// stores reports that it only inserts, so that there is nothing to plan.
	stores bool
	// fence is the lease without which the step fails.
	fence *driver.Lease
	// users reports that it is the program's own, and so is its error.
	users bool
	// lasts reports that it may take as long as it wants, as what users have written may.
	lasts bool
}

// rows are what jobsql reads.
type rows struct{ pgx.Rows }

func (r rows) Close() error {
	r.Rows.Close()
	return nil
}

var _ driver.Tx = (*transaction)(nil)

// own runs fn on the connection itself, below database/sql, which keeps the connection until then. If the connection
// was lost, the error is [sql.ErrConnDone].
func (t *transaction) own(fn func(conn *pgx.Conn) error) error {
	return t.conn.Raw(func(conn any) error {
		own, ok := conn.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("the connection is a %T", conn)
		}
		return fn(own.Conn())
	})
}

// errOver refuses statements of a transaction after its end.
var errOver = fmt.Errorf(
	"postgres: the transaction is over: a Tx is of use only while the function given to Write runs: %w", sql.ErrTxDone)

// add delays the step until the next send.
func (t *transaction) add(s step) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return errOver
	}
	t.waiting = append(t.waiting, s)
	return nil
}

// sendNow is send for all but the end of the transaction.
func (t *transaction) sendNow(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return errOver
	}
	return t.send(ctx)
}

// close refuses later statements.
func (t *transaction) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	t.closeOpen()
}

// send runs the delayed statements in one round trip. After an error the transaction is unusable.
func (t *transaction) send(ctx context.Context, last ...step) error {
	if t.failed != nil {
		return t.failed
	}
	steps := make([]step, 0, len(t.waiting)+len(last)+2)
	within := t.begun
	if !t.begun {
		t.begun = true
		steps = append(steps, step{sql: begin})
	}
	if !t.planned && t.plans() {
		t.planned = true
		steps = append(steps, step{sql: planOurs})
	}
	steps = append(append(steps, t.waiting...), last...)
	t.waiting = nil
	if len(steps) == 0 {
		return nil
	}
	var batch pgx.Batch
	for i := range steps {
		batch.Queue(t.of.names.Fill(steps[i].sql), steps[i].args...)
	}
	var at *step
	sent := time.Now()
	answered, cancel := t.of.answered(ctx, steps)
	defer cancel()
	err := t.own(func(conn *pgx.Conn) error {
		if within && gone(conn) {
			return errGone
		}
		results := conn.SendBatch(answered, &batch)
		n, err := readAll(results, steps)
		if closed := results.Close(); err == nil {
			err = closed
		}
		if n < len(steps) {
			at = &steps[n]
		}
		if readsOnly(err) {
			_ = conn.Close(ctx) // and not given back, to fail again
		}
		return err
	})
	if err != nil && answered.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("postgres: the server has not answered for %v: %w",
			time.Since(sent).Truncate(100*time.Millisecond), err)
	}
	switch {
	case err == nil:
	case at != nil && at.users:
		return err // the program may have set a savepoint
	case at != nil && at.fence != nil:
		t.failed = t.unheld(ctx, *at.fence, unavailable(err))
	default:
		t.failed = unavailable(err)
	}
	return t.failed
}

// unheld returns the reason why a lease is not held, after a fence has failed with err. The transaction has been
// undone.
func (t *transaction) unheld(ctx context.Context, lease driver.Lease, err error) error {
	const invalidText = "22P02"
	if refused := (*pgconn.PgError)(nil); !errors.As(err, &refused) || refused.Code != invalidText {
		return err
	}
	var held []jobsql.HeldJob
	asked := t.own(func(conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, "ROLLBACK"); err != nil {
			return err
		}
		found, err := conn.Query(ctx, t.of.names.Fill(selectLeases), []string{lease.JobID})
		if err == nil {
			held, err = jobsql.Collect(rows{found}, nil, jobsql.ScanHeldJob)
		}
		return err
	})
	if asked != nil {
		return errors.Join(err, asked)
	}
	return cmp.Or(jobsql.LeaseErrors([]driver.Lease{lease}, held)[0], err)
}

// errGone is the error of a transaction that a statement of the user has ended. Later writes would commit by
// themselves.
var errGone = errors.New("postgres: the transaction is gone: one of its statements has ended it")

// gone reports whether the server has no transaction.
func gone(conn *pgx.Conn) bool {
	const idle = 'I'
	return conn.PgConn().TxStatus() == idle
}

// readAll returns the number of steps that have succeeded, and the error of the one that has not.
func readAll(results pgx.BatchResults, steps []step) (done int, err error) {
	for i := range steps {
		if steps[i].read == nil {
			if _, err := results.Exec(); err != nil {
				return i, err
			}
			continue
		}
		answer, err := results.Query()
		if err != nil {
			return i, err
		}
		if err := steps[i].read(rows{answer}); err != nil {
			return i, err
		}
	}
	return len(steps), nil
}

// errRolledBack is the error of a commit after an earlier statement has failed without being reported.
var errRolledBack = errors.New("postgres: the transaction was rolled back: one of its statements had failed")

func (t *transaction) commit(ctx context.Context) error {
	if t.failed == nil && !t.begun && len(t.waiting) == 0 {
		return nil // nothing was asked for
	}
	var tag string
	err := t.send(ctx, step{sql: "COMMIT", lasts: t.users, read: func(r rows) error {
		err := r.Close()
		tag = r.CommandTag().String()
		return errors.Join(err, r.Err())
	}})
	if err == nil && tag != "COMMIT" {
		err = errRolledBack
	}
	return err
}

// rollback undoes the writes. It sends nothing if the server has no transaction. If the connection was lost, the server
// has undone them.
func (t *transaction) rollback(ctx context.Context) error {
	err := t.own(func(conn *pgx.Conn) error {
		if conn.IsClosed() || gone(conn) {
			return nil
		}
		_, err := conn.Exec(ctx, "ROLLBACK")
		return err
	})
	if errors.Is(err, sql.ErrConnDone) {
		return nil
	}
	return err
}

// plans reports whether a delayed statement reads rows.
func (t *transaction) plans() bool {
	return slices.ContainsFunc(t.waiting, func(s step) bool { return !s.stores })
}

// flush sends the delayed statements, so that a user's statement comes after them, and is planned with the server's
// settings.
func (t *transaction) flush(ctx context.Context) error {
	if t.begun && !t.planned && len(t.waiting) == 0 {
		return t.there()
	}
	err := t.send(ctx, t.planTheirs()...)
	t.planned = false
	return err
}

func (t *transaction) planTheirs() []step {
	if t.planned || t.plans() {
		return []step{{sql: planTheirs, args: t.theirs}}
	}
	return nil
}

// there returns an error if a statement of the user has ended the transaction.
func (t *transaction) there() error {
	if t.failed == nil {
		t.failed = t.own(func(conn *pgx.Conn) error {
			if gone(conn) {
				return errGone
			}
			return nil
		})
	}
	return t.failed
}

// refusal returns the reason for refusing a statement of the program.
func (t *transaction) refusal(query string) error {
	if t.over {
		return errOver
	}
	t.users = true
	undoes, err := txend.Refuse(driver.Postgres, query)
	if undoes && t.failed == nil {
		t.failed = err
	}
	return err
}

// ExecContext sends the delayed statements together with the statement. A text without arguments may have several
// statements, and is sent separately.
func (t *transaction) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.refusal(query); err != nil {
		return nil, err
	}
	if len(t.waiting) > 0 && len(args) > 0 && !slices.ContainsFunc(args, special) {
		return t.execWith(ctx, query, args)
	}
	if err := t.flush(ctx); err != nil {
		return nil, err
	}
	return t.conn.ExecContext(ctx, t.of.names.Fill(query), args...)
}

func (t *transaction) execWith(ctx context.Context, query string, args []any) (result sql.Result, err error) {
	users := step{sql: query, args: args, users: true, lasts: true, read: func(r rows) error {
		err := r.Close()
		result = sqldriver.RowsAffected(r.CommandTag().RowsAffected())
		return errors.Join(err, r.Err())
	}}
	err = t.send(ctx, append(t.planTheirs(), users)...)
	t.planned = false
	if err != nil {
		return nil, err
	}
	return result, nil
}

// special reports an argument that database/sql or pgx does not treat as a value.
func special(arg any) bool {
	switch arg.(type) {
	case sql.NamedArg, sql.Out, pgx.QueryExecMode, pgx.QueryRewriter, pgx.QueryResultFormats,
		pgx.QueryResultFormatsByOID:
		return true
	}
	return false
}

func (t *transaction) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.refusal(query); err != nil {
		return nil, err
	}
	if err := t.flush(ctx); err != nil {
		return nil, err
	}
	found, err := t.conn.QueryContext(ctx, t.of.names.Fill(query), args...)
	if err == nil {
		t.rows = found
	}
	return found, err
}

func (t *transaction) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.refusal(query); err != nil {
		return jobsql.RefusedRow(err)
	}
	if err := t.flush(ctx); err != nil {
		return jobsql.RefusedRow(err)
	}
	// A row that is never scanned is closed with its context only.
	if t.endRow != nil {
		t.endRow()
	}
	ctx, t.endRow = context.WithCancel(ctx)
	return t.conn.QueryRowContext(ctx, t.of.names.Fill(query), args...)
}

// closeOpen closes the rows that fn has left open, as the end of a *sql.Tx does: the connection is not given back
// before.
func (t *transaction) closeOpen() {
	if t.rows != nil {
		_ = t.rows.Close()
	}
	if t.endRow != nil {
		t.endRow()
	}
}
