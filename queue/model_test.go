package queue_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// A model says what a queue is, in memory: jobs with counters, and keys with their holders. It is held against a queue on one
// engine.
type model struct {
	q      *queue.Queue
	jobs   map[string]*modelJob
	order  []string
	keys   map[string]*modelJob
	leases []queue.Job // every job as it was claimed, stale ones too
}

type modelJob struct {
	queue.Job
	fingerprint string
	steps       map[string]modelStep
}

type modelStep struct {
	attempt  int
	finished bool
}

// coalesced tells whether the key of a job is free although the job has it.
func (j *modelJob) coalesced() bool {
	return j.KeyScope == queue.KeyCoalesce && j.State != queue.StateQueued
}

const (
	modelAttempts      = 3
	modelInterruptions = 2
	modelCrashes       = 1
)

func newModel(t require.TestingT, driver queue.Driver) *model {
	q, err := queue.New(driver, &queue.Config{
		Retry:  queue.RetryPolicy{Base: time.Hour, Factor: 1, Cap: time.Hour},
		Budget: queue.Budget{Interruptions: modelInterruptions, Crashes: modelCrashes},
	})
	require.NoError(t, err)
	return &model{q: q, jobs: map[string]*modelJob{}, keys: map[string]*modelJob{}}
}

// Any sequence of operations leaves the queue as the model says, and each answers as the model does: on both engines, so that
// they do not differ either.
func TestQueueFollowsItsModel(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { follow(t, memoryModel(t)) }) })
	t.Run("sqlite and postgres", func(t *testing.T) {
		dsn := dbtest.With(t, dbtest.PostgresDSN(t), "synchronous_commit", "off") // nothing falls here
		db, err := postgres.Open(t.Context(), dsn, nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, db.Close()) }()
		require.NoError(t, queue.Migrate(t.Context(), db))
		rapid.Check(t, func(t *rapid.T) {
			for _, table := range []string{"jobs", "job_keys", "job_workers"} {
				_, err := db.Reader().Exec("DELETE FROM " + table)
				require.NoError(t, err)
			}
			follow(t, memoryModel(t), newModel(t, db))
		})
	})
}

func memoryModel(t *rapid.T) *model {
	db, err := sqlite.OpenMemory(context.Background())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	require.NoError(t, queue.Migrate(context.Background(), db))
	return newModel(t, db)
}

// outline is all that does not differ from run to run.
func (m *model) outline() (lines []string) {
	place := make(map[string]int)
	for i, id := range m.order {
		j := m.jobs[id]
		place[id] = i
		lines = append(lines, fmt.Sprint(i, j.State, j.Attempt, j.Failures, j.Interruptions, j.Crashes, j.steps))
	}
	for _, claimed := range m.leases {
		lines = append(lines, fmt.Sprint(place[claimed.ID], claimed.Attempt, claimed.WorkerID))
	}
	for _, name := range slices.Sorted(maps.Keys(m.keys)) {
		lines = append(lines, fmt.Sprint(name, place[m.keys[name].ID]))
	}
	return lines
}

func (m *model) enqueue(t *rapid.T, payload int, opts *queue.Options) {
	receipt, err := m.q.Enqueue(t.Context(), ping.New(payload, opts))
	fingerprint := strconv.Itoa(payload)
	if holder := m.keys[opts.Key.Name]; holder != nil && !holder.coalesced() {
		if holder.fingerprint != fingerprint {
			require.ErrorIs(t, err, queue.ErrKeyConflict)
			return
		}
		require.NoError(t, err)
		require.Equal(t, queue.Receipt{ID: holder.ID, Duplicate: true}, receipt)
		return
	}
	require.NoError(t, err)
	require.False(t, receipt.Duplicate)
	stored, err := m.q.Job(t.Context(), receipt.ID)
	require.NoError(t, err)
	j := &modelJob{fingerprint: fingerprint, Job: queue.Job{
		ID: receipt.ID, State: queue.StateQueued, Priority: opts.Priority, NotBefore: stored.NotBefore,
		Key: opts.Key.Name, KeyScope: opts.Key.Scope, ExpiresAt: opts.ExpiresAt,
	}, steps: map[string]modelStep{}}
	m.jobs[j.ID] = j
	m.order = append(m.order, j.ID)
	if j.Key != "" {
		m.keys[j.Key] = j
	}
}

func (m *model) claim(t *rapid.T, worker string, limit int, now time.Time) {
	m.expire(now)
	var due []*modelJob
	for _, j := range m.jobs {
		if j.State == queue.StateQueued && !j.NotBefore.After(now) {
			due = append(due, j)
		}
	}
	slices.SortFunc(due, func(a, b *modelJob) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.NotBefore.Compare(b.NotBefore), cmp.Compare(a.ID, b.ID))
	})
	due = m.oneOfEachKey(due)
	due = due[:min(limit, len(due))]

	result, err := driverOf(m.q).Claim(t.Context(), queue.ClaimRequest{WorkerID: worker, Types: []queue.TypeRoom{{Type: string(ping), Room: limit}}, Limit: limit, Now: now})
	require.NoError(t, err)
	require.Len(t, result.Jobs, len(due))
	for i, j := range due {
		require.Equal(t, j.ID, result.Jobs[i].ID, "claim order")
		j.State, j.Attempt, j.WorkerID = queue.StateRunning, j.Attempt+1, worker
	}
	m.leases = append(m.leases, result.Jobs...)
}

