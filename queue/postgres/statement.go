package postgres

import (
	"context"
	"database/sql"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// later delays a statement of the driver's own. Its error is returned by the next statement that is sent.
func later(ctx context.Context, tx *driver.WriteTx, query string, args ...any) error {
	if own, ok := tx.Tx.(*transaction); ok {
		return own.add(step{sql: query, args: args})
	}
	if _, ok := tx.Tx.(pgxTx); !ok {
		args = portable(args)
	}
	_, err := tx.ExecContext(ctx, query, args...)
	return err
}

// store is later for a statement that only inserts.
func store(ctx context.Context, tx *driver.WriteTx, query string, args ...any) error {
	if own, ok := tx.Tx.(*transaction); ok {
		return own.add(step{sql: query, args: args, stores: true})
	}
	return later(ctx, tx, query, args...)
}

// laterInto is later for a statement with a result: into has it when the next statement has run.
func laterInto[T any](
	ctx context.Context, tx *driver.WriteTx, into *[]T, scan func(jobsql.Scanner) (T, error), query string, args ...any,
) error {
	own, ok := tx.Tx.(*transaction)
	if !ok {
		answer, err := queryTx(ctx, tx, query, args...)
		*into, err = jobsql.Collect(answer, err, scan)
		return err
	}
	return own.add(step{sql: query, args: args, read: func(r rows) (err error) {
		*into, err = jobsql.Collect(r, nil, scan)
		return err
	}})
}

// laterJobs is laterInto for jobs.
func laterJobs(ctx context.Context, tx *driver.WriteTx, into *[]driver.Job, query string, args ...any) error {
	own, ok := tx.Tx.(*transaction)
	if !ok {
		answer, err := queryTx(ctx, tx, query, args...)
		*into, err = jobsql.ScanJobs(answer, err, 16)
		return err
	}
	return own.add(step{sql: query, args: args, read: func(r rows) (err error) {
		*into, err = jobsql.ScanJobs(r, nil, 16)
		return err
	}})
}

// query runs a statement of the driver's own after the delayed ones.
func query[T any](
	ctx context.Context, tx *driver.WriteTx, scan func(jobsql.Scanner) (T, error), text string, args ...any,
) (list []T, err error) {
	if err := laterInto(ctx, tx, &list, scan, text, args...); err != nil {
		return nil, err
	}
	if own, ok := tx.Tx.(*transaction); ok {
		err = own.sendNow(ctx)
	}
	return list, err
}

// queryOne is query for at most one row. The error is [sql.ErrNoRows] if there is none.
func queryOne[T any](
	ctx context.Context, tx *driver.WriteTx, scan func(jobsql.Scanner) (T, error), text string, args ...any,
) (one T, err error) {
	list, err := query(ctx, tx, scan, text, args...)
	if err == nil && len(list) == 0 {
		err = sql.ErrNoRows
	}
	if err != nil {
		return one, err
	}
	return list[0], nil
}

// flush sends the delayed statements.
func flush(ctx context.Context, tx *driver.WriteTx) error {
	if own, ok := tx.Tx.(*transaction); ok {
		return own.sendNow(ctx)
	}
	return nil
}
