package drivertest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// A conformanceCase is one requirement of a driver. Its explanation describes the fault of a driver that fails it.
type conformanceCase struct {
	name        string
	explanation string
	run         func(s *suite)
}

// Run checks that a driver meets the requirements of [driver.Driver]. Each case gets a new, empty database from open,
// which closes it with the test; the suite makes the tables.
func Run(t *testing.T, open func(t *testing.T) queue.DB) { RunEvery(t, 1, open) }

// RunEvery is [Run] with every nth of the cases, for a driver that was tested with all of them and is configured
// otherwise.
func RunEvery(t *testing.T, nth int, open func(t *testing.T) queue.DB) {
	cases := slices.Concat(writeCases, endCases, enqueueCases, keyCases, pruneCases, claimCases, finishCases,
		cancelCases, stepCases, signalCases, scheduleCases, historyCases, logCases, workerCases, inspectCases, statsCases,
		limitCases, rateCases, clockCases, concurrencyCases, moveCases, operateCases, removeCases, rescheduleCases,
		flowCases, flowRetryCases, sequenceCases)
	for i, c := range cases {
		if i%nth != 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			db := open(t)
			s := &suite{T: t, d: db.Driver()}
			require.NoError(t, queue.Migrate(t.Context(), db))
			defer func() {
				if t.Failed() {
					t.Log("a driver that fails this case is wrong because: " + c.explanation)
				}
			}()
			c.run(s)
		})
	}
}

// A suite is a running case: a driver with empty tables of the queue.
type suite struct {
	*testing.T
	d driver.Driver
}

// table returns the name of a table as SQL writes it.
func (s *suite) table(name string) string { return driver.NamesOf(s.d).Table(name) }

func (s *suite) write(fn func(ctx context.Context, tx *driver.WriteTx) error) {
	s.Helper()
	require.NoError(s, driver.Write(s.Context(), s.d, fn))
}

// newJob is a due job of type "t" without a key, changed by the mods.
func newJob(mods ...func(*driver.InsertJob)) driver.InsertJob {
	job := driver.InsertJob{Job: driver.Job{ID: uuid.Must(uuid.NewV7()).String(), Type: "t",
		Payload: []byte(`{"n":1}`)}}
	job.MaxAttempts = 5
	for _, mod := range mods {
		mod(&job)
	}
	if job.Key.Name != "" {
		job.Fingerprint = driver.Fingerprint(job.Type, job.Payload)
	}
	if job.Key.Scope == driver.KeyCoalesce {
		job.LimitKey = driver.CoalescePrefix + job.Key.Name
	}
	return job
}

func ofType(name string) func(*driver.InsertJob) { return func(j *driver.InsertJob) { j.Type = name } }
func withKey(key driver.Key) func(*driver.InsertJob) {
	return func(j *driver.InsertJob) { j.Key = key }
}
func withPriority(p int) func(*driver.InsertJob) { return func(j *driver.InsertJob) { j.Priority = p } }
func dueAt(at time.Time) func(*driver.InsertJob) {
	return func(j *driver.InsertJob) { j.NotBefore = at }
}
func withPayload(json string) func(*driver.InsertJob) {
	return func(j *driver.InsertJob) { j.Payload = []byte(json) }
}

func (s *suite) insert(jobs ...driver.InsertJob) []driver.InsertResult {
	s.Helper()
	var results []driver.InsertResult
	s.write(func(ctx context.Context, tx *driver.WriteTx) (err error) {
		results, err = s.d.Insert(ctx, tx, jobs)
		return err
	})
	require.Len(s, results, len(jobs))
	return results
}

// now returns the time of the driver's clock, which may differ from the machine's by some milliseconds: a job that is
// due by one clock may not be due by the other.
func (s *suite) now() time.Time { return driver.Now(s.d) }

// claim claims the due jobs for the worker "w".
func (s *suite) claim(limit int, types ...string) []driver.Job {
	s.Helper()
	return s.claimAt(s.now(), "w", limit, types...).Jobs
}

