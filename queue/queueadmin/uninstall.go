package queueadmin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/naming"
)

// ErrInUse: dispatchers are running, or jobs have not ended; see [Uninstall].
var ErrInUse = errors.New("the queue is in use")

// UninstallOptions are the options of [Uninstall].
type UninstallOptions struct {
	// Force removes the tables although dispatchers are running, or jobs have not ended: those are lost.
	Force bool
}

const (
	selectAlive      = `SELECT COUNT(*) FROM %s WHERE beat_at > $1`
	selectUnfinished = `SELECT COUNT(*) FROM (SELECT 1 FROM %s WHERE finished_at IS NULL LIMIT 1) AS unfinished`
	lockJobs         = `LOCK TABLE %s IN ACCESS EXCLUSIVE MODE`

	// aliveWithin is how long ago a dispatcher that runs has written its heartbeat, unless its lease is very long.
	aliveWithin = time.Minute
)

// Uninstall removes what [queue.Migrate] has made, with all jobs, in one transaction: the queue's tables and functions,
// and the record of its migrations. Whatever else is in the database stays: if something of the program's uses the
// queue's tables (a foreign key, a view, or a trigger or function that enqueues), nothing is removed; on SQLite also if
// a view or trigger is broken already, since SQLite then does not tell what else would be. Indexes and triggers that
// the program has made on the queue's tables go with them. It returns [ErrInUse] if dispatchers are running or jobs
// have not ended; see [UninstallOptions]. The schema of postgres.Config is the program's, and stays. Close the DB
// afterwards. opts may be nil.
func Uninstall(ctx context.Context, db queue.DB, opts *UninstallOptions) error {
	if db == nil || db.Driver() == nil {
		return errors.New("queueadmin: Uninstall needs a DB: open a database with queue/sqlite or queue/postgres")
	}
	if ctx == nil {
		return fmt.Errorf("queueadmin: uninstall: %w", driver.ErrNilContext)
	}
	names := driver.NamesOf(db.Driver())
	drops, err := naming.Drops(queue.MigrationFiles(), db.Dialect(), names)
	if err != nil {
		return fmt.Errorf("queueadmin: uninstall: %w", err)
	}
	err = db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		err := migrate.Remove(ctx, tx, migrate.Place(names), string(db.Dialect()), "queue", queue.MigrationFiles(), drops,
			func(ctx context.Context) error { return mayUninstall(ctx, db, tx, opts != nil && opts.Force) })
		if err != nil || db.Dialect() != driver.SQLite {
			return err
		}
		if err := resolves(ctx, tx); err != nil {
			return fmt.Errorf("something of the program's uses the queue's tables: drop it first: %w", err)
		}
		return nil
	})
	switch {
	case errors.Is(err, migrate.ErrNone):
		return errors.New("queueadmin: uninstall: the database has no tables of the queue's: nothing is removed")
	case err != nil:
		return fmt.Errorf("queueadmin: uninstall: %w", err)
	}
	return nil
}

func mayUninstall(ctx context.Context, db queue.DB, tx queue.Tx, force bool) error {
	if db.Dialect() == driver.Postgres {
		if _, err := tx.ExecContext(ctx, fmt.Sprintf(lockJobs, queue.Table(db, "jobs"))); err != nil {
			return err
		}
	} else if err := resolves(ctx, tx); err != nil {
		return fmt.Errorf("something in the database is broken already, which hides what uses the queue's tables: "+
			"drop or mend it first: %w", err)
	}
	if err := isReferredTo(ctx, db, tx); err != nil {
		return err
	}
	if force {
		return nil
	}
	count := func(query, table string, args ...any) (n int, err error) {
		err = tx.QueryRowContext(ctx, fmt.Sprintf(query, queue.Table(db, table)), args...).Scan(&n)
		return n, err
	}
	alive, err := count(selectAlive, "job_workers", dbtime.Of(driver.Now(db.Driver()).Add(-aliveWithin)))
	if err != nil {
		return err
	}
	if alive > 0 {
		return fmt.Errorf("%w: %d dispatchers have been running within the last minute; stop them, or force it", ErrInUse,
			alive)
	}
	unfinished, err := count(selectUnfinished, "jobs")
	if err == nil && unfinished > 0 {
		err = fmt.Errorf("%w: jobs have not ended, and would be lost; let them run, cancel them, or force it", ErrInUse)
	}
	return err
}
