package main

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
)

func riverContenders() []Contender {
	const module = "github.com/riverqueue/river"
	onSQLite := func(tuning riverTuning) func(context.Context, Place) (Queue, error) {
		return func(ctx context.Context, place Place) (Queue, error) { return openRiverSQLite(ctx, place, tuning) }
	}
	onPostgres := func(tuning riverTuning) func(context.Context, Place) (Queue, error) {
		return func(ctx context.Context, place Place) (Queue, error) { return openRiverPostgres(ctx, place, tuning) }
	}
	tunedSQLite := riverTuning{workers: 1000, cooldown: time.Millisecond, poll: 5 * time.Millisecond}
	tunedPostgres := riverTuning{workers: 2000, cooldown: time.Millisecond, poll: 100 * time.Millisecond}
	defaults := riverTuning{workers: 100}
	return []Contender{
		{Engine: "sqlite", Name: "River", Module: module, Groups: Everything, Peer: true, Open: onSQLite(tunedSQLite),
			Setting: "one connection, as its documentation says; MaxWorkers: 1,000, FetchCooldown: 1 ms, FetchPollInterval: 5 ms"},
		{Engine: "sqlite", Name: "River, defaults", Groups: Draining | Starting, Open: onSQLite(defaults),
			Setting: "one connection; MaxWorkers: 100 as in its documents, FetchCooldown: 100 ms, FetchPollInterval: 1 s"},
		{Engine: "postgres", Name: "River", Module: module, Groups: Everything, Peer: true, Open: onPostgres(tunedPostgres),
			Setting: "MaxWorkers: 2,000, FetchCooldown: 1 ms, FetchPollInterval: 100 ms, 20 connections, InsertManyFast for bulk"},
		{Engine: "postgres", Name: "River, defaults", Groups: Draining | Starting, Open: onPostgres(defaults),
			Setting: "MaxWorkers: 100 as in its documents, FetchCooldown: 100 ms, FetchPollInterval: 1 s"},
	}
}

type riverTuning struct {
	workers        int
	cooldown, poll time.Duration // 0: River's defaults
}

func (t riverTuning) config(workers *river.Workers) *river.Config {
	return &river.Config{
		FetchCooldown: t.cooldown, FetchPollInterval: t.poll, Workers: workers,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: t.workers}},
		Logger: slog.New(slog.DiscardHandler),
	}
}

type riverArgs struct {
	N int `json:"n"`
}

func (riverArgs) Kind() string { return "bench" }

// riverQueue is the same on both databases; T is a transaction of the driver.
type riverQueue[T any] struct {
	client  *river.Client[T]
	ran     *atomic.Pointer[func()]
	db      *sql.DB // for what is staged and counted
	dialect dialect
	table   string
	close   func() error
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
	return q, nil
}

func openRiverPostgres(ctx context.Context, place Place, tuning riverTuning) (Queue, error) {
	pool, err := pgxpool.New(ctx, pooled(place.DSN))
	if err != nil {
		return nil, err
	}
	q, err := openRiver[pgx.Tx](ctx, riverpgxv5.New(pool), tuning)
	if err != nil {
		pool.Close()
		return nil, err
	}
	q.db, q.dialect, q.table = stdlib.OpenDBFromPool(pool), postgresDialect, "public.river_job"
	q.close = func() error {
		defer pool.Close()
		return q.db.Close()
	}
	return q, nil
}

func openRiver[T any](ctx context.Context, driver riverdriver.Driver[T], tuning riverTuning) (*riverQueue[T], error) {
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, err
	}
	ran := new(atomic.Pointer[func()])
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(context.Context, *river.Job[riverArgs]) error {
		(*ran.Load())()
		return nil
	}))
	client, err := river.NewClient(driver, tuning.config(workers))
	if err != nil {
		return nil, err
	}
	return &riverQueue[T]{client: client, ran: ran}, nil
}

func (r *riverQueue[T]) Enqueue(ctx context.Context) error {
	_, err := r.client.Insert(ctx, riverArgs{N: 1}, nil)
	return err
}

func (r *riverQueue[T]) EnqueueMany(ctx context.Context, n int) error { return r.insert(ctx, n, nil) }

func (r *riverQueue[T]) insert(ctx context.Context, n int, opts *river.InsertOpts) error {
	params := make([]river.InsertManyParams, n)
	for i := range params {
		params[i] = river.InsertManyParams{Args: riverArgs{N: 1}, InsertOpts: opts}
	}
	_, err := r.client.InsertManyFast(ctx, params)
	return err
}

func (r *riverQueue[T]) Run(ctx context.Context, ran func()) error {
	r.ran.Store(&ran)
	background := context.WithoutCancel(ctx)
	if err := r.client.Start(background); err != nil {
		return err
	}
	<-ctx.Done()
	return r.client.Stop(background)
}

func (r *riverQueue[T]) Stage(ctx context.Context, kind Kind, n int) error {
	opts := &river.InsertOpts{Priority: 2}
	switch kind {
	case Due:
	case Finished:
		if err := r.insert(ctx, 1, opts); err != nil {
			return err
		}
		if _, err := drain(ctx, r, 1, 0); err != nil {
			return err
		}
		return clone(ctx, r.db, r.dialect, r.table, "state = 'completed'", n-1, map[string]string{"id": ""})
	case Scheduled:
		opts.Priority, opts.ScheduledAt = 1, tomorrow()
	}
	return inThousands(n, func(n int) error { return r.insert(ctx, n, opts) })
}

func (r *riverQueue[T]) Unfinished(ctx context.Context) (n int, err error) {
	err = r.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM river_job WHERE state IN ('available', 'scheduled', 'retryable', 'pending', 'running')").Scan(&n)
	return n, err
}

func (r *riverQueue[T]) Close() error { return r.close() }
