package queueadmin_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// moving is a queue in a SQLite file and an empty one to move it to: on PostgreSQL, and in another file.
func moving(t *testing.T, fn func(t *testing.T, from, to *queue.Queue)) {
	t.Helper()
	for name, open := range map[string]func(t *testing.T) queue.DB{
		"to PostgreSQL": func(t *testing.T) queue.DB { return dbtest.Postgres(t) },
		"to SQLite":     func(t *testing.T) queue.DB { return dbtest.SQLite(t) },
	} {
		t.Run(name, func(t *testing.T) {
			from, to := dbtest.SQLite(t), open(t)
			require.NoError(t, queue.Migrate(t.Context(), from))
			require.NoError(t, queue.Migrate(t.Context(), to))
			fn(t, on(t, from, nil), on(t, to, nil))
		})
	}
}

func count(t *testing.T, q *queue.Queue) (n int) {
	t.Helper()
	require.NoError(t, q.DB().Reader().Get(&n, "SELECT COUNT(*) FROM jobs"))
	return n
}

func TestMoveKeepsJobsAsTheyAre(t *testing.T) {
	moving(t, func(t *testing.T, from, to *queue.Queue) {
		ctx := t.Context()
		next := time.Now().Add(24 * time.Hour)
		enqueue(t, from, &queue.Options{Priority: 3, Key: queue.Forever("once"), MaxAttempts: 2})
		enqueue(t, from, &queue.Options{NotBefore: next, ExpiresAt: next.Add(time.Hour), UserID: "ada",
			Tags: []string{"a", "b"}})
		enqueue(t, from, &queue.Options{LimitKey: "shared", Key: queue.WhileUnfinished("alone")})
		canceled := enqueue(t, from, nil)
		require.NoError(t, from.Cancel(ctx, canceled))
		failing := enqueue(t, from, &queue.Options{Priority: 100})
		claimed, err := from.Claim(ctx, "w", []string{string(ping)}, 1)
		require.NoError(t, err)
		require.Equal(t, failing, claimed[0].Job.ID)
		require.NoError(t, finishStep(ctx, claimed[0], "half", 42))
		require.NoError(t, from.Signal(ctx, failing, "go", 1))
		require.NoError(t, claimed[0].Fail(ctx, errors.New("not yet")))
		waiting := enqueue(t, from, &queue.Options{Priority: 99})
		claimed, err = from.Claim(ctx, "w", []string{string(ping)}, 1)
		require.NoError(t, err)
		require.ErrorIs(t, queue.Sleep(ctx, claimed[0], "go", time.Hour), queue.ErrWaiting)
		require.NoError(t, from.SetSchedule(ctx, queue.Schedule{Name: "weekly", Cron: "0 7 * * MON",
			Zone: "Europe/Berlin", Job: ping.New(1, &queue.Options{Priority: 2})}))
		require.NoError(t, from.SetSchedule(ctx, queue.Schedule{Name: "paused", Cron: "@daily", Job: ping.New(1, nil)}))
		require.NoError(t, from.PauseSchedule(ctx, "paused"))
		schedules, err := from.Schedules(ctx)
		require.NoError(t, err)
		want, err := from.Jobs(ctx, queue.Filter{Limit: 100})
		require.NoError(t, err)
		steps, err := from.Steps(ctx, failing)
		require.NoError(t, err)

		report, err := queueadmin.Move(ctx, from.DB(), to.DB(), &queueadmin.MoveConfig{Batch: 2})
		require.NoError(t, err)
		require.Equal(t, len(want), report.Jobs)
		require.Zero(t, count(t, from))

		movedSchedules, err := to.Schedules(ctx)
		require.NoError(t, err)
		require.Equal(t, schedules, movedSchedules)
		require.Equal(t, 2, report.Schedules)
		none, err := from.Schedules(ctx)
		require.NoError(t, err)
		require.Empty(t, none)

		got, err := to.Jobs(ctx, queue.Filter{Limit: 100})
		require.NoError(t, err)
		require.Len(t, got, len(want))
		for i := range want {
			require.JSONEq(t, string(want[i].Payload), string(got[i].Payload))
			got[i].Payload = want[i].Payload
		}
		require.Equal(t, want, got)
		moved, err := to.Steps(ctx, failing)
		require.NoError(t, err)
		require.Equal(t, steps, moved)
		require.Len(t, attempts(t, to, failing), 1)
		signals, err := to.Signals(ctx, failing)
		require.NoError(t, err)
		require.Equal(t, "1", string(signals[0].Payload))

		for _, q := range []*queue.Queue{from, to} {
			again, err := q.Enqueue(ctx, ping.New(2, &queue.Options{Key: queue.Forever("once")}))
			require.NoError(t, err)
			require.True(t, again.Duplicate, "the key is taken in both")
		}
		jobs, err := to.Claim(ctx, "w", []string{string(ping)}, 10)
		require.NoError(t, err)
		require.Len(t, jobs, 2, "the job with the limit key is among them")
		require.NoError(t, to.Signal(ctx, waiting, "go", nil))
		jobs, err = to.Claim(ctx, "w", []string{string(ping)}, 10)
		require.NoError(t, err)
		require.Equal(t, waiting, jobs[0].Job.ID, "it waits there as it did here")
		again, err := queueadmin.Move(ctx, from.DB(), to.DB(), nil)
		require.NoError(t, err)
		require.Zero(t, again.Jobs)
	})
}

