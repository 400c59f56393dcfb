package queuetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/joblimit"
	"github.com/postroom-go/postroom/queue"
)

// A conformanceCase is one promise of a driver. Its explanation says what a driver that fails it does wrong.
type conformanceCase struct {
	name        string
	explanation string
	run         func(s *suite)
}

// TestDriver checks that a driver keeps what [queue.Driver] promises. Each case gets a new, empty database from open,
// which closes it with the test; the suite makes the tables.
func TestDriver(t *testing.T, open func(t *testing.T) queue.Driver) {
	cases := slices.Concat(writeCases, enqueueCases, keyCases, pruneCases, claimCases, finishCases, cancelCases, stepCases, scheduleCases, historyCases, logCases, workerCases, inspectCases, statsCases,
		limitCases, rateCases, clockCases, concurrencyCases)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := &suite{T: t, d: open(t)}
			require.NoError(t, queue.Migrate(t.Context(), s.d))
			defer func() {
				if t.Failed() {
					t.Log("a driver that fails this case is wrong because: " + c.explanation)
				}
			}()
			c.run(s)
		})
	}
}

// A suite is a case under way: a driver with the queue's tables and nothing in them.
type suite struct {
	*testing.T
	d queue.Driver
}

func (s *suite) write(fn func(ctx context.Context, tx *queue.Tx) error) {
	s.Helper()
	require.NoError(s, s.d.Write(s.Context(), fn))
}

// newJob is a due job of type "t" without a key, changed by the mods.
func newJob(mods ...func(*queue.InsertJob)) queue.InsertJob {
	job := queue.InsertJob{ID: uuid.Must(uuid.NewV7()).String(), Type: "t", Payload: []byte(`{"n":1}`), MaxAttempts: 5}
	for _, mod := range mods {
		mod(&job)
	}
	if job.Key.Name != "" {
		job.Fingerprint = queue.Fingerprint(job.Type, job.Payload)
	}
	if job.Key.Scope == queue.KeyCoalesce {
		job.LimitKey = joblimit.Coalesced + job.Key.Name
	}
	return job
}

func ofType(name string) func(*queue.InsertJob)    { return func(j *queue.InsertJob) { j.Type = name } }
func withKey(key queue.Key) func(*queue.InsertJob) { return func(j *queue.InsertJob) { j.Key = key } }
func withPriority(p int) func(*queue.InsertJob)    { return func(j *queue.InsertJob) { j.Priority = p } }
func dueAt(at time.Time) func(*queue.InsertJob)    { return func(j *queue.InsertJob) { j.NotBefore = at } }
func withPayload(json string) func(*queue.InsertJob) {
	return func(j *queue.InsertJob) { j.Payload = []byte(json) }
}

func (s *suite) insert(jobs ...queue.InsertJob) []queue.InsertResult {
	s.Helper()
	var results []queue.InsertResult
	s.write(func(ctx context.Context, tx *queue.Tx) (err error) {
		results, err = s.d.Insert(ctx, tx, jobs)
		return err
	})
	require.Len(s, results, len(jobs))
	return results
}

// claim takes what is due now, for the worker "w".
func (s *suite) claim(limit int, types ...string) []queue.Job {
	s.Helper()
	return s.claimAt(time.Now(), "w", limit, types...).Jobs
}

func (s *suite) claimAt(now time.Time, worker string, limit int, types ...string) queue.ClaimResult {
	s.Helper()
	if len(types) == 0 {
		types = []string{"t"}
	}
	result, err := s.d.Claim(s.Context(), queue.ClaimRequest{WorkerID: worker, Types: rooms(types, limit), Limit: limit, Now: now})
	require.NoError(s, err)
	return result
}

// started inserts a job and claims it.
func (s *suite) started(mods ...func(*queue.InsertJob)) queue.Job {
	s.Helper()
	job := newJob(mods...)
	require.Equal(s, queue.InsertResult{ID: job.ID}, s.insert(job)[0])
	jobs := s.claim(1, job.Type)
	require.Len(s, jobs, 1)
	require.Equal(s, job.ID, jobs[0].ID)
	return jobs[0]
}

// requeue ends the attempt so that the job is due again at once.
func (s *suite) requeue(job queue.Job) {
	s.Helper()
	require.NoError(s, s.finish(queue.Outcome{Lease: job.Lease(), State: queue.StateQueued, Kind: queue.KindFailed, NotBefore: time.Now(), Error: "again", At: time.Now()}))
}

func (s *suite) finish(out queue.Outcome) (answer error) {
	s.Helper()
	s.write(func(ctx context.Context, tx *queue.Tx) error {
		answers, err := s.d.Finish(ctx, tx, []queue.Outcome{out})
		if err != nil {
			return err
		}
		require.Len(s, answers, 1)
		answer = answers[0]
		return nil
	})
	return answer
}

func completed(lease queue.Lease) queue.Outcome {
	return queue.Outcome{Lease: lease, State: queue.StateCompleted, Kind: queue.KindCompleted, At: time.Now()}
}

func failed(lease queue.Lease) queue.Outcome {
	return queue.Outcome{Lease: lease, State: queue.StateFailed, Kind: queue.KindFailed, Error: "broken", At: time.Now()}
}

func (s *suite) cancel(id string) error {
	return s.d.Write(s.Context(), func(ctx context.Context, tx *queue.Tx) error { return s.d.Cancel(ctx, tx, id) })
}

func (s *suite) retry(id string) error {
	return s.d.Write(s.Context(), func(ctx context.Context, tx *queue.Tx) error { return s.d.Retry(ctx, tx, id) })
}

func (s *suite) job(id string) *queue.Job {
	s.Helper()
	job, err := s.d.Job(s.Context(), id)
	require.NoError(s, err)
	return job
}

func (s *suite) state(id string) queue.State {
	s.Helper()
	return s.job(id).State
}

func ids(jobs []queue.Job) []string {
	out := make([]string, len(jobs))
	for i := range jobs {
		out[i] = jobs[i].ID
	}
	return out
}

func idsOf(jobs []queue.InsertJob) []string {
	out := make([]string, len(jobs))
	for i := range jobs {
		out[i] = jobs[i].ID
	}
	return out
}

func rooms(types []string, limit int) []queue.TypeRoom {
	rooms := make([]queue.TypeRoom, len(types))
	for i, t := range types {
		rooms[i] = queue.TypeRoom{Type: t, Room: limit}
	}
	return rooms
}
