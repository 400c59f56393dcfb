package queue

import (
	"context"
	"fmt"
	"time"
)

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