func TestMoveTellsOfKeysForeverThatAreTakenAlsoByFinishedJobs(t *testing.T) {
	moving(t, func(t *testing.T, from, to *queue.Queue) {
		finished := enqueue(t, from, &queue.Options{Key: queue.Forever("k")})
		require.NoError(t, from.Cancel(t.Context(), finished))
		enqueue(t, to, &queue.Options{Key: queue.Forever("k")})
		report, err := queueadmin.Move(t.Context(), from.DB(), to.DB(), nil)
		require.NoError(t, err)
		require.Equal(t, []string{"k"}, report.KeysTaken)
		require.Empty(t, job(t, to, finished).Key)
		violations, err := queueadmin.Verify(t.Context(), to)
		require.NoError(t, err)
		require.Empty(t, violations)
	})
}

// What has ended in the new database has freed its key: the old one, which keeps it, does not bring it back.
func TestMoveBringsBackNoKeyThatIsFree(t *testing.T) {
	moving(t, func(t *testing.T, from, to *queue.Queue) {
		for _, key := range []queue.Key{queue.WhileUnfinished("alone"), queue.Coalesce("once for all")} {
			enqueue(t, from, &queue.Options{Key: key})
		}
		_, err := queueadmin.Move(t.Context(), from.DB(), to.DB(), nil)
		require.NoError(t, err)
		jobs, err := to.Claim(t.Context(), "w", []string{string(ping)}, 2)
		require.NoError(t, err)
		require.Len(t, jobs, 2)
		for i := range jobs {
			require.NoError(t, jobs[i].Complete(t.Context(), nil))
		}
		_, err = queueadmin.Move(t.Context(), from.DB(), to.DB(), nil)
		require.NoError(t, err)
		requireFree(t, to, queue.WhileUnfinished("alone"), queue.Coalesce("once for all"))
	})
}

func requireFree(t *testing.T, q *queue.Queue, keys ...queue.Key) {
	t.Helper()
	violations, err := queueadmin.Verify(t.Context(), q)
	require.NoError(t, err)
	require.Empty(t, violations)
	for _, key := range keys {
		enqueued, err := q.Enqueue(t.Context(), ping.New(1, &queue.Options{Key: key}))
		require.NoError(t, err)
		require.False(t, enqueued.Duplicate, key.Name)
	}
}

type movable interface {
	driver.Driver
	driver.MoveSource
	driver.MoveTarget
}

func movableOf(q *queue.Queue) movable { return q.DB().Driver().(movable) }

// An interrupted database has something happen before its first write.
type interrupted struct {
	movable
	once *sync.Once
	by   func()
}

func (d interrupted) Write(ctx context.Context, fn func(context.Context, driver.Tx) error) error {
	d.once.Do(d.by)
	return d.movable.Write(ctx, fn)
}

// A job that is canceled on its way moves as a canceled one, and its key is free.
func TestMoveFreesTheKeyOfAJobThatIsCanceledOnItsWay(t *testing.T) {
	moving(t, func(t *testing.T, from, to *queue.Queue) {
		id := enqueue(t, from, &queue.Options{Key: queue.WhileUnfinished("alone")})
		// The first write into the new database is that of jobs which are held in the old one.
		there := interrupted{movableOf(to), new(sync.Once), func() { require.NoError(t, from.Cancel(t.Context(), id)) }}
		report, err := queueadmin.Move(t.Context(), from.DB(), queue.NewDB(there), nil)
		require.NoError(t, err)
		require.Equal(t, 1, report.Jobs)
		require.Equal(t, queue.StateCanceled, job(t, to, id).State)
		requireFree(t, to, queue.WhileUnfinished("alone"))
	})
}

