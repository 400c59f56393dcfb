package queueadmin_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// A lateDriver answers its first write with an error at once, and commits it when it is released.
type lateDriver struct {
	driver.Driver
	release   chan struct{}
	lost      bool // the first write has been answered
	committed chan error
	before    func()
}

var errKilled = errors.New("killed")

func (d *lateDriver) Unwrap() driver.Driver { return d.Driver }

func (d *lateDriver) Write(ctx context.Context, fn func(ctx context.Context, tx driver.Tx) error) error {
	if d.before != nil {
		d.before()
		return d.Driver.Write(ctx, fn)
	}
	if d.lost {
		return d.Driver.Write(ctx, fn)
	}
	d.lost = true
	written := make(chan struct{})
	go func() {
		d.committed <- d.Driver.Write(context.WithoutCancel(ctx), func(ctx context.Context, tx driver.Tx) error {
			err := fn(ctx, tx)
			close(written)
			<-d.release
			return err
		})
	}()
	<-written
	return errKilled
}

// A lateDB has the driver.
type lateDB struct {
	queue.DB
	d driver.Driver
}

func (db lateDB) Driver() driver.Driver { return db.d }

// The mover dies while its copy of a job is being committed. What becomes of the job in the old database meanwhile is
// what moves.
func TestMoveTakesTheJobAsItIsNow(t *testing.T) {
	for engine, open := range map[string]func(t testing.TB) queue.DB{
		"to PostgreSQL": func(t testing.TB) queue.DB { return dbtest.Postgres(t) },
		"to SQLite":     func(t testing.TB) queue.DB { return dbtest.SQLite(t) },
	} {
		for name, change := range map[string]func(t *testing.T, q *queue.Queue, id string){
			"canceled": func(t *testing.T, q *queue.Queue, id string) { require.NoError(t, q.Cancel(t.Context(), id)) },
			"redriven": func(t *testing.T, q *queue.Queue, id string) {
				require.NoError(t, q.Cancel(t.Context(), id))
				require.NoError(t, q.Retry(t.Context(), id))
				jobs, err := q.Claim(t.Context(), "w", []string{string(ping)}, 1)
				require.NoError(t, err)
				require.Len(t, jobs, 1)
				require.NoError(t, jobs[0].Complete(t.Context(), nil))
			},
		} {
			t.Run(engine+"/"+name, func(t *testing.T) {
				fromDB, toDB := queue.DB(dbtest.SQLite(t)), open(t)
				require.NoError(t, queue.Migrate(t.Context(), fromDB))
				require.NoError(t, queue.Migrate(t.Context(), toDB))
				from, err := queue.New(fromDB, nil)
				require.NoError(t, err)
				to, err := queue.New(toDB, nil)
				require.NoError(t, err)
				enqueued, err := from.Enqueue(t.Context(), ping.New(1, nil))
				require.NoError(t, err)

				late := &lateDriver{Driver: toDB.Driver(), release: make(chan struct{}), committed: make(chan error, 1)}
				_, err = queueadmin.Move(t.Context(), fromDB, lateDB{toDB, late}, nil)
				require.ErrorIs(t, err, errKilled)
				change(t, from, enqueued.ID)
				want, err := from.Job(t.Context(), enqueued.ID)
				require.NoError(t, err)

				released := false
				slow := &lateDriver{Driver: toDB.Driver(), before: func() {
					if !released {
						released = true
						time.AfterFunc(100*time.Millisecond, func() { close(late.release) })
					}
				}}
				_, err = queueadmin.Move(t.Context(), fromDB, lateDB{toDB, slow}, nil)
				require.NoError(t, err)
				require.NoError(t, <-late.committed)
				_, err = queueadmin.Move(t.Context(), fromDB, toDB, nil)
				require.NoError(t, err)
				got, err := to.Job(t.Context(), enqueued.ID)
				require.NoError(t, err)
				require.Equal(t, want.State, got.State)
				require.Equal(t, want.Attempt, got.Attempt)
				_, err = from.Job(t.Context(), enqueued.ID)
				require.ErrorIs(t, err, queue.ErrJobNotFound)
			})
		}
	}
}

