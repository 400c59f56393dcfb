package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/postroom-go/postroom/queue/driver"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// ourWorkers is more than the default; what handlers that do nothing are claimed ahead hardly depends on it.
const ourWorkers = 100

const benchJob queue.Type[int] = "bench"

const ourModule = "github.com/postroom-go/postroom"

func postroomContenders() []Contender {
	open := func(workers int, db func(context.Context, Place) (database, error)) func(context.Context, Place) (Queue, error) {
		return func(ctx context.Context, place Place) (Queue, error) { return openPostroom(ctx, place, workers, db) }
	}
	tuned := fmt.Sprintf("Workers: %d", ourWorkers)
	return []Contender{
		{Engine: "sqlite", Name: ourName, Module: ourModule, Setting: tuned, Groups: Everything, Open: open(ourWorkers, openOurSQLite)},
		{Engine: "sqlite", Name: ourName + ", defaults", Setting: "Workers: 10", Groups: Draining | Starting, Open: open(0, openOurSQLite)},
		{Engine: "postgres", Name: ourName, Module: ourModule, Setting: tuned + ", 20 connections", Groups: Everything, Open: open(ourWorkers, openOurPostgres)},
		{Engine: "postgres", Name: ourName + ", defaults", Setting: "Workers: 10", Groups: Draining | Starting, Open: open(0, openOurPostgres)},
	}
}

type database interface {
	driver.Driver
	Close() error
}

func openOurSQLite(ctx context.Context, place Place) (database, error) {
	return sqlite.Open(ctx, place.Path, &sqlite.Config{Durability: sqlite.Durability(place.Durability)})
}

func openOurPostgres(ctx context.Context, place Place) (database, error) {
	return postgres.Open(ctx, pooled(place.DSN), nil)
}

type postroom struct {
	place   Place
	db      database
	q       *queue.Queue
	workers int
}

func openPostroom(ctx context.Context, place Place, workers int, open func(context.Context, Place) (database, error)) (*postroom, error) {
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

func (p *postroom) Enqueue(ctx context.Context) error {
	_, err := p.q.Enqueue(ctx, benchJob.New(1, nil))
	return err
}

func (p *postroom) EnqueueMany(ctx context.Context, n int) error { return p.enqueue(ctx, n, 1, nil) }

// enqueue stores n jobs, spread over so many types.
func (p *postroom) enqueue(ctx context.Context, n, types int, opts *queue.Options) error {
	jobs := make([]queue.NewJob, n)
	for i := range jobs {
		jobs[i] = queue.Type[int](typeName(i%types)).New(1, opts)
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

func (p *postroom) Run(ctx context.Context, ran func()) error {
	d, err := queue.NewDispatcher(p.q, &queue.DispatcherConfig{Workers: p.workers})
	if err != nil {
		return err
	}
	queue.Handle(d, benchJob, func(context.Context, *queue.Work[int]) error {
		ran()
		return nil
	})
	return d.Run(ctx)
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

func (p *postroom) Close() error { return p.db.Close() }
