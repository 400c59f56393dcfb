package jobsql

import (
	"context"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

// The next claim takes in what has become due, as if its time had come. A job that was enqueued beside this is due
// later than this has begun, and stays where it waits: claims find it there and nowhere before.
const promoteScheduled = `
UPDATE /*q.*/jobs
SET not_before = $1
WHERE state = 'queued'
  AND hold = ` + Scheduled + `
  AND not_before > $1`

// PromoteScheduled implements [driver.Promoter].
func (s *Store) PromoteScheduled(ctx context.Context, tx *driver.WriteTx) (int, error) {
	res, err := tx.ExecContext(ctx, promoteScheduled, dbtime.Of(tx.Now()))
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, promoteAwaits, dbtime.Of(tx.Now()))
	return int(n), err
}

const (
	selectOne     = `SELECT 1`
	selectAnyJobs = `SELECT COUNT(*) FROM (SELECT 1 FROM /*q.*/jobs LIMIT 1) AS found`
	// Of the table, and with the column, that was added last.
	selectNoRows = `SELECT workers.version FROM /*q.*/job_turn_marks CROSS JOIN /*q.*/job_workers AS workers LIMIT 0`
)

var selectNoJobs = `SELECT ` + Columns + `, hold FROM /*q.*/jobs LIMIT 0`

// CheckTables implements [driver.TableChecker].
func (s *Store) CheckTables(ctx context.Context) error {
	answered := func(query string) error {
		_, err := read(ctx, s, func(Scanner) (struct{}, error) { return struct{}{}, nil }, query)
		return err
	}
	if err := answered(selectOne); err != nil {
		return err
	}
	err := answered(selectNoJobs)
	switch {
	case driver.Forbidden(err):
		return err // they are there
	case err == nil:
		if err := answered(selectNoRows); err == nil || driver.Forbidden(err) {
			return err
		}
		return driver.ErrNoTables // an earlier version has made them
	case answered(selectAnyJobs) == nil:
		return driver.ErrForeignTables
	default:
		return driver.ErrNoTables
	}
}
