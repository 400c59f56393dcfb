package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

const (
	defaultListing = 20
	maxListing     = 1000
)

// Job returns one job, or [ErrJobNotFound].
func (q *Queue) Job(ctx context.Context, jobID string) (*Job, error) {
	stored, err := q.driver.Job(ctx, lookup(jobID))
	if err != nil {
		return nil, wrap("job", jobID, err)
	}
	return q.JobOf(*stored), nil
}

// JobTx is Job within a transaction, and returns the job as the transaction sees it.
func (q *Queue) JobTx(ctx context.Context, tx Tx, jobID string) (*Job, error) {
	w, leave, err := q.adopt(ctx, tx)
	if err != nil {
		return nil, wrap("job", jobID, err)
	}
	defer leave()
	stored, err := q.driver.ReadJobs(ctx, w, []string{lookup(jobID)})
	if err == nil && len(stored) == 0 {
		err = ErrJobNotFound
	}
	if err != nil {
		return nil, wrap("job", jobID, err)
	}
	return q.JobOf(stored[0]), nil
}

// JobOf returns a job that was read from the driver, with its values decoded. Package flow reads the jobs of nodes.
func (q *Queue) JobOf(stored driver.Job) *Job {
	job := Job(stored)
	_ = q.codecs.readJob(&job) // a value that cannot be read is shown as it is stored
	return &job
}

// Jobs lists jobs, newest first.
func (q *Queue) Jobs(ctx context.Context, filter Filter) ([]Job, error) {
	if filter.Limit == 0 {
		filter.Limit = defaultListing
	}
	if filter.Limit < 1 || filter.Limit > maxListing {
		return nil, fmt.Errorf("queue: jobs: Filter.Limit is %d; it must be within 1 and %d", filter.Limit, maxListing)
	}
	if err := filter.validate(); err != nil {
		return nil, wrap("jobs", "", err)
	}
	stored, err := q.driver.Jobs(ctx, filter.stored())
	jobs := jobsOf(stored)
	for i := range jobs {
		_ = q.codecs.readJob(&jobs[i])
	}
	return jobs, wrap("jobs", "", err)
}

// Counts counts the jobs by state; states without jobs are absent. Filter.Limit is ignored.
func (q *Queue) Counts(ctx context.Context, filter Filter) (map[State]int, error) {
	if err := filter.validate(); err != nil {
		return nil, wrap("counts", "", err)
	}
	counts, err := q.driver.Counts(ctx, filter.stored())
	return counts, wrap("counts", "", err)
}

// Attempts lists, oldest first, every attempt of a job: the one that runs, the one that completed it, and those that
// failed, were interrupted, crashed, were canceled or ended to wait for a signal, with their errors and stacks. Claims
// that were given back before they began are left out.
func (q *Queue) Attempts(ctx context.Context, jobID string) ([]AttemptRecord, error) {
	stored, err := q.driver.Attempts(ctx, lookup(jobID))
	attempts := mapped(stored, func(a driver.AttemptRecord) AttemptRecord { return AttemptRecord(a) })
	q.codecs.readAttempts(attempts)
	return attempts, wrap("attempts", jobID, err)
}

// Logs lists the lines that the handler of a job has logged with [Attempt.Logger], attempt by attempt. They are stored
// once the attempt has ended.
func (q *Queue) Logs(ctx context.Context, jobID string) ([]LogLine, error) {
	stored, err := q.driver.Logs(ctx, lookup(jobID))
	lines := mapped(stored, func(l driver.LogLine) LogLine { return LogLine(l) })
	q.codecs.readLines(lines)
	return lines, wrap("logs", jobID, err)
}

// Steps lists the steps of a job in the order they were started.
func (q *Queue) Steps(ctx context.Context, jobID string) ([]StepRecord, error) {
	stored, err := q.driver.Steps(ctx, lookup(jobID))
	return q.stepsOf(stored), wrap("steps", jobID, err)
}

func (q *Queue) stepsOf(stored []driver.StepRecord) []StepRecord {
	steps := mapped(stored, func(s driver.StepRecord) StepRecord { return StepRecord(s) })
	q.codecs.readSteps(steps)
	return steps
}

func jobsOf(stored []driver.Job) []Job {
	return mapped(stored, func(j driver.Job) Job { return Job(j) })
}

// mapped keeps nil as it is.
func mapped[From, To any](list []From, fn func(From) To) []To {
	if list == nil {
		return nil
	}
	out := make([]To, len(list))
	for i := range list {
		out[i] = fn(list[i])
	}
	return out
}

// A Filter selects jobs; empty fields do not restrict. States, Types, UserID, Key and LimitKey use an index; Tags alone
// is searched among the jobs that have any. The other fields are compared with each remaining job, newest first, until
// Limit jobs are found. Searching for a rare tag or a time long ago takes some tenths of a second for each million
// jobs, and so does counting, and listing jobs of a state or type of which fewer than Limit are among the newest 2,000.
type Filter struct {
	States []State
	Types  []string
	// UserID, Key and LimitKey are those of [Options]. Key is the name of a key, whether or not the job still holds it.
	UserID   string
	Key      string
	LimitKey string
	// Tags selects the jobs that have all of them.
	Tags []string
	// CreatedFrom and CreatedBefore bound when the job was enqueued.
	CreatedFrom   time.Time
	CreatedBefore time.Time
	// Before is a job id: only jobs with lower ids, which are older, are listed.
	Before string
	// Limit bounds a listing: default 20, bounds 1 to 1000. [Queue.Redrive] and [Queue.CancelAll] take 0 as no bound
	// and do as many otherwise; counts ignore it.
	Limit int
	// All says that a call which changes jobs is meant for all there are: [Queue.Redrive] and [Queue.CancelAll] refuse
	// a Filter in which nothing but States and Limit is set, unless All is. Reading ignores it.
	All bool
}