// beside runs fn on a goroutine of its own, as what happens beside a write does.
func beside(fn func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- fn() }()
	return <-ended
}

// A claim in the new database is taking the heads of a limit key while a job of that key comes: it is looked at later,
// for that.
func TestMoveMarksALimitKeyThatAClaimIsLookingAt(t *testing.T) {
	from, to := dbtest.SQLite(t), dbtest.Postgres(t)
	require.NoError(t, queue.Migrate(t.Context(), from))
	require.NoError(t, queue.Migrate(t.Context(), to))
	old, young := on(t, from, nil), on(t, to, nil)
	enqueue(t, young, &queue.Options{LimitKey: "k"})
	require.NoError(t, to.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM job_heads") // as a claim does
		require.NoError(t, err)
		enqueue(t, old, &queue.Options{LimitKey: "k"})
		err = beside(func() error {
			_, err := queueadmin.Move(t.Context(), from, to, nil)
			return err
		})
		return err
	}))
	require.Len(t, claimAs(t, young, "w"), 2)
}

func TestMoveWaitsForWhatRuns(t *testing.T) {
	moving(t, func(t *testing.T, from, to *queue.Queue) {
		enqueue(t, from, nil)
		running, err := from.Claim(t.Context(), "w", []string{string(ping)}, 1)
		require.NoError(t, err)
		_, err = queueadmin.Move(t.Context(), from.DB(), to.DB(), &queueadmin.MoveConfig{Wait: -1})
		require.ErrorIs(t, err, queueadmin.ErrStillRunning)
		require.Zero(t, count(t, to))

		running[0].SetResult("done")
		require.NoError(t, running[0].Complete(t.Context(), nil))
		report, err := queueadmin.Move(t.Context(), from.DB(), to.DB(), nil)
		require.NoError(t, err)
		require.Equal(t, 1, report.Jobs)
		require.Equal(t, queue.StateCompleted, job(t, to, running[0].Job.ID).State)
	})
}

// Dispatchers work on both databases, and a program goes on enqueueing into the old one.
func TestMoveMovesALiveQueue(t *testing.T) {
	const total = 600
	moving(t, func(t *testing.T, from, to *queue.Queue) {
		var mu sync.Mutex
		runs := make(map[string]int)
		var all sync.WaitGroup
		all.Add(total)
		handle := func(_ context.Context, w *queue.Work[int]) error {
			mu.Lock()
			defer mu.Unlock()
			if runs[w.Job.ID]++; runs[w.Job.ID] == 1 {
				all.Done()
			}
			return nil
		}
		cfg := &queue.DispatcherConfig{Workers: 4, PollInterval: 20 * time.Millisecond}
		stopFrom, stopTo := start(t, from, cfg, handle), start(t, to, cfg, handle)
		for range total / 2 {
			enqueue(t, from, nil)
		}
		enqueued := make(chan error, 1)
		go func() {
			for range total / 2 {
				if _, err := from.Enqueue(context.Background(), ping.New(1, nil)); err != nil {
					enqueued <- err
					return
				}
			}
			enqueued <- nil
		}()
		_, err := queueadmin.Move(t.Context(), from.DB(), to.DB(), &queueadmin.MoveConfig{Batch: 10})
		require.NoError(t, err)
		require.NoError(t, <-enqueued)
		_, err = queueadmin.Move(t.Context(), from.DB(), to.DB(), nil)
		require.NoError(t, err)
		all.Wait()
		require.NoError(t, stopFrom())
		require.NoError(t, stopTo())
		require.Len(t, runs, total)
		for id, n := range runs {
			require.Equal(t, 1, n, id)
		}
		require.Zero(t, count(t, from))
		require.Equal(t, total, count(t, to))
	})
}

func ids(attempts []*queue.Attempt) []string {
	ids := make([]string, len(attempts))
	for i, a := range attempts {
		ids[i] = a.Job.ID
	}
	return ids
}

// A dying database fails at its nth write, and so does everything after it.
type dying struct {
	movable
	left *int
}

