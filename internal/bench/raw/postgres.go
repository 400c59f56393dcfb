package raw

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/postroom"
	"github.com/postroom-go/postroom/internal/bench/store"
)

func postgresContenders() []contender.Contender {
	const setting = "20 connections, prepared statements, partial indexes, COPY for bulk; each 100 jobs are claimed by one statement (FOR UPDATE SKIP LOCKED) " +
		"and completed by one; a row and its job's end are one round trip and one commit, on 16 connections"
	return contenders("postgres", "github.com/jackc/pgx/v5", setting, func(ours bool, batch int) contender.Contender {
		open := func(ctx context.Context, place store.Place) (*postgresQueue, error) {
			return openPostgres(ctx, place, ours, batch)
		}
		c := contender.Contender{
			Open: func(ctx context.Context, place store.Place) (contender.Queue, error) { return open(ctx, place) },
		}
		if !ours && batch == 100 {
			c.OpenMachine = func(ctx context.Context, place store.Place, workers int) (contender.Queue, error) {
				q, err := open(ctx, place)
				return &machine{q, max(1, workers)}, err
			}
		}
		return c
	})
}

// postgresQueue is an upper bound for a queue on this table: only the statements.
type postgresQueue struct {
	pool  *pgxpool.Pool
	shape *shape
	batch int
	one   string // inserts one job
	start int64
	ids   atomic.Int64
	wake  chan struct{}
}

var _ contender.RowQueue = (*postgresQueue)(nil)

func openPostgres(ctx context.Context, place store.Place, ours bool, batch int) (*postgresQueue, error) {
	shape := &postgresShape
	cfg, err := pgxpool.ParseConfig(place.Pooled())
	if err != nil {
		return nil, err
	}
	if ours {
		shape = &ourPostgresShape
		if err := postroom.MakeTables(ctx, "postgres", place); err != nil {
			return nil, err
		}
		maps.Copy(cfg.ConnConfig.RuntimeParams, ourPostgresPlans)
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if _, err := pool.Exec(ctx, shape.Table); err != nil {
		pool.Close()
		return nil, err
	}
	columns := strings.Count(shape.Insert, ",") + 1
	places := make([]string, columns)
	for i := range places {
		places[i] = "$" + strconv.Itoa(i+1)
	}
	one := "INSERT INTO jobs (" + shape.Insert + ") VALUES (" + strings.Join(places, ", ") + ")"
	return &postgresQueue{pool: pool, shape: shape, batch: batch, one: one, start: time.Now().UnixMilli(),
		wake: make(chan struct{}, 1)}, nil
}

// row is the values of one job. Its id grows, as a UUIDv7 does, and is as long; no two machines have the same.
func (q *postgresQueue) row(kind contender.Kind, n int64, now time.Time) []any {
	j := jobOf(kind, fmt.Sprintf("%012x-7000-8000-%012x", q.start, q.ids.Add(1)), n)
	j.now = now
	if kind == contender.Scheduled {
		j.scheduled = contender.Tomorrow()
	}
	return q.shape.Args(&j)
}

func (q *postgresQueue) notify() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *postgresQueue) Enqueue(ctx context.Context, p contender.Payload) error {
	_, err := q.pool.Exec(ctx, q.one, q.row(contender.Due, p.N, time.Now())...)
	q.notify()
	return err
}

func (q *postgresQueue) EnqueueMany(ctx context.Context, n int) error {
	defer q.notify()
	return q.Stage(ctx, contender.Due, n)
}

func (q *postgresQueue) Stage(ctx context.Context, kind contender.Kind, n int) error {
	now := time.Now()
	columns := strings.Split(q.shape.Insert, ", ")
	written, err := q.pool.CopyFrom(ctx, pgx.Identifier{"jobs"}, columns, pgx.CopyFromSlice(n, func(i int) ([]any, error) {
		return q.row(kind, int64(i), now), nil
	}))
	if err == nil && written != int64(n) {
		err = fmt.Errorf("copied %d of %d jobs", written, n)
	}
	return err
}

type claimedJob struct {
	id string
	n  int64
}

func (q *postgresQueue) claim(ctx context.Context) ([]claimedJob, error) {
	rows, err := q.pool.Query(ctx, q.shape.Claim, time.Now(), q.batch)
	if err != nil {
		return nil, err
	}
	var id, payload string
	claimed := make([]claimedJob, 0, q.batch)
	_, err = pgx.ForEachRow(rows, []any{&id, &payload}, func() error {
		claimed = append(claimed, claimedJob{id, contender.PayloadNumber(payload)})
		return nil
	})
	return claimed, err
}

func (q *postgresQueue) complete(ctx context.Context, ids []string) error {
	tag, err := q.pool.Exec(ctx, q.shape.Complete, time.Now(), ids)
	if err == nil && tag.RowsAffected() != int64(len(ids)) {
		err = fmt.Errorf("completed %d of %d jobs", tag.RowsAffected(), len(ids))
	}
	return err
}

// claims calls work with one batch after the other.
func (q *postgresQueue) claims(ctx context.Context,
	work func(ctx context.Context, claimed []claimedJob) error) error {
	statements := context.WithoutCancel(ctx)
	for ctx.Err() == nil {
		claimed, err := q.claim(statements)
		if err != nil {
			return err
		}
		if len(claimed) == 0 {
			select {
			case <-ctx.Done():
			case <-q.wake:
			}
			continue
		}
		if err := work(statements, claimed); err != nil {
			return err
		}
	}
	return nil
}

// Run works on one connection.
func (q *postgresQueue) Run(ctx context.Context, ran func(n int64)) error {
	return q.claims(ctx, func(ctx context.Context, claimed []claimedJob) error {
		ids := make([]string, len(claimed))
		for i, c := range claimed {
			ids[i] = c.id
			ran(c.n)
		}
		return q.complete(ctx, ids)
	})
}

// RunWriting has a transaction for each job.
func (q *postgresQueue) RunWriting(ctx context.Context, ran func(n int64)) error {
	const writers = 16
	jobs := make(chan claimedJob, q.batch)
	group, statements := errgroup.WithContext(context.WithoutCancel(ctx))
	for range writers {
		group.Go(func() error {
			var err error
			for job := range jobs {
				if err == nil {
					err = q.write(statements, job)
					ran(job.n)
				}
			}
			return err
		})
	}
	err := q.claims(ctx, func(_ context.Context, claimed []claimedJob) error {
		for _, job := range claimed {
			jobs <- job
		}
		return statements.Err()
	})
	close(jobs)
	return errors.Join(err, group.Wait())
}

// write sends both statements at once; without BEGIN they are one transaction.
func (q *postgresQueue) write(ctx context.Context, job claimedJob) error {
	batch := &pgx.Batch{}
	batch.Queue(contender.RowInsertText, job.n)
	batch.Queue(q.shape.Complete, time.Now(), []string{job.id})
	return q.pool.SendBatch(ctx, batch).Close()
}

func (q *postgresQueue) Unfinished(ctx context.Context) (int, error) {
	return q.Count(ctx, "SELECT COUNT(*) FROM jobs WHERE state IN ('queued', 'running')")
}

func (q *postgresQueue) Exec(ctx context.Context, statement string) error {
	_, err := q.pool.Exec(ctx, statement)
	return err
}

func (q *postgresQueue) Count(ctx context.Context, query string) (n int, err error) {
	err = q.pool.QueryRow(ctx, query).Scan(&n)
	return n, err
}

func (q *postgresQueue) Close() error {
	q.pool.Close()
	return nil
}
