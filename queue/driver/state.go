package driver

import (
	"fmt"
	"slices"
)

// A State is the state of a job.
type State string

// The states: queued → running → completed, failed or canceled. A job that waits for its time, or for its next attempt,
// is queued.
const (
	StateQueued    State = "queued"
	StateRunning   State = "running"
	StateCompleted State = "completed"
	StateFailed    State = "failed"
	StateCanceled  State = "canceled"
)

// States lists all states in the order of a job's life.
func States() []State {
	var states []State
	for _, s := range standings {
		if !slices.Contains(states, s.State) {
			states = append(states, s.State)
		}
	}
	return states
}

// Finished reports whether a job stays in state s unless someone retries it.
func (s State) Finished() bool {
	return s == StateCompleted || s == StateFailed || s == StateCanceled
}

// A Hold is the reason that keeps a queued job from being claimed.
type Hold int

// The holds, as stored in the column hold. [Standings] has them all: a driver must not write or query a hold that is
// not in that table; see [ErrUnknownStanding].
const (
	// HoldNone: nothing holds the job back, except the limits and pauses of its type.
	HoldNone Hold = 0
	// HoldScheduled: NotBefore is in the future.
	HoldScheduled Hold = 1
	// HoldLimited: the job waits for capacity under its limit key.
	HoldLimited Hold = 2
	// HoldMoving: the job is being moved to another database. Finished jobs can have this hold, too.
	HoldMoving Hold = 3
	// HoldWaiting: the job waits for its node to open, or for its turn; see [FlowStore] and [SequenceStore].
	HoldWaiting Hold = 4
)

// A Standing is the condition of a job: a state and, for a queued job, its hold. Each is the condition of an index, so
// that a query for one does not read the others.
type Standing struct {
	Name  string // for people and metrics
	State State
	Hold  Hold
	// Claimable reports whether a claim may take jobs with this standing.
	Claimable bool
}

// standings is the only table of states and holds; everything else about them is derived from it.
var standings = []Standing{
	{Name: "ready", State: StateQueued, Hold: HoldNone, Claimable: true},
	{Name: "scheduled", State: StateQueued, Hold: HoldScheduled},
	{Name: "limited", State: StateQueued, Hold: HoldLimited},
	{Name: "moving", State: StateQueued, Hold: HoldMoving},
	{Name: "waiting", State: StateQueued, Hold: HoldWaiting},
	{Name: "running", State: StateRunning},
	{Name: "completed", State: StateCompleted},
	{Name: "failed", State: StateFailed},
	{Name: "canceled", State: StateCanceled},
}

// Standings returns the table of all standings, in the order of a job's life. A finished job that is being moved keeps
// its standing.
func Standings() []Standing { return slices.Clone(standings) }

// StandingFor returns the standing of a job with the state and the hold, or [ErrUnknownStanding] if no job can have
// both.
func StandingFor(state State, hold Hold) (Standing, error) {
	stored := hold
	if hold == HoldMoving && state.Finished() {
		hold = HoldNone
	}
	for _, s := range standings {
		if s.State == state && s.Hold == hold {
			return s, nil
		}
	}
	return Standing{}, fmt.Errorf("%w: %q with a hold of %d", ErrUnknownStanding, state, stored)
}

// CheckStates returns [ErrUnknownStanding] if one of the states is not in [States].
func CheckStates(states []State) error {
	for _, state := range states {
		if _, err := StandingFor(state, HoldNone); err != nil {
			return fmt.Errorf("%w: the state %q", ErrUnknownStanding, state)
		}
	}
	return nil
}

// CheckFinished returns [ErrUnknownStanding] unless state is that of a finished job.
func CheckFinished(state State) error {
	if !state.Finished() {
		return fmt.Errorf("%w: the state %q of a finished job", ErrUnknownStanding, state)
	}
	return nil
}

// The kinds of attempts: running, or their end.
const (
	KindRunning     = "running"
	KindCompleted   = "completed"
	KindFailed      = "failed"
	KindInterrupted = "interrupted"
	KindCrashed     = "crashed"
	// KindCanceled: the job was canceled while it ran.
	KindCanceled = "canceled"
	// KindWaiting: the attempt ended because its handler waits for a signal. No budget counts it.
	KindWaiting = "waiting"
	// KindReleased: the attempt was never started. No budget counts it, and it leaves no record.
	KindReleased = "released"
)