func (d dying) Write(ctx context.Context, fn func(context.Context, driver.Tx) error) error {
	if *d.left--; *d.left < 0 {
		return errDatabase
	}
	return d.movable.Write(ctx, fn)
}

func TestMoveGoesOnAfterDyingAnywhere(t *testing.T) {
	const jobs = 5
	for n := range 30 {
		from, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "from.db"),
			&sqlite.Config{Durability: sqlite.Normal})
		require.NoError(t, err)
		to, err := sqlite.OpenMemory(t.Context())
		require.NoError(t, err)
		require.NoError(t, queue.Migrate(t.Context(), from))
		require.NoError(t, queue.Migrate(t.Context(), to))
		old, young := on(t, from, nil), on(t, to, nil)
		for range jobs {
			enqueue(t, old, nil)
		}
		require.NoError(t, old.SetSchedule(t.Context(), queue.Schedule{Name: "daily", Cron: "@daily",
			Job: ping.New(1, nil)}))
		left := n
		_, err = queueadmin.Move(t.Context(), queue.NewDB(dying{from.Driver().(movable), &left}),
			queue.NewDB(dying{to.Driver().(movable), &left}), &queueadmin.MoveConfig{Batch: 2})
		died := err != nil
		here, err := old.Claim(t.Context(), "w", []string{string(ping)}, 1)
		require.NoError(t, err)
		there, err := young.Claim(t.Context(), "w", []string{string(ping)}, 100)
		require.NoError(t, err)
		for _, j := range here {
			require.NotContains(t, ids(there), j.Job.ID, "died at write %d", n)
			require.NoError(t, j.Complete(t.Context(), nil))
		}
		for _, j := range there {
			require.NoError(t, j.Complete(t.Context(), nil))
		}

		_, err = queueadmin.Move(t.Context(), from, to, nil)
		require.NoError(t, err)
		rest, err := young.Claim(t.Context(), "w", []string{string(ping)}, 100)
		require.NoError(t, err)
		require.Equal(t, jobs, len(here)+len(there)+len(rest), "died at write %d", n)
		require.Equal(t, jobs, count(t, young))
		require.Zero(t, count(t, old))
		schedules, err := young.Schedules(t.Context())
		require.NoError(t, err)
		require.Len(t, schedules, 1, "died at write %d", n)
		require.NotZero(t, schedules[0].NextAt)
		require.NoError(t, errors.Join(from.Close(), to.Close()))
		if !died {
			return
		}
	}
	t.Fatal("it dies at every write: the last one should not be reached")
}

// In the new database a limit was in force that is there no more, and by which a key was to be looked at much later.
func TestMoveHasKeysLookedAtThatWereToBeLookedAtLater(t *testing.T) {
	moving(t, func(t *testing.T, from, to *queue.Queue) {
		ctx := t.Context()
		require.NoError(t, to.SetLimit(ctx, queue.ForKey("k"), queue.Limit{Rate: 1, Per: time.Hour}))
		enqueue(t, to, &queue.Options{LimitKey: "k"})
		later := enqueue(t, to, &queue.Options{LimitKey: "k"})
		for range 2 {
			_, err := to.Claim(ctx, "w", []string{string(ping)}, 10)
			require.NoError(t, err)
		}
		require.NoError(t, to.Cancel(ctx, later))
		require.NoError(t, to.RemoveLimit(ctx, queue.ForKey("k")))
		moved := enqueue(t, from, &queue.Options{LimitKey: "k"})
		_, err := queueadmin.Move(ctx, from.DB(), to.DB(), nil)
		require.NoError(t, err)
		jobs, err := to.Claim(ctx, "w", []string{string(ping)}, 10)
		require.NoError(t, err)
		require.Equal(t, []string{moved}, ids(jobs))
	})
}

// A meddled database has something happen before each write, and before it commits.
type meddled struct {
	movable
	before, within func()
}

func (m meddled) Write(ctx context.Context, fn func(context.Context, driver.Tx) error) error {
	m.before()
	return m.movable.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		err := fn(ctx, tx)
		m.within()
		return err
	})
}

