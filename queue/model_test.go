package queue_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// Whatever is done in whatever order, each engine leaves all that can be seen of the queue as the model does, answers
// as it does, lets nothing wait that may run, and keeps its invariants.
func TestQueueFollowsItsModel(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { follow(t, 2, openedMemory(t).Driver()) })
	})
	t.Run("sqlite and postgres", func(t *testing.T) {
		dsn := dbtest.PostgresDSN(t)
		db, err := postgres.Open(t.Context(), dsn, nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, db.Close()) }()
		require.NoError(t, queue.Migrate(t.Context(), db))
		rapid.Check(t, func(t *rapid.T) {
			for _, table := range []string{"jobs", "job_keys", "job_workers", "job_limits", "job_rates",
				"job_limit_marks", "job_heads"} {
				_, err := db.Reader().Exec("DELETE FROM " + table)
				require.NoError(t, err)
			}
			follow(t, 1, openedMemory(t).Driver(), db.Driver())
		})
	})
}

func openedMemory(t *rapid.T) *sqlite.DB {
	db, err := sqlite.OpenMemory(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	require.NoError(t, queue.Migrate(t.Context(), db))
	return db
}

// A model says what a queue is, in memory. Its methods do as the queue's and answer what those must.
type model struct {
	now      time.Time
	ids      int // given so far
	jobs     map[string]*modelJob
	keys     map[string]modelKey
	workers  map[string]driver.Worker
	limits   map[queue.Target]queue.LimitStatus
	arrivals map[queue.Target]time.Time // where rates stand
}

type modelJob struct {
	queue.Job
	due     bool // since its time has come once, wherever the clock has gone since
	steps   map[string]queue.StepRecord
	records []queue.AttemptRecord // of attempts that did not simply succeed
}

type modelKey struct {
	Key, JobID string
	Scope      queue.KeyScope
	Expires    time.Time
	jobType    string
	payload    string
}

var (
	modelTypes  = []string{"ping", "pong"}
	modelRetry  = queue.RetryPolicy{Base: 2 * time.Second, Factor: 2, Cap: time.Hour}
	modelBudget = queue.Budget{Interruptions: 2, Crashes: 1}
)

func newModel() *model {
	return &model{
		// Ahead of every clock, so that no dispatcher prunes.
		now:  time.Date(2100, time.January, 1, 0, 0, 0, 0, time.UTC),
		jobs: map[string]*modelJob{}, keys: map[string]modelKey{}, workers: map[string]driver.Worker{},
		limits: map[queue.Target]queue.LimitStatus{}, arrivals: map[queue.Target]time.Time{},
	}
}

// clone is what a transaction may change and undo.
func (m *model) clone() *model {
	c := *m
	c.keys, c.workers, c.limits, c.arrivals = maps.Clone(m.keys), maps.Clone(m.workers), maps.Clone(m.limits),
		maps.Clone(m.arrivals)
	c.jobs = make(map[string]*modelJob, len(m.jobs))
	for id, j := range m.jobs {
		copied := *j
		copied.steps, copied.records = maps.Clone(j.steps), slices.Clone(j.records)
		c.jobs[id] = &copied
	}
	return &c
}

// modelID is the id of the nth job, in the order of UUIDs.
func modelID(n int) string { return fmt.Sprintf("job-%04d", n) }

// sorted lists the jobs by id.
func (m *model) sorted() (jobs []*modelJob) {
	for _, id := range slices.Sorted(maps.Keys(m.jobs)) {
		jobs = append(jobs, m.jobs[id])
	}
	return jobs
}

// inState lists the jobs of any of the states by id.
func (m *model) inState(states ...queue.State) []*modelJob {
	return slices.DeleteFunc(m.sorted(), func(j *modelJob) bool { return !slices.Contains(states, j.State) })
}

// find lists what matches, newest first.
func (m *model) find(f queue.Filter) (jobs []queue.Job) {
	for _, j := range slices.Backward(m.sorted()) {
		if (len(f.States) == 0 || slices.Contains(f.States, j.State)) &&
			(len(f.Types) == 0 || slices.Contains(f.Types, j.Type)) &&
			(f.UserID == "" || f.UserID == j.UserID) && (f.Key == "" || f.Key == j.Key.Name) &&
			(f.LimitKey == "" || f.LimitKey == j.LimitKey) &&
			!slices.ContainsFunc(f.Tags, func(tag string) bool { return !slices.Contains(j.Tags, tag) }) &&
			(f.CreatedFrom.IsZero() || !j.CreatedAt.Before(f.CreatedFrom)) &&
			(f.CreatedBefore.IsZero() || j.CreatedAt.Before(f.CreatedBefore)) &&
			(f.Before == "" || j.ID < f.Before) && len(jobs) < cmp.Or(f.Limit, 1000) {
			jobs = append(jobs, j.Job)
		}
	}
	return jobs
}

// attempts is the history of a job: the attempts that left records, and the one that runs or has completed it.
func (j *modelJob) attempts() []queue.AttemptRecord {
	history := slices.Clone(j.records)
	if j.State == queue.StateRunning || j.State == queue.StateCompleted {
		history = append(history, queue.AttemptRecord{
			JobID: j.ID, Attempt: j.Attempt, WorkerID: j.WorkerID, Kind: string(j.State), StartedAt: j.StartedAt,
			FinishedAt: j.FinishedAt,
		})
	}
	return history
}

// listed are the workers as others see them: also those that hold jobs without being registered.
func (m *model) listed() []driver.Worker {
	all := maps.Clone(m.workers)
	for _, j := range m.inState(queue.StateRunning) {
		if _, registered := all[j.WorkerID]; !registered {
			all[j.WorkerID] = driver.Worker{ID: j.WorkerID, Beat: -1}
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b driver.Worker) int { return strings.Compare(a.ID, b.ID) })
}

// visible is all that can be seen of a queue.
type visible struct {
	Jobs     []queue.Job
	Keys     []modelKey
	Steps    []queue.StepRecord
	Attempts []queue.AttemptRecord
	Workers  []driver.Worker
	Limits   []queue.LimitStatus
}

func (m *model) visible() (v visible) {
	v.Jobs, v.Workers = m.find(queue.Filter{}), m.listed()
	for _, name := range slices.Sorted(maps.Keys(m.keys)) {
		k := m.keys[name]
		v.Keys = append(v.Keys, modelKey{Key: k.Key, JobID: k.JobID, Scope: k.Scope, Expires: k.Expires})
	}
	for _, j := range m.sorted() {
		for _, name := range slices.Sorted(maps.Keys(j.steps)) {
			v.Steps = append(v.Steps, j.steps[name])
		}
		v.Attempts = append(v.Attempts, j.records...)
	}
	v.Limits = slices.SortedFunc(maps.Values(m.limits), func(a, b queue.LimitStatus) int {
		return cmp.Or(strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.Name, b.Name))
	})
	return v
}
