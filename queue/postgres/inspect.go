package postgres

import (
	"context"
	"database/sql"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// Stats implements [driver.Inspector].
func (db *engine) Stats(ctx context.Context, query driver.StatsQuery) (*driver.Stats, error) {
	workers, err := db.Workers(ctx)
	if err != nil {
		return nil, err
	}
	conn, err := await(ctx, db, db.db.Connx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	// One snapshot, so that the figures belong together.
	tx, err := conn.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() //nolint:errcheck // it has only read
	if _, err := tx.ExecContext(ctx, planOurs); err != nil {
		return nil, err
	}
	return jobsql.ReadStats(ctx, tx, driver.Postgres, query, workers)
}

// read runs a query outside of transactions.
func read[T any](ctx context.Context, db *engine, scan func(jobsql.Scanner) (T, error), query string, args ...any) ([]T, error) {
	answer, err := db.query(ctx, query, args...)
	return jobsql.Collect(answer, err, scan)
}
