package driver

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// A ClaimRequest asks for jobs.
type ClaimRequest struct {
	WorkerID string
	Types    []TypeCapacity // at least one
	Limit    int            // at least 1; over all types
	Now      time.Time
}

// A TypeCapacity is how many jobs of one type a claim may take.
type TypeCapacity struct {
	Type     string
	Capacity int // at least 1
}

// A ClaimResult is what a claim got.
type ClaimResult struct {
	Jobs []Job
	// More reports that there may be more jobs to claim at once.
	More bool
	// NextDue is when the next scheduled job of the types becomes due, or a rate lets the next start; zero when there is
	// none, or when there are More.
	NextDue time.Time
}

// A HeartbeatRequest is a worker's sign of life.
type HeartbeatRequest struct {
	WorkerID string
	First    bool // registers the worker
	// Types are those that the worker has handlers for; nil leaves what is known of them.
	Types []string
	Now   time.Time
}

// A Worker is a process that runs jobs. Beat counts its signs of life; others judge by its changing, on their own clocks.
type Worker struct {
	ID     string
	Beat   int64     // −1 when it is not registered and yet has running jobs
	BeatAt time.Time // by the worker's clock: for people
	Types  []string  // that it has handlers for; nil when that is not known
}

// An Outcome is how an attempt ended and what becomes of its job.
type Outcome struct {
	Lease     Lease
	State     State  // queued, completed, failed or canceled
	Kind      string // KindCompleted, KindFailed, KindCanceled, KindInterrupted, KindCrashed or KindReleased
	NotBefore time.Time
	Result    json.RawMessage
	Error     string
	Stack     string
	At        time.Time
	// LimitKey is that of the job. Empty: it has none, or the caller does not know.
	LimitKey string
	// Plain: the job is known to hold no idempotency key that its end frees, and no capacity under a limit key.
	Plain bool
}

// endings are the states that each kind of an attempt's end can leave its job in.
var endings = map[string][]State{
	KindCompleted:   {StateCompleted},
	KindFailed:      {StateQueued, StateFailed},
	KindCanceled:    {StateCanceled},
	KindInterrupted: {StateQueued, StateFailed},
	KindCrashed:     {StateQueued, StateFailed},
	KindReleased:    {StateQueued},
}

// CheckOutcomes returns [ErrUnknownStanding] when an attempt cannot end as one of the outcomes says. A driver asks it before it
// writes any of them.
func CheckOutcomes(outcomes []Outcome) error {
	for i := range outcomes {
		if out := &outcomes[i]; !slices.Contains(endings[out.Kind], out.State) {
			return fmt.Errorf("%w: an attempt of job %s that ends with the kind %q and the state %q", ErrUnknownStanding, out.Lease.JobID, out.Kind, out.State)
		}
	}
	return nil
}

// A FinishedType is a type that has finished jobs, and when the first of them finished.
type FinishedType struct {
	Type  string
	First time.Time
}

// A PruneRequest says what to delete.
type PruneRequest struct {
	State          State // of a finished job
	Type           string
	FinishedBefore time.Time
	Limit          int // at least 1
}
