package queue

import (
	"context"
	"fmt"
)

const (
	defaultListing = 20
	maxListing     = 1000
)

// Job returns one job, or [ErrJobNotFound].
func (q *Queue) Job(ctx context.Context, jobID string) (*Job, error) {
	job, err := q.driver.Job(ctx, lookup(jobID))
	if err == nil {
		_ = q.codecs.readJob(job) // what cannot be read is shown as it is stored
	}
	return job, wrap("job", jobID, err)
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
	jobs, err := q.driver.Jobs(ctx, filter)
	for i := range jobs {
		_ = q.codecs.readJob(&jobs[i])
	}
	return jobs, wrap("jobs", "", err)
}

// Counts counts the jobs by state; states without jobs are absent. Filter.Limit is not looked at.
func (q *Queue) Counts(ctx context.Context, filter Filter) (map[State]int, error) {
	if err := filter.validate(); err != nil {
		return nil, wrap("counts", "", err)
	}
	counts, err := q.driver.Counts(ctx, filter)
	return counts, wrap("counts", "", err)
}

// Attempts tells, oldest first, of every attempt of a job: the one that runs, the one that completed it, and those that
// failed, were interrupted, crashed or were canceled, with their errors and stacks. Claims that were given back before
// they began are left out.
func (q *Queue) Attempts(ctx context.Context, jobID string) ([]AttemptRecord, error) {
	attempts, err := q.driver.Attempts(ctx, lookup(jobID))
	q.codecs.readAttempts(attempts)
	return attempts, wrap("attempts", jobID, err)
}

// Logs lists what the handler of a job has logged with [Attempt.Logger], attempt by attempt. It is there once the attempt
// has ended.
func (q *Queue) Logs(ctx context.Context, jobID string) ([]LogLine, error) {
	lines, err := q.driver.Logs(ctx, lookup(jobID))
	q.codecs.readLines(lines)
	return lines, wrap("logs", jobID, err)
}

// Steps lists the steps of a job in the order they were started.
func (q *Queue) Steps(ctx context.Context, jobID string) ([]StepRecord, error) {
	steps, err := q.driver.Steps(ctx, lookup(jobID))
	q.codecs.readSteps(steps)
	return steps, wrap("steps", jobID, err)
}