// A copy that a killed call has left in the new database decides nothing, also when another call was killed after it
// had held the job in the old one again.
func TestMoveTrustsNoCopyWithoutARecord(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, q *queue.Queue, id string){
		"canceled": func(t *testing.T, q *queue.Queue, id string) { require.NoError(t, q.Cancel(t.Context(), id)) },
		"run": func(t *testing.T, q *queue.Queue, id string) {
			require.NoError(t, q.Cancel(t.Context(), id))
			require.NoError(t, q.Retry(t.Context(), id))
			jobs, err := q.Claim(t.Context(), "w", []string{string(ping)}, 1)
			require.NoError(t, err)
			require.Len(t, jobs, 1)
			require.NoError(t, jobs[0].Complete(t.Context(), nil))
		},
		"pruned": func(t *testing.T, q *queue.Queue, _ string) {
			require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
				_, err := tx.ExecContext(ctx, "DELETE FROM jobs")
				return err
			}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			fromDB, toDB := queue.DB(dbtest.SQLite(t)), queue.DB(dbtest.Postgres(t))
			require.NoError(t, queue.Migrate(t.Context(), fromDB))
			require.NoError(t, queue.Migrate(t.Context(), toDB))
			from, err := queue.New(fromDB, nil)
			require.NoError(t, err)
			to, err := queue.New(toDB, nil)
			require.NoError(t, err)
			enqueued, err := from.Enqueue(t.Context(), ping.New(1, nil))
			require.NoError(t, err)

			killed := &lateDriver{Driver: toDB.Driver(), release: make(chan struct{}), committed: make(chan error, 1)}
			close(killed.release)
			_, err = queueadmin.Move(t.Context(), fromDB, lateDB{toDB, killed}, nil)
			require.ErrorIs(t, err, errKilled)
			require.NoError(t, <-killed.committed)
			change(t, from, enqueued.ID)
			want, gone := from.Job(t.Context(), enqueued.ID)
			require.NoError(t, driver.Write(t.Context(), fromDB.Driver(), func(ctx context.Context, tx *driver.WriteTx) error {
				source, ok := driver.As[driver.MoveSource](fromDB.Driver())
				require.True(t, ok)
				_, err := source.HoldJobs(ctx, tx, 10)
				return err
			}))

			_, err = queueadmin.Move(t.Context(), fromDB, toDB, nil)
			require.NoError(t, err)
			got, err := to.Job(t.Context(), enqueued.ID)
			if gone != nil {
				require.ErrorIs(t, err, queue.ErrJobNotFound)
				return
			}
			require.NoError(t, err)
			require.Equal(t, want.State, got.State)
			require.Equal(t, want.Attempt, got.Attempt)
		})
	}
}

// A lookedThrough database has something happen before the first look for copies.
type lookedThrough struct {
	movable
	once *sync.Once
	by   func()
}

func (d lookedThrough) HeldJobs(ctx context.Context, limit int) ([]string, error) {
	d.once.Do(d.by)
	return d.movable.HeldJobs(ctx, limit)
}

// A job of which one call has read the rows may be canceled before another moves it: the first would bring it back.
func TestMoveIsRefusedBesideAnother(t *testing.T) {
	moving(t, func(t *testing.T, from, to *queue.Queue) {
		id := enqueue(t, from, nil)
		var second error
		there := lookedThrough{movableOf(to), new(sync.Once), func() {
			_, second = queueadmin.Move(t.Context(), from.DB(), to.DB(), nil)
		}}
		report, err := queueadmin.Move(t.Context(), from.DB(), queue.NewDB(there), nil)
		require.NoError(t, err)
		require.ErrorIs(t, second, queueadmin.ErrMoving)
		require.Equal(t, 1, report.Jobs)
		require.Equal(t, queue.StateQueued, job(t, to, id).State)
		_, err = queueadmin.Move(t.Context(), from.DB(), to.DB(), nil)
		require.NoError(t, err, "the first has ended")
	})
}

// SQLite takes any bytes for a text, as a program in another language may write them.
func TestMoveNamesTheJobThatIsNotUTF8(t *testing.T) {
	from, to := dbtest.SQLite(t), dbtest.Postgres(t)
	require.NoError(t, queue.Migrate(t.Context(), from))
	require.NoError(t, queue.Migrate(t.Context(), to))
	old := on(t, from, nil)
	enqueue(t, old, nil)
	bad := enqueue(t, old, nil)
	executeIn(t, from, "UPDATE jobs SET payload_json = CAST(x'22ff22' AS TEXT) WHERE id = '"+bad+"'")
	_, err := queueadmin.Move(t.Context(), from, to, nil)
	require.ErrorContains(t, err, "payload_json of job "+bad+" is not UTF-8: cancel and delete the job in the old database")
	require.NoError(t, old.Cancel(t.Context(), bad))
	_, err = queueadmin.Delete(t.Context(), old, queueadmin.Selection{JobIDs: []string{bad}}, nil)
	require.NoError(t, err)
	report, err := queueadmin.Move(t.Context(), from, to, nil)
	require.NoError(t, err)
	require.Equal(t, 1, report.Jobs)
}
