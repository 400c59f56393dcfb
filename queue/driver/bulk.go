package driver

import (
	"context"
	"time"
)

// A CancelRequest names jobs to cancel.
type CancelRequest struct {
	JobIDs []string
	// States are those in which a job is canceled. A job in another one is left as it is.
	States []State
	// Reason returns the text that a canceled job keeps as its error, and the attempt that ran as its own, in the form
	// in which it is stored. A nil Reason leaves the error of the job as it is.
	Reason func(jobID string) string
}

// Reasons returns the reason for each job, empty where there is none.
func (r *CancelRequest) Reasons() []string {
	reasons := make([]string, len(r.JobIDs))
	if r.Reason == nil {
		return reasons
	}
	for i, id := range r.JobIDs {
		reasons[i] = r.Reason(id)
	}
	return reasons
}

// A Rescheduler is a [Driver] that can change when queued jobs run, many at a time. Its calls skip jobs that are not
// queued and those held with [HoldMoving], and return the ids of the changed jobs in any order. They lock the jobs in
// the order of their ids, and wake listeners when the transaction commits.
type Rescheduler interface {
	// RescheduleJobs sets the NotBefore of jobs; a time that has passed means tx.Now(). The zero time makes due, at
	// tx.Now(), those that wait for their time or for their next attempt, and leaves those that are due. A job that waits
	// for its node keeps the time for when that opens.
	RescheduleJobs(ctx context.Context, tx *WriteTx, jobIDs []string, notBefore time.Time) (changed []string, err error)
	// SetPriority sets the priority of jobs, and leaves those that have it.
	SetPriority(ctx context.Context, tx *WriteTx, jobIDs []string, priority int) (changed []string, err error)
}

// A JobError is the last error of a job.
type JobError struct {
	JobID string
	Type  string
	State State
	Error string    // as it is stored
	At    time.Time // when the job was last written
}

// An ErrorReader is a [Driver] that can read the errors of many jobs without the rest of their rows.
type ErrorReader interface {
	// JobErrors returns those of the jobs that have an error, in any order.
	JobErrors(ctx context.Context, jobIDs []string) ([]JobError, error)
}
