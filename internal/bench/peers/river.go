package peers

import (
	"cmp"
	"context"
	"database/sql"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/store"
)

const riverModule = "github.com/riverqueue/river"

var riverDefaults = riverTuning{workers: 100}

func riverContenders() []contender.Contender {
	tuned := riverTuning{workers: 2000, cooldown: time.Millisecond, poll: 100 * time.Millisecond}
	open := func(tuning riverTuning) contender.OpenFunc {
		return func(ctx context.Context, place store.Place) (contender.Queue, error) {
			return openRiverPostgres(ctx, place, tuning)
		}
	}
	eager := tuned
	eager.poll = time.Millisecond
	machine := func(tuning riverTuning) func(context.Context, store.Place, int) (contender.Queue, error) {
		return func(ctx context.Context, place store.Place, workers int) (contender.Queue, error) {
			tuning.workers = cmp.Or(workers, tuning.workers)
			return openRiverPostgres(ctx, place, tuning)
		}
	}
	return append(riverSQLiteContenders(),
		contender.Contender{
			Engine: "postgres", Name: "River", Module: riverModule, Groups: contender.Everything, Peer: true, Open: open(tuned),
			OpenMachine: machine(tuned),
			Setting: "MaxWorkers: 2,000, FetchCooldown: 1 ms, FetchPollInterval: 100 ms, 20 connections, InsertManyFast for bulk, JobCompleteTx; " +
				"as one of many dispatchers, FetchPollInterval: 1 ms as well, of which the better is shown",
		},
		contender.Contender{
			Engine: "postgres", Name: "River", Variant: "polling every 1 ms", Peer: true, Open: open(eager),
			OpenMachine: machine(eager),
		},
		contender.Contender{
			Engine: "postgres", Name: "River, defaults", Groups: contender.Draining | contender.Starting,
			Open:    open(riverDefaults),
			Setting: "MaxWorkers: 100 as in its documents, FetchCooldown: 100 ms, FetchPollInterval: 1 s",
		})
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

type riverArgs struct{ contender.Payload }

func (riverArgs) Kind() string { return "bench" }

type riverHandler func(ctx context.Context, job *river.Job[riverArgs]) error

// riverQueue is the same on both databases; T is a transaction of the driver.
type riverQueue[T any] struct {
	client  *river.Client[T]
	handler *atomic.Pointer[riverHandler]
	db      *sql.DB // for staging and counting
	dialect dialect
	table   string
	// write writes a row and completes the job in one transaction.
	write riverHandler
	close func() error
}

var _ contender.RowQueue = (*riverQueue[pgx.Tx])(nil)

func openRiverPostgres(ctx context.Context, place store.Place, tuning riverTuning) (contender.Queue, error) {
	pool, err := pgxpool.New(ctx, place.Pooled())
	if err != nil {
		return nil, err
	}
	q, err := openRiver[pgx.Tx](ctx, riverpgxv5.New(pool), tuning)
	if err != nil {
		pool.Close()
		return nil, err
	}
	q.db, q.dialect, q.table = stdlib.OpenDBFromPool(pool), postgresDialect, "public.river_job"
	q.write = func(ctx context.Context, job *river.Job[riverArgs]) error {
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, contender.RowInsert, job.Args.N, contender.RowText); err != nil {
				return err
			}
			_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
			return err
		})
	}
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
	handler := new(atomic.Pointer[riverHandler])
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[riverArgs]) error {
		return (*handler.Load())(ctx, job)
	}))
	client, err := river.NewClient(driver, tuning.config(workers))
	if err != nil {
		return nil, err
	}
	return &riverQueue[T]{client: client, handler: handler}, nil
}

func (r *riverQueue[T]) Enqueue(ctx context.Context, p contender.Payload) error {
	_, err := r.client.Insert(ctx, riverArgs{p}, nil)
	return err
}

func (r *riverQueue[T]) EnqueueMany(ctx context.Context, n int) error { return r.insert(ctx, n, nil) }

func (r *riverQueue[T]) insert(ctx context.Context, n int, opts *river.InsertOpts) error {
	params := make([]river.InsertManyParams, n)
	for i := range params {
		params[i] = river.InsertManyParams{Args: riverArgs{contender.NewPayload(int64(i))}, InsertOpts: opts}
	}
	_, err := r.client.InsertManyFast(ctx, params)
	return err
}

func (r *riverQueue[T]) Run(ctx context.Context, ran func(n int64)) error {
	return r.run(ctx, func(_ context.Context, job *river.Job[riverArgs]) error {
		ran(job.Args.N)
		return nil
	})
}

func (r *riverQueue[T]) RunWriting(ctx context.Context, ran func(n int64)) error {
	return r.run(ctx, func(ctx context.Context, job *river.Job[riverArgs]) error {
		defer ran(job.Args.N)
		return r.write(ctx, job)
	})
}

func (r *riverQueue[T]) run(ctx context.Context, handler riverHandler) error {
	r.handler.Store(&handler)
	background := context.WithoutCancel(ctx)
	if err := r.client.Start(background); err != nil {
		return err
	}
	<-ctx.Done()
	return r.client.Stop(background)
}

func (r *riverQueue[T]) Stage(ctx context.Context, kind contender.Kind, n int) error {
	opts := &river.InsertOpts{Priority: 2}
	switch kind {
	case contender.Due:
	case contender.Finished:
		if err := r.insert(ctx, 1, opts); err != nil {
			return err
		}
		if _, err := contender.Drain(ctx, r, 1, 0); err != nil {
			return err
		}
		return clone(ctx, r.db, r.dialect, r.table, "state = 'completed'", n-1, map[string]string{"id": ""})
	case contender.Scheduled:
		opts.Priority, opts.ScheduledAt = 1, contender.Tomorrow()
	}
	return contender.InThousands(n, func(n int) error { return r.insert(ctx, n, opts) })
}

func (r *riverQueue[T]) Unfinished(ctx context.Context) (int, error) {
	return r.Count(ctx,
		"SELECT COUNT(*) FROM river_job WHERE state IN ('available', 'scheduled', 'retryable', 'pending', 'running')")
}

func (r *riverQueue[T]) Exec(ctx context.Context, statement string) error {
	_, err := r.db.ExecContext(ctx, statement)
	return err
}

func (r *riverQueue[T]) Count(ctx context.Context, query string) (n int, err error) {
	err = r.db.QueryRowContext(ctx, query).Scan(&n)
	return n, err
}

func (r *riverQueue[T]) Close() error { return r.close() }
