package queue_test

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// The model says what a queue is, in memory: jobs with counters, and keys with their holders.
type model struct {
	q      *queue.Queue
	offset time.Duration // how far claims look ahead of the clock
	jobs   map[string]*modelJob
	order  []string
	keys   map[string]*modelJob
	leases []queue.Job // every job as it was claimed, stale ones too
}

type modelJob struct {
	queue.Job
	fingerprint string
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

// Any sequence of operations leaves the queue as the model says, and each answers as the model does.
func TestQueueFollowsItsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		db, err := sqlite.OpenMemory(context.Background())
		require.NoError(t, err)
		defer func() { require.NoError(t, db.Close()) }()
		require.NoError(t, queue.Migrate(context.Background(), db))
		q, err := queue.New(db, &queue.Config{
			Retry:  queue.RetryPolicy{Base: time.Hour, Factor: 1, Cap: time.Hour},
			Budget: queue.Budget{Interruptions: modelInterruptions, Crashes: modelCrashes},
		})
		require.NoError(t, err)
		m := &model{q: q, jobs: map[string]*modelJob{}, keys: map[string]*modelJob{}}
		t.Repeat(map[string]func(*rapid.T){
			"enqueue": m.enqueue, "claim": m.claim, "complete": m.complete, "fail": m.fail, "cancel": m.cancel,
			"retry": m.retry, "heartbeat": m.heartbeat, "crash": m.crash, "advance": m.advance, "": m.compare,
		})
	})
}

func (m *model) enqueue(t *rapid.T) {
	payload := rapid.IntRange(1, 2).Draw(t, "payload")
	opts := &queue.Options{Priority: rapid.IntRange(0, 2).Draw(t, "priority"), MaxAttempts: modelAttempts}
	if name := rapid.SampledFrom([]string{"", "a", "b", "c", "d"}).Draw(t, "key"); name != "" {
		// A name has one scope.
		opts.Key = map[string]queue.Key{
			"a": queue.Forever("a"), "b": queue.WhileUnfinished("b"), "c": queue.Coalesce("c"), "d": queue.ForPeriod("d", 24*time.Hour),
		}[name]
	}
	if rapid.Bool().Draw(t, "scheduled") {
		opts.NotBefore = time.Now().Add(time.Hour)
	}
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
		Key: opts.Key.Name, KeyScope: opts.Key.Scope,
	}}
	m.jobs[j.ID] = j
	m.order = append(m.order, j.ID)
	if j.Key != "" {
		m.keys[j.Key] = j
	}
}

func (m *model) claim(t *rapid.T) {
	limit := rapid.IntRange(1, 3).Draw(t, "limit")
	now := time.Now().Add(m.offset)
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

	worker := rapid.SampledFrom([]string{"v", "w"}).Draw(t, "worker")
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

// held draws a job as it was claimed once, and says what a write under its lease must answer.
func (m *model) held(t *rapid.T) (queue.Job, *modelJob, error) {
	if len(m.leases) == 0 {
		t.Skip("nothing was claimed yet")
	}
	claimed := rapid.SampledFrom(m.leases).Draw(t, "lease")
	if rapid.IntRange(0, 9).Draw(t, "unknown") == 0 {
		claimed.ID = "unknown"
		return claimed, nil, queue.ErrJobNotFound
	}
	j := m.jobs[claimed.ID]
	switch {
	case j.State != queue.StateRunning:
		return claimed, j, queue.ErrNotRunning
	case j.Attempt != claimed.Attempt:
		return claimed, j, queue.ErrLeaseLost
	}
	return claimed, j, nil
}

func (m *model) complete(t *rapid.T) {
	claimed, j, want := m.held(t)
	err := m.q.Complete(t.Context(), claimed.Lease(), nil)
	require.ErrorIs(t, err, want)
	if want == nil {
		m.finish(j, queue.StateCompleted)
	}
}

func (m *model) fail(t *rapid.T) {
	claimed, j, want := m.held(t)
	kind := rapid.SampledFrom([]string{"plain", "fatal", "defer"}).Draw(t, "kind")
	cause := map[string]error{"plain": errBroken, "fatal": queue.Fatal(errBroken), "defer": queue.Defer(errBroken, 0)}[kind]
	require.ErrorIs(t, m.q.Fail(t.Context(), &claimed, cause), want)
	switch {
	case want != nil:
	case kind == "defer":
		j.Interruptions++
		m.again(t, j, j.Interruptions <= modelInterruptions)
	default:
		j.Failures++
		m.again(t, j, kind == "plain" && j.Failures < modelAttempts)
	}
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

func (m *model) any(t *rapid.T) *modelJob {
	if len(m.order) == 0 {
		t.Skip("there is no job yet")
	}
	return m.jobs[rapid.SampledFrom(m.order).Draw(t, "job")]
}

func (m *model) cancel(t *rapid.T) {
	j := m.any(t)
	err := m.q.Cancel(t.Context(), j.ID)
	if j.State.Finished() {
		require.ErrorIs(t, err, queue.ErrFinished)
		return
	}
	require.NoError(t, err)
	m.finish(j, queue.StateCanceled)
}

func (m *model) retry(t *rapid.T) {
	j := m.any(t)
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

func (m *model) heartbeat(t *rapid.T) {
	claimed, _, want := m.held(t)
	require.NoError(t, m.q.Heartbeat(t.Context(), claimed.WorkerID), "a worker may register again")
	err := m.q.Heartbeat(t.Context(), claimed.WorkerID, claimed.Lease())
	require.ErrorIs(t, err, want)
	if want != nil {
		var e *queue.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, claimed.ID, e.JobID)
	}
}

// crash kills all workers: another process takes their jobs over.
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

func (m *model) advance(*rapid.T) { m.offset += 2 * time.Hour }

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
}
