// Package postroom holds our queue as a contender, and measures what only it has. It makes every call into our own
// packages.
package postroom

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/store"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// The name of our queue at its best setting, and its module.
const (
	Name   = "postroom"
	Module = "github.com/postroom-go/postroom"
)

// tunedWorkers is more than the default; how far ahead handlers that do nothing are claimed hardly depends on it.
const tunedWorkers = 100

const benchJob queue.Type[contender.Payload] = "bench"

// All returns the contenders.
func All() []contender.Contender {
	tuned := fmt.Sprintf("Workers: %d", tunedWorkers)
	var all []contender.Contender
	for _, c := range []contender.Contender{
		{Engine: "sqlite", Setting: tuned}, {Engine: "postgres", Setting: tuned + ", 20 connections"},
	} {
		open := func(workers int) contender.OpenFunc {
			return func(ctx context.Context, place store.Place) (contender.Queue, error) {
				return open(ctx, c.Engine, place, workers)
			}
		}
		c.Name, c.Module, c.Groups, c.Open = Name, Module, contender.Everything, open(tunedWorkers)
		c.OpenMachine = func(ctx context.Context, place store.Place, workers int) (contender.Queue, error) {
			return open(cmp.Or(workers, tunedWorkers))(ctx, place)
		}
		all = append(all, c, contender.Contender{Engine: c.Engine, Name: Name + ", defaults", Setting: "Workers: 10",
			Groups: contender.Draining | contender.Starting, Open: open(0)})
	}
	return all
}

type database interface {
	queue.DB
	Close() error
}

func openDatabase(ctx context.Context, engine string, place store.Place) (database, error) {
	if engine == "sqlite" {
		return sqlite.Open(ctx, place.Path, &sqlite.Config{Durability: sqlite.Durability(place.Durability)})
	}
	return postgres.Open(ctx, place.Pooled(), nil)
}

// MakeTables makes our tables, for the raw engine on our schema.
func MakeTables(ctx context.Context, engine string, place store.Place) error {
	p, err := open(ctx, engine, place, 0)
	if err != nil {
		return err
	}
	return p.Close()
}

type postroom struct {
	place   store.Place
	db      database
	q       *queue.Queue
	workers int
}

var _ contender.RowQueue = (*postroom)(nil)

func open(ctx context.Context, engine string, place store.Place, workers int) (*postroom, error) {
	db, err := openDatabase(ctx, engine, place)
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

func (p *postroom) Enqueue(ctx context.Context, payload contender.Payload) error {
	_, err := p.q.Enqueue(ctx, benchJob.New(payload, nil))
	return err
}

func (p *postroom) EnqueueMany(ctx context.Context, n int) error { return p.enqueue(ctx, n, 1, nil) }

// enqueue stores n jobs, spread over the given number of types.
func (p *postroom) enqueue(ctx context.Context, n, types int, opts *queue.Options) error {
	jobs := make([]queue.NewJob, n)
	for i := range jobs {
		jobs[i] = queue.Type[contender.Payload](typeName(i%types)).New(contender.NewPayload(int64(i)), opts)
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
	return p.run(ctx, p.workers, func(_ context.Context, w *queue.Work[contender.Payload]) error {
		ran(w.Payload.N)
		return nil
	})
}

func (p *postroom) RunWriting(ctx context.Context, ran func(n int64)) error {
	return p.run(ctx, p.workers, func(ctx context.Context, w *queue.Work[contender.Payload]) error {
		defer ran(w.Payload.N)
		return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, contender.RowInsert, w.Payload.N, contender.RowText)
			return err
		})
	})
}

func (p *postroom) run(ctx context.Context, workers int,
	handle func(ctx context.Context, w *queue.Work[contender.Payload]) error) error {
	d, err := queue.NewDispatcher(p.q, &queue.DispatcherConfig{Workers: workers})
	if err != nil {
		return err
	}
	queue.Handle(d, benchJob, handle)
	return d.Run(ctx)
}

// runIdle has a dispatcher with the default configuration wait for jobs.
func (p *postroom) runIdle(ctx context.Context) error {
	return p.run(ctx, 0, func(context.Context, *queue.Work[contender.Payload]) error {
		return errors.New("there was to be nothing to do")
	})
}

// Stage uses nothing but the queue itself: its tables may change.
func (p *postroom) Stage(ctx context.Context, kind contender.Kind, n int) error {
	var opts *queue.Options
	if kind == contender.Scheduled {
		opts = &queue.Options{Priority: 10, NotBefore: contender.Tomorrow()}
	}
	err := contender.InThousands(n, func(n int) error { return p.enqueue(ctx, n, 1, opts) })
	if err != nil || kind != contender.Finished {
		return err
	}
	_, err = contender.Drain(ctx, p, n, 0)
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
