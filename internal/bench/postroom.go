package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// This file and postroom_claim.go hold every call into our own packages.

// ourWorkers is more than the default; how far ahead handlers that do nothing are claimed hardly depends on it.
const ourWorkers = 100

const benchJob queue.Type[Payload] = "bench"

const ourModule = "github.com/postroom-go/postroom"

type ourOpener func(context.Context, Place) (database, error)

func postroomContenders() []Contender {
	tuned := fmt.Sprintf("Workers: %d", ourWorkers)
	open := func(workers int, db ourOpener) func(context.Context, Place) (Queue, error) {
		return func(ctx context.Context, place Place) (Queue, error) { return openPostroom(ctx, place, workers, db) }
	}
	machine := func(db ourOpener) func(context.Context, Place, int) (Queue, error) {
		return func(ctx context.Context, place Place, workers int) (Queue, error) {
			return openPostroom(ctx, place, cmp.Or(workers, ourWorkers), db)
		}
	}
	return []Contender{
		{Engine: "sqlite", Name: ourName, Module: ourModule, Setting: tuned, Groups: Everything,
			Open: open(ourWorkers, openOurSQLite), OpenMachine: machine(openOurSQLite)},
		{Engine: "sqlite", Name: ourName + ", defaults", Setting: "Workers: 10", Groups: Draining | Starting, Open: open(0, openOurSQLite)},
		{Engine: "postgres", Name: ourName, Module: ourModule, Setting: tuned + ", 20 connections", Groups: Everything,
			Open: open(ourWorkers, openOurPostgres), OpenMachine: machine(openOurPostgres)},
		{Engine: "postgres", Name: ourName + ", defaults", Setting: "Workers: 10", Groups: Draining | Starting, Open: open(0, openOurPostgres)},
	}
}

type database interface {
	queue.DB
	Close() error
}

func openOurSQLite(ctx context.Context, place Place) (database, error) {
	return sqlite.Open(ctx, place.Path, &sqlite.Config{Durability: sqlite.Durability(place.Durability)})
}

func openOurPostgres(ctx context.Context, place Place) (database, error) {
	return postgres.Open(ctx, place.pooled(), nil)
}

// makeOurTables is for the raw engine on our schema.
func makeOurTables(ctx context.Context, place Place, open ourOpener) error {
	p, err := openPostroom(ctx, place, 0, open)
	if err != nil {
		return err
	}
	return p.Close()
}

type postroom struct {
	place   Place
	db      database
	q       *queue.Queue
	workers int
}

var _ RowQueue = (*postroom)(nil)

func openPostroom(ctx context.Context, place Place, workers int, open ourOpener) (*postroom, error) {
	db, err := open(ctx, place)
	if err != nil {
		return nil, err
	}
	if err := queue.Migrate(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	q, err := queue.New(db, nil)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &postroom{place: place, db: db, q: q, workers: workers}, nil
}

func (p *postroom) Enqueue(ctx context.Context, payload Payload) error {
	_, err := p.q.Enqueue(ctx, benchJob.New(payload, nil))
	return err
}

func (p *postroom) EnqueueMany(ctx context.Context, n int) error { return p.enqueue(ctx, n, 1, nil) }

// enqueue stores n jobs, spread over the given number of types.
func (p *postroom) enqueue(ctx context.Context, n, types int, opts *queue.Options) error {
	jobs := make([]queue.NewJob, n)
	for i := range jobs {
		jobs[i] = queue.Type[Payload](typeName(i%types)).New(newPayload(int64(i)), opts)
	}
	_, err := p.q.EnqueueMany(ctx, jobs)
	return err
}

func typeName(i int) string {
	if i == 0 {
		return string(benchJob)
	}
	return string(benchJob) + "." + strconv.Itoa(i)
}

func (p *postroom) Run(ctx context.Context, ran func(n int64)) error {
	return p.run(ctx, p.workers, func(_ context.Context, w *queue.Work[Payload]) error {
		ran(w.Payload.N)
		return nil
	})
}

func (p *postroom) RunWriting(ctx context.Context, ran func(n int64)) error {
	return p.run(ctx, p.workers, func(ctx context.Context, w *queue.Work[Payload]) error {
		defer ran(w.Payload.N)
		return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, rowInsert, w.Payload.N, rowText)
			return err
		})
	})
}

func (p *postroom) run(ctx context.Context, workers int, handle func(ctx context.Context, w *queue.Work[Payload]) error) error {
	d, err := queue.NewDispatcher(p.q, &queue.DispatcherConfig{Workers: workers})
	if err != nil {
		return err
	}
	queue.Handle(d, benchJob, handle)
	return d.Run(ctx)
}

// runIdle has a dispatcher with the default configuration wait for jobs.
func (p *postroom) runIdle(ctx context.Context) error {
	return p.run(ctx, 0, func(context.Context, *queue.Work[Payload]) error { return errors.New("there was to be nothing to do") })
}

// Stage uses nothing but the queue itself: its tables may change.
func (p *postroom) Stage(ctx context.Context, kind Kind, n int) error {
	var opts *queue.Options
	if kind == Scheduled {
		opts = &queue.Options{Priority: 10, NotBefore: tomorrow()}
	}
	if err := inThousands(n, func(n int) error { return p.enqueue(ctx, n, 1, opts) }); err != nil || kind != Finished {
		return err
	}
	_, err := drain(ctx, p, n, 0)
	return err
}

func (p *postroom) Unfinished(ctx context.Context) (int, error) {
	counts, err := p.q.Counts(ctx, queue.Filter{States: []driver.State{driver.StateQueued, driver.StateRunning}})
	return counts[driver.StateQueued] + counts[driver.StateRunning], err
}

func (p *postroom) Exec(ctx context.Context, statement string) error {
	return p.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, statement)
		return err
	})
}

func (p *postroom) Count(ctx context.Context, query string) (n int, err error) {
	err = p.db.Reader().QueryRowContext(ctx, query).Scan(&n)
	return n, err
}

func (p *postroom) Close() error { return p.db.Close() }