// selects reports whether something other than the state chooses among the jobs.
func (f *Filter) selects() bool {
	return len(f.Types)+len(f.Tags) > 0 || f.UserID+f.Key+f.LimitKey+f.Before != "" || !f.CreatedFrom.IsZero() ||
		!f.CreatedBefore.IsZero()
}

func (f *Filter) stored() driver.Filter {
	return driver.Filter{
		States: f.States, Types: f.Types, UserID: f.UserID, Key: f.Key, LimitKey: f.LimitKey, Tags: f.Tags,
		CreatedFrom: f.CreatedFrom, CreatedBefore: f.CreatedBefore, Before: f.Before, Limit: f.Limit,
	}
}

// ErrInvalidFilter: the value is not a valid [Filter], for example because a text of it is not valid UTF-8.
var ErrInvalidFilter = errors.New("invalid filter")

func (f *Filter) validate() error {
	for field, names := range map[string][]string{
		"Types": f.Types, "UserID": {f.UserID}, "Key": {f.Key}, "LimitKey": {f.LimitKey}, "Tags": f.Tags,
		"Before": {f.Before},
	} {
		for _, name := range names {
			if !isText(name) {
				return noText(ErrInvalidFilter, field, name)
			}
		}
	}
	for _, state := range f.States {
		if !isText(string(state)) {
			return noText(ErrInvalidFilter, "States", string(state))
		}
		if !slices.Contains(States(), state) {
			return fmt.Errorf("%w: States has %q; the states are %q", ErrInvalidFilter, state, States())
		}
	}
	if err := validTime(ErrInvalidFilter, "CreatedFrom", f.CreatedFrom); err != nil {
		return err
	}
	return validTime(ErrInvalidFilter, "CreatedBefore", f.CreatedBefore)
}

// Wait reads the job again after as long as it has waited, so that it reads rarely and is never much late.
const (
	waitFirst = 20 * time.Millisecond
	waitMost  = 2 * time.Second
)

// Wait returns the job once it is completed, failed or canceled, by any process; at once if it already is. An end in
// this process is noticed immediately, an end elsewhere by polling: after 20 ms, then after twice as long each time, at
// most 2 s. The error is ctx's, [ErrJobNotFound] (also for a job whose transaction has not committed), or the
// database's. The failure of the job is not an error of Wait, see [Result]. Inside the function of a write, Wait is
// refused with [ErrNestedWrite], because such a function must not wait.
func (q *Queue) Wait(ctx context.Context, jobID string) (*Job, error) {
	if err := validContext(ctx); err != nil {
		return nil, wrap("wait", jobID, err)
	}
	if q.inWrite(ctx) {
		return nil, wrap("wait", jobID, ErrNestedWrite)
	}
	// Before the first read, so that no end is missed.
	ended, stop := q.events.await(jobID)
	defer stop()
	timer := time.NewTimer(waitFirst)
	defer timer.Stop()
	for pause := waitFirst; ; {
		job, err := q.driver.Job(ctx, lookup(jobID))
		if err != nil {
			if ctx.Err() != nil {
				err = ctx.Err()
			}
			return nil, wrap("wait", jobID, err)
		}
		if job.State.Finished() {
			ended := Job(*job)
			_ = q.codecs.readJob(&ended) // Result reports that it cannot be read
			return &ended, nil
		}
		select {
		case <-ctx.Done():
			return nil, wrap("wait", jobID, ctx.Err())
		case <-ended:
		case <-timer.C:
			pause = min(2*pause, waitMost)
			timer.Reset(pause)
		}
	}
}

// A JobError says that a job has ended without success. It is [ErrCanceled] when the job was canceled.
type JobError struct {
	JobID     string
	JobType   string
	State     State // StateFailed or StateCanceled
	LastError string
}

// Error names the job, its end and its last error.
func (e *JobError) Error() string {
	s := fmt.Sprintf("queue: job %s (%s) is %s", e.JobID, e.JobType, e.State)
	if e.LastError != "" {
		s += ": " + e.LastError
	}
	return s
}

// Unwrap returns [ErrCanceled] for a canceled job.
func (e *JobError) Unwrap() error {
	if e.State == StateCanceled {
		return ErrCanceled
	}
	return nil
}

// Result decodes the result that a completed job has stored with [Attempt.SetResult]; it returns T's zero value if
// there is none. The error is a [JobError] if the job failed or was canceled, [ErrNotFinished] if it has not ended, or
// the decoding error.
func Result[T any](job *Job) (T, error) {
	var result T
	switch {
	case !job.State.Finished():
		return result, wrap("result", job.ID, ErrNotFinished)
	case job.State != StateCompleted:
		return result, &JobError{JobID: job.ID, JobType: job.Type, State: job.State, LastError: job.LastError}
	case job.Result == nil:
		return result, nil
	}
	if err := unmarshal(job.Result, &result); err != nil {
		return result, wrap("result", job.ID, fmt.Errorf("it does not fit %T: %w", result, err))
	}
	return result, nil
}