// oneOfEachKey leaves out what coalesces with a job that runs, or that comes before.
func (m *model) oneOfEachKey(due []*modelJob) []*modelJob {
	begun := make(map[string]bool)
	for _, j := range m.jobs {
		if j.State == queue.StateRunning && j.KeyScope == queue.KeyCoalesce {
			begun[j.Key] = true
		}
	}
	return slices.DeleteFunc(due, func(j *modelJob) bool {
		out := begun[j.Key]
		if j.KeyScope == queue.KeyCoalesce {
			begun[j.Key] = true
		}
		return out
	})
}

// expire cancels what waits and whose time is over.
func (m *model) expire(now time.Time) {
	for _, j := range m.jobs {
		if j.State == queue.StateQueued && !j.ExpiresAt.IsZero() && !j.ExpiresAt.After(now) {
			m.finish(j, queue.StateCanceled)
		}
	}
}

func (m *model) step(lease queue.Lease, name, does string) error {
	ctx := context.Background()
	switch does {
	case "start":
		return m.q.StartStep(ctx, lease, name)
	case "finish":
		return m.q.FinishStep(ctx, lease, name, 1)
	}
	return m.q.DB().Write(ctx, func(ctx context.Context, tx *queue.Tx) error {
		return driverOf(m.q).SaveCursor(ctx, tx, lease, name, []byte("1"))
	})
}

// again queues the job, or fails it.
func (m *model) again(t *rapid.T, j *modelJob, again bool) {
	if !again {
		m.finish(j, queue.StateFailed)
		return
	}
	stored, err := m.q.Job(t.Context(), j.ID)
	require.NoError(t, err)
	if holder := m.keys[j.Key]; j.KeyScope == queue.KeyCoalesce && holder != j && holder != nil {
		require.Equal(t, "superseded by "+holder.ID, stored.LastError)
		m.finish(j, queue.StateCanceled)
		return
	}
	j.State, j.NotBefore = queue.StateQueued, stored.NotBefore
}

func (m *model) finish(j *modelJob, state queue.State) {
	j.State = state
	switch {
	case j.KeyScope == queue.KeyUnfinished, j.KeyScope == queue.KeyCoalesce && m.keys[j.Key] == j:
		delete(m.keys, j.Key)
	}
}

func (m *model) cancel(t *rapid.T, j *modelJob) {
	err := m.q.Cancel(t.Context(), j.ID)
	if j.State.Finished() {
		require.ErrorIs(t, err, queue.ErrFinished)
		return
	}
	require.NoError(t, err)
	m.finish(j, queue.StateCanceled)
}

func (m *model) retry(t *rapid.T, j *modelJob) {
	err := m.q.Retry(t.Context(), j.ID)
	holder := m.keys[j.Key]
	switch {
	case j.State == queue.StateCompleted:
		require.ErrorIs(t, err, queue.ErrFinished)
	case !j.State.Finished():
		require.ErrorIs(t, err, queue.ErrNotFinished)
	case holder != nil && holder != j && !holder.coalesced():
		require.ErrorIs(t, err, queue.ErrKeyConflict)
	default:
		require.NoError(t, err)
		j.Failures, j.Interruptions, j.Crashes = 0, 0, 0
		if j.Key != "" {
			m.keys[j.Key] = j
		}
		m.again(t, j, true)
	}
}

// crash lets another process take over the jobs of all workers.
func (m *model) crash(t *rapid.T) {
	d, err := queue.NewDispatcher(m.q, &queue.DispatcherConfig{Exclusive: true})
	require.NoError(t, err)
	queue.Handle(d, queue.Type[int]("another"), func(context.Context, *queue.Work[int]) error { return nil })
	require.NoError(t, d.RunUntilIdle(t.Context()))
	for _, j := range m.jobs {
		if j.State == queue.StateRunning {
			j.Crashes++
			m.again(t, j, j.Crashes <= modelCrashes)
		}
	}
}

func (m *model) compare(t *rapid.T) {
	stored, err := m.q.Jobs(t.Context(), queue.Filter{Limit: 1000})
	require.NoError(t, err)
	require.Len(t, stored, len(m.jobs))
	for _, got := range stored {
		want := m.jobs[got.ID]
		require.NotNil(t, want)
		require.Equal(t, want.State, got.State)
		require.Equal(t, []int{want.Attempt, want.Failures, want.Interruptions, want.Crashes},
			[]int{got.Attempt, got.Failures, got.Interruptions, got.Crashes})
		require.Equal(t, want.State.Finished(), !got.FinishedAt.IsZero())
	}
	var keys []struct {
		Key   string `db:"key"`
		JobID string `db:"job_id"`
	}
	require.NoError(t, m.q.DB().Reader().Select(&keys, "SELECT key, job_id FROM job_keys"))
	require.Len(t, keys, len(m.keys))
	for _, k := range keys {
		require.Equal(t, m.keys[k.Key].ID, k.JobID)
	}
	m.compareSteps(t)
}

func (m *model) compareSteps(t *rapid.T) {
	want := map[string]map[string]modelStep{}
	for id, j := range m.jobs {
		if len(j.steps) > 0 {
			want[id] = j.steps
		}
	}
	rows, err := m.q.DB().Reader().Query("SELECT job_id, name, attempt, finished_at IS NOT NULL FROM job_steps")
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	got := map[string]map[string]modelStep{}
	for rows.Next() {
		var id, name string
		var step modelStep
		require.NoError(t, rows.Scan(&id, &name, &step.attempt, &step.finished))
		if got[id] == nil {
			got[id] = map[string]modelStep{}
		}
		got[id][name] = step
	}
	require.NoError(t, rows.Err())
	require.Equal(t, want, got)
}