func (s *suite) claimAt(now time.Time, worker string, limit int, types ...string) driver.ClaimResult {
	s.Helper()
	if len(types) == 0 {
		types = []string{"t"}
	}
	result, err := s.tryClaim(driver.ClaimRequest{WorkerID: worker, Types: capacities(types, limit), Limit: limit,
		Now: now})
	require.NoError(s, err)
	return result
}

func (s *suite) tryClaim(req driver.ClaimRequest) (result driver.ClaimResult, err error) {
	err = again(func() (err error) {
		result, err = s.d.Claim(s.Context(), req)
		return err
	})
	return result, err
}

// again retries, like the queue, if a driver has ended a transaction in favor of others: a claim that is stopped for
// seconds, as on a busy machine, may be ended.
func again(try func() error) (err error) {
	for range 20 {
		if err = try(); !errors.Is(err, driver.ErrDeadlock) {
			break
		}
	}
	return err
}

// started inserts a job and claims it.
func (s *suite) started(mods ...func(*driver.InsertJob)) driver.Job {
	s.Helper()
	job := newJob(mods...)
	require.Equal(s, driver.InsertResult{ID: job.ID}, s.insert(job)[0])
	jobs := s.claim(1, job.Type)
	require.Len(s, jobs, 1)
	require.Equal(s, job.ID, jobs[0].ID)
	return jobs[0]
}

// requeue ends the attempt so that the job is due again at once.
func (s *suite) requeue(job driver.Job) {
	s.Helper()
	require.NoError(s, s.finish(driver.Outcome{Lease: job.Lease(), State: driver.StateQueued, Kind: driver.KindFailed,
		NotBefore: s.now(), Error: "again", At: s.now()}))
}

func (s *suite) finish(out driver.Outcome) (answer error) {
	s.Helper()
	s.write(func(ctx context.Context, tx *driver.WriteTx) error {
		answers, err := s.d.Finish(ctx, tx, []driver.Outcome{out})
		if err != nil {
			return err
		}
		require.Len(s, answers, 1)
		answer = answers[0]
		return nil
	})
	return answer
}

func completed(lease driver.Lease) driver.Outcome {
	return driver.Outcome{Lease: lease, State: driver.StateCompleted, Kind: driver.KindCompleted, At: time.Now()}
}

func failed(lease driver.Lease) driver.Outcome {
	return driver.Outcome{Lease: lease, State: driver.StateFailed, Kind: driver.KindFailed, Error: "broken",
		At: time.Now()}
}

func (s *suite) cancel(id string) error {
	return driver.Write(s.Context(), s.d,
		func(ctx context.Context, tx *driver.WriteTx) error { return s.d.Cancel(ctx, tx, id) })
}

func (s *suite) retry(id string) error {
	return driver.Write(s.Context(), s.d,
		func(ctx context.Context, tx *driver.WriteTx) error { return s.d.Retry(ctx, tx, id) })
}

func (s *suite) hasten(id string) error {
	return driver.Write(s.Context(), s.d,
		func(ctx context.Context, tx *driver.WriteTx) error { return s.d.Hasten(ctx, tx, id) })
}

func (s *suite) job(id string) *driver.Job {
	s.Helper()
	job, err := s.d.Job(s.Context(), id)
	require.NoError(s, err)
	return job
}

func (s *suite) state(id string) driver.State {
	s.Helper()
	return s.job(id).State
}

func ids(jobs []driver.Job) []string {
	out := make([]string, len(jobs))
	for i := range jobs {
		out[i] = jobs[i].ID
	}
	return out
}

func idsOf(jobs []driver.InsertJob) []string {
	out := make([]string, len(jobs))
	for i := range jobs {
		out[i] = jobs[i].ID
	}
	return out
}

func capacities(types []string, limit int) []driver.TypeCapacity {
	list := make([]driver.TypeCapacity, len(types))
	for i, t := range types {
		list[i] = driver.TypeCapacity{Type: t, Capacity: limit}
	}
	return list
}
