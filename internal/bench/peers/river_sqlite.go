//go:build riversqlite

package peers

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"

	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/store"
)

// riverSQLiteContenders are those that this program measures. It is built with the tag riversqlite and riversqlite.mod.
func riverSQLiteContenders() []contender.Contender {
	open := func(tuning riverTuning) contender.OpenFunc {
		return func(ctx context.Context, place store.Place) (contender.Queue, error) {
			return openRiverSQLite(ctx, place, tuning)
		}
	}
	return []contender.Contender{
		{Engine: "sqlite", Name: "River", Open: open(riverTuning{workers: 1000, cooldown: time.Millisecond, poll: time.Millisecond})},
		{Engine: "sqlite", Name: "River, defaults", Open: open(riverDefaults)},
	}
}

func openRiverSQLite(ctx context.Context, place store.Place, tuning riverTuning) (contender.Queue, error) {
	db, err := store.OpenSQLite(place)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	q, err := openRiver[*sql.Tx](ctx, riversqlite.New(db), tuning)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	q.db, q.dialect, q.table, q.close = db, sqliteDialect, "river_job", db.Close
	q.write = func(ctx context.Context, job *river.Job[riverArgs]) error {
		return beginFunc(ctx, db, func(tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, contender.RowInsert, job.Args.N, contender.RowText); err != nil {
				return err
			}
			_, err := river.JobCompleteTx[*riversqlite.Driver](ctx, tx, job)
			return err
		})
	}
	return q, nil
}

// beginFunc is pgx.BeginFunc for database/sql.
func beginFunc(ctx context.Context, db *sql.DB, fn func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := fn(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
