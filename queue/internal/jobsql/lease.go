package jobsql

import (
	"errors"

	"github.com/postroom-go/postroom/queue/driver"
)

// A HeldJob is the state of a job that leases name.
type HeldJob struct {
	ID      string
	State   driver.State
	Attempt int
}

// ScanHeldJob reads id, state and attempt.
func ScanHeldJob(row Scanner) (h HeldJob, err error) {
	err = row.Scan(&h.ID, &h.State, &h.Attempt)
	return h, err
}

// LeaseIDs returns the ids of the jobs of the leases.
func LeaseIDs(leases []driver.Lease) []string {
	ids := make([]string, len(leases))
	for i, l := range leases {
		ids[i] = l.JobID
	}
	return ids
}

// LeaseErrors returns the error of each lease, in order, according to the existing jobs.
func LeaseErrors(leases []driver.Lease, held []HeldJob) []error {
	jobs := make(map[string]HeldJob, len(held))
	for _, h := range held {
		jobs[h.ID] = h
	}
	answers := make([]error, len(leases))
	for i, l := range leases {
		if h, ok := jobs[l.JobID]; ok {
			answers[i] = LeaseError(l, h.State, h.Attempt)
		} else {
			answers[i] = driver.ErrJobNotFound
		}
	}
	return answers
}

// CancelError returns the reason why a job was not canceled, according to the error of a lease on it.
func CancelError(lease error) error {
	if errors.Is(lease, driver.ErrNotRunning) {
		return driver.ErrFinished
	}
	return lease
}

// RetryError returns the reason why a job in the state is not retried; nil if it is.
func RetryError(state driver.State) error {
	switch {
	case state == driver.StateCompleted:
		return driver.ErrFinished
	case !state.Finished():
		return driver.ErrNotFinished
	}
	return nil
}

// TakesKeyAgain reports whether a job that is retried takes its key again. A key of scope period may belong to another
// job by then.
func TakesKeyAgain(scope driver.KeyScope) bool {
	return scope == driver.KeyUnfinished || scope == driver.KeyCoalesce || scope == driver.KeyForever
}
