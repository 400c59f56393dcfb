//go:build riversqlite

package main

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
)

// riverSQLite stands for this program itself, which builds no other.
var riverSQLite = &program{}

// riverSQLiteContenders are those that this program measures. It is built with the tag riversqlite and riversqlite.mod.
func riverSQLiteContenders() []Contender {
	open := func(tuning riverTuning) func(context.Context, Place) (Queue, error) {
		return func(ctx context.Context, place Place) (Queue, error) { return openRiverSQLite(ctx, place, tuning) }
	}
	return []Contender{
		{Engine: "sqlite", Name: "River", Open: open(riverTuning{workers: 1000, cooldown: time.Millisecond, poll: time.Millisecond})},
		{Engine: "sqlite", Name: "River, defaults", Open: open(riverDefaults)},
	}
}

func openRiverSQLite(ctx context.Context, place Place, tuning riverTuning) (Queue, error) {
	db, err := openSQLite(place)
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
			if _, err := tx.ExecContext(ctx, rowInsert, job.Args.N, rowText); err != nil {
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
