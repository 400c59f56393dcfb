package peers

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"time"

	"github.com/mikestefanello/backlite"

	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/store"
)

func backliteContenders() []contender.Contender {
	open := func(workers, connections int) contender.OpenFunc {
		return func(_ context.Context, place store.Place) (contender.Queue, error) {
			return openBacklite(place, workers, connections)
		}
	}
	const setting = "NumWorkers: 100 and one connection, so that none waits for another's lock, or 5,000 and eight; " +
		"finished jobs are kept only where the table holds some already; the row and the end of its job are two commits"
	return []contender.Contender{
		{Engine: "sqlite", Name: "backlite", Variant: "100 workers", Module: "github.com/mikestefanello/backlite",
			Setting: setting,
			Groups:  contender.Everything, Peer: true, Open: open(100, 1)},
		{Engine: "sqlite", Name: "backlite", Variant: "5000 workers", Groups: contender.Draining | contender.Writing, Peer: true, Open: open(5000, 8)},
	}
}

// The two differ in their retention, which backlite fixes by type.
type (
	backliteTask struct{ contender.Payload }
	backliteKept struct{ contender.Payload }
)

func (backliteTask) Config() backlite.QueueConfig {
	return backlite.QueueConfig{Name: "bench", MaxAttempts: 5}
}

func (backliteKept) Config() backlite.QueueConfig {
	return backlite.QueueConfig{Name: "kept", MaxAttempts: 5, Retention: &backlite.Retention{Duration: 24 * time.Hour}}
}

type backliteQueue struct {
	db      *sql.DB
	workers int
	task    func(p contender.Payload) backlite.Task
	// client has no dispatcher running, except during Run; it is another after that, because a dispatcher that was
	// stopped does not start again.
	client atomic.Pointer[backlite.Client]
}

var _ contender.RowQueue = (*backliteQueue)(nil)

func openBacklite(place store.Place, workers, connections int) (contender.Queue, error) {
	db, err := store.OpenSQLite(place)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	b := &backliteQueue{db: db, workers: workers, task: func(p contender.Payload) backlite.Task { return backliteTask{p} }}
	if place.Retain {
		b.task = func(p contender.Payload) backlite.Task { return backliteKept{p} }
	}
	client, err := b.newClient(nil)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	b.client.Store(client)
	return b, client.Install()
}

type backliteHandler func(ctx context.Context, p contender.Payload) error

func (b *backliteQueue) newClient(handle backliteHandler) (*backlite.Client, error) {
	client, err := backlite.NewClient(backlite.ClientConfig{DB: b.db, NumWorkers: b.workers, ReleaseAfter: time.Hour})
	if err != nil {
		return nil, err
	}
	client.Register(backlite.NewQueue(func(ctx context.Context, task backliteTask) error {
		return handle(ctx, task.Payload)
	}))
	client.Register(backlite.NewQueue(func(ctx context.Context, task backliteKept) error {
		return handle(ctx, task.Payload)
	}))
	return client, nil
}

func (b *backliteQueue) Enqueue(ctx context.Context, p contender.Payload) error {
	_, err := b.client.Load().Add(b.task(p)).Ctx(ctx).Save()
	return err
}

func (b *backliteQueue) EnqueueMany(ctx context.Context, n int) error {
	_, err := b.add(n).Ctx(ctx).Save()
	return err
}

func (b *backliteQueue) add(n int) *backlite.TaskAddOp {
	tasks := make([]backlite.Task, n)
	for i := range tasks {
		tasks[i] = b.task(contender.NewPayload(int64(i)))
	}
	return b.client.Load().Add(tasks...)
}

func (b *backliteQueue) Run(ctx context.Context, ran func(n int64)) error {
	return b.run(ctx, func(_ context.Context, p contender.Payload) error {
		ran(p.N)
		return nil
	})
}

// RunWriting commits the row before the dispatcher deletes the task.
func (b *backliteQueue) RunWriting(ctx context.Context, ran func(n int64)) error {
	return b.run(ctx, func(ctx context.Context, p contender.Payload) error {
		defer ran(p.N)
		_, err := b.db.ExecContext(context.WithoutCancel(ctx), contender.RowInsert, p.N, contender.RowText)
		return err
	})
}

func (b *backliteQueue) run(ctx context.Context, handle backliteHandler) error {
	client, err := b.newClient(handle)
	if err != nil {
		return err
	}
	// What is enqueued from now on tells this dispatcher, or is found when it starts.
	idle := b.client.Swap(client)
	defer b.client.Store(idle)
	client.Start(context.WithoutCancel(ctx))
	<-ctx.Done()
	// Where there are still jobs, Stop can wait for workers that have gone. What they have done is in the table by
	// then.
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	client.Stop(stop)
	return nil
}

func (b *backliteQueue) Stage(ctx context.Context, kind contender.Kind, n int) error {
	switch kind {
	case contender.Due:
	case contender.Finished:
		if err := b.EnqueueMany(ctx, 1); err != nil {
			return err
		}
		if _, err := contender.Drain(ctx, b, 1, 0); err != nil {
			return err
		}
		return clone(ctx, b.db, sqliteDialect, "backlite_tasks_completed", "succeeded", n-1,
			map[string]string{"id": "printf('00000000-0000-7000-8000-%012x', s.i)"})
	case contender.Scheduled:
		return contender.InThousands(n, func(n int) error {
			_, err := b.add(n).Ctx(ctx).At(contender.Tomorrow()).Save()
			return err
		})
	}
	return contender.InThousands(n, func(n int) error { return b.EnqueueMany(ctx, n) })
}

func (b *backliteQueue) Unfinished(ctx context.Context) (int, error) {
	return b.Count(ctx, "SELECT COUNT(*) FROM backlite_tasks")
}

func (b *backliteQueue) Exec(ctx context.Context, statement string) error {
	_, err := b.db.ExecContext(ctx, statement)
	return err
}

func (b *backliteQueue) Count(ctx context.Context, query string) (n int, err error) {
	err = b.db.QueryRowContext(ctx, query).Scan(&n)
	return n, err
}

func (b *backliteQueue) Close() error { return b.db.Close() }
