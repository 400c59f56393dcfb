package driver

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// A ClaimRequest is a request for jobs.
type ClaimRequest struct {
	WorkerID string
	Types    []TypeCapacity // at least one
	Limit    int            // at least 1; over all types
	// Bytes bounds the payloads of the claimed jobs together: the job that reaches it is the last, and the result has
	// More. A claim that has limits to keep may take more. 0: no bound.
	Bytes int
	Now   time.Time
}

// Reached reports whether the payloads of the jobs reach Bytes.
func (r *ClaimRequest) Reached(jobs []Job) bool {
	size := 0
	for i := range jobs {
		size += len(jobs[i].Payload)
	}
	return r.Bytes > 0 && size >= r.Bytes
}

// A TypeCapacity is the number of jobs of one type that a claim may take.
type TypeCapacity struct {
	Type     string
	Capacity int // at least 1
}

// A ClaimResult is the result of a claim.
type ClaimResult struct {
	Jobs []Job
	// More reports that there may be more jobs to claim at once.
	More bool
	// NextDue is when the next scheduled job of the types becomes due, or a rate permits the next start. It may be
	// earlier where many scheduled jobs of other types come first. It is zero if there is none, or with More.
	NextDue time.Time
}

// A HeartbeatRequest is a worker's heartbeat.
type HeartbeatRequest struct {
	WorkerID string
	First    bool // registers the worker
	// Types are the worker's registered handlers; nil leaves the stored ones unchanged.
	Types []string
	// Version is that of the worker's program; empty leaves the stored one unchanged.
	Version string
	Now     time.Time
}

// A Worker is a process that runs jobs. Beat counts its heartbeats. Other processes check on their own clocks whether
// it changes.
type Worker struct {
	ID     string
	Beat   int64     // −1 if it is not registered, but has running jobs
	BeatAt time.Time // by the worker's clock: for people
	Types  []string  // its registered handlers; nil if unknown
	// Version is that of its program; empty if unknown.
	Version string
}

// An Outcome is the end of an attempt, and the new state of its job.
type Outcome struct {
	Lease     Lease
	State     State  // queued, completed, failed or canceled
	Kind      string // KindCompleted, KindFailed, KindCanceled, KindInterrupted, KindCrashed, KindWaiting or KindReleased
	NotBefore time.Time
	Result    json.RawMessage
	Error     string
	Stack     string
	At        time.Time
	// LimitKey is the job's limit key. Empty: it has none, or the caller does not know.
	LimitKey string
	// Plain reports that the job holds no idempotency key that its end frees, no capacity under a limit key, and no turn
	// of a sequence.
	Plain bool
}

// possibleStates are the states in which each kind of an attempt's end can leave its job.
var possibleStates = map[string][]State{
	KindCompleted:   {StateCompleted},
	KindFailed:      {StateQueued, StateFailed},
	KindCanceled:    {StateCanceled},
	KindInterrupted: {StateQueued, StateFailed},
	KindCrashed:     {StateQueued, StateFailed},
	KindWaiting:     {StateQueued},
	KindReleased:    {StateQueued},
}

// CheckOutcomes returns [ErrUnknownStanding] if an outcome is impossible. A driver must call it before it writes any of
// them.
func CheckOutcomes(outcomes []Outcome) error {
	for i := range outcomes {
		if out := &outcomes[i]; !slices.Contains(possibleStates[out.Kind], out.State) {
			return fmt.Errorf("%w: an attempt of job %s that ends with the kind %q and the state %q",
				ErrUnknownStanding, out.Lease.JobID, out.Kind, out.State)
		}
	}
	return nil
}

// A FinishedType is a type with finished jobs, and the time when the first of them finished.
type FinishedType struct {
	Type  string
	First time.Time
}

// A PruneRequest selects the jobs to delete.
type PruneRequest struct {
	State          State // of a finished job
	Type           string
	FinishedBefore time.Time
	Limit          int // at least 1
}