// A claim looks at a key that is marked, and takes the mark off, before it can see the job that Move is about to
// release.
func TestMoveReleasesJobsWhoseKeysAreLookedAtMeanwhile(t *testing.T) {
	ctx := t.Context()
	from, db := dbtest.SQLite(t), dbtest.Postgres(t)
	require.NoError(t, queue.Migrate(ctx, from))
	require.NoError(t, queue.Migrate(ctx, db))
	old, young := on(t, from, nil), on(t, db, nil)
	moved := enqueue(t, old, &queue.Options{LimitKey: "k"})
	mark := func() {
		require.NoError(t, db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx,
				"INSERT INTO job_limit_marks (due_at, limit_key) VALUES ('1970-01-01T00:00:00Z', 'k')")
			return err
		}))
	}
	look := func() {
		require.NoError(t, beside(func() error {
			_, err := young.Claim(ctx, "w", []string{"another"}, 1)
			return err
		}))
	}
	_, err := queueadmin.Move(ctx, from, queue.NewDB(meddled{db.Driver().(movable), mark, look}), nil)
	require.NoError(t, err)
	violations, err := queueadmin.Verify(ctx, young)
	require.NoError(t, err)
	require.Empty(t, violations)
	jobs, err := young.Claim(ctx, "w", []string{string(ping)}, 10)
	require.NoError(t, err)
	require.Equal(t, []string{moved}, ids(jobs))
}

// A lateRead is a database in which something happens before rows of jobs are read.
type lateRead struct {
	movable
	once *sync.Once
	by   func()
}

func (d lateRead) JobRows(ctx context.Context, name driver.Table, ids []string) (driver.Rows, error) {
	d.once.Do(d.by)
	return d.movable.JobRows(ctx, name, ids)
}

// A job that is retried when the move holds it, and has not read it yet, runs in the old database alone.
func TestMoveLeavesAJobThatIsRetriedWhenItIsHeld(t *testing.T) {
	moving(t, func(t *testing.T, from, to *queue.Queue) {
		id := enqueue(t, from, nil)
		require.NoError(t, claimAs(t, from, "w")[0].Fail(t.Context(), queue.Fatal(errBroken)))
		var again []*queue.Attempt
		source := lateRead{movableOf(from), new(sync.Once), func() {
			require.NoError(t, from.Retry(t.Context(), id))
			again = claimAs(t, from, "w")
		}}
		_, err := queueadmin.Move(t.Context(), queue.NewDB(source), to.DB(), &queueadmin.MoveConfig{Wait: -1})
		require.ErrorIs(t, err, queueadmin.ErrStillRunning)
		require.Len(t, again, 1)
		_, err = to.Job(t.Context(), id)
		require.ErrorIs(t, err, queue.ErrJobNotFound)
		require.NoError(t, again[0].Complete(t.Context(), nil))
		report, err := queueadmin.Move(t.Context(), from.DB(), to.DB(), nil)
		require.NoError(t, err)
		require.Equal(t, 1, report.Jobs)
		require.Equal(t, queue.StateCompleted, job(t, to, id).State)
		found, err := queueadmin.Verify(t.Context(), to)
		require.NoError(t, err)
		require.Empty(t, found)
	})
}

// A job that is retried while the move removes it from the old database stays there, and is not released in the new
// one.
func TestRemoveHeldPassesOverAJobThatIsRetriedMeanwhile(t *testing.T) {
	db := dbtest.Postgres(t)
	require.NoError(t, queue.Migrate(t.Context(), db))
	q := on(t, db, nil)
	id := enqueue(t, q, nil)
	require.NoError(t, claimAs(t, q, "w")[0].Fail(t.Context(), queue.Fatal(errBroken)))
	source := movableOf(q)
	require.NoError(t, driver.Write(t.Context(), source, func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := source.HoldJobs(ctx, tx, 10)
		return err
	}))
	var removed []string
	ended := make(chan error, 1)
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		require.NoError(t, q.RetryTx(ctx, tx, id))
		var pid int
		require.NoError(t, tx.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&pid))
		go func() {
			ended <- driver.Write(context.Background(), source, func(ctx context.Context, tx *driver.WriteTx) (err error) {
				removed, err = source.RemoveHeld(ctx, tx, []string{id})
				return err
			})
		}()
		require.Eventually(t, func() (waits bool) {
			err := db.Reader().Get(&waits,
				"SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE $1::int = ANY(pg_blocking_pids(pid)))", pid)
			return err == nil && waits
		}, time.Minute, time.Millisecond)
		return nil
	}))
	require.NoError(t, <-ended)
	require.Empty(t, removed)
	require.Equal(t, queue.StateQueued, job(t, q, id).State)
}
