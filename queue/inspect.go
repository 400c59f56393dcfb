package queue

import (
	"context"
	"fmt"

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
	job := Job(*stored)
	_ = q.codecs.readJob(&job) // a value that cannot be read is shown as it is stored
	return &job, nil
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
// failed, were interrupted, crashed or were canceled, with their errors and stacks. Claims that were given back before
// they began are left out.
func (q *Queue) Attempts(ctx context.Context, jobID string) ([]AttemptRecord, error) {
	stored, err := q.driver.Attempts(ctx, lookup(jobID))
	attempts := mapped(stored, func(a driver.AttemptRecord) AttemptRecord { return AttemptRecord(a) })
	q.codecs.readAttempts(attempts)
	return attempts, wrap("attempts", jobID, err)
}

// Logs lists the lines that the handler of a job has logged with [Attempt.Logger], attempt by attempt. They are stored once the
// attempt has ended.
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
