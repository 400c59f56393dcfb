package driver

// A State is where a job stands in its life.
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
	return []State{StateQueued, StateRunning, StateCompleted, StateFailed, StateCanceled}
}

// Finished reports whether a job in state s stays there unless someone retries it.
func (s State) Finished() bool {
	return s == StateCompleted || s == StateFailed || s == StateCanceled
}

// A Hold says what keeps a queued job from being claimed.
type Hold int

// The holds, as they are stored in the column hold. [Standings] names them all: a hold that is not in that table is a
// violation, and no driver writes it.
const (
	// HoldNone: nothing keeps the job back, beyond the limits and pauses of its type.
	HoldNone Hold = 0
	// HoldScheduled: NotBefore lies ahead.
	HoldScheduled Hold = 1
	// HoldLimited: the job waits for capacity under its limit key.
	HoldLimited Hold = 2
	// HoldMoving: a move to another database has taken the job out of reach. Finished jobs can be held so, too.
	HoldMoving Hold = 3
)

// A Standing is one of the places where a job can be: a state and, of a queued job, its hold. Each is the condition of an
// index, so that a query about one of them does not read the others.
type Standing struct {
	Name  string // for people and metrics
	State State
	Hold  Hold
	// Claimable reports whether a claim may take jobs that stand here.
	Claimable bool
}

// Standings is the table of all standings, in the order of a job's life. A finished job that is being moved stands where
// it stood.
func Standings() []Standing {
	return []Standing{
		{Name: "ready", State: StateQueued, Hold: HoldNone, Claimable: true},
		{Name: "scheduled", State: StateQueued, Hold: HoldScheduled},
		{Name: "limited", State: StateQueued, Hold: HoldLimited},
		{Name: "moving", State: StateQueued, Hold: HoldMoving},
		{Name: "running", State: StateRunning},
		{Name: "completed", State: StateCompleted},
		{Name: "failed", State: StateFailed},
		{Name: "canceled", State: StateCanceled},
	}
}

// StandingFor returns the place in the table of a job with the state and the hold. It returns false when there is none.
func StandingFor(state State, hold Hold) (Standing, bool) {
	if state != StateQueued {
		hold = HoldNone // a move holds finished jobs, which stand where they stood
	}
	for _, s := range Standings() {
		if s.State == state && s.Hold == hold {
			return s, true
		}
	}
	return Standing{}, false
}

// How an attempt stands, or how it ended.
const (
	KindRunning     = "running"
	KindCompleted   = "completed"
	KindFailed      = "failed"
	KindInterrupted = "interrupted"
	KindCrashed     = "crashed"
	// KindCanceled: the job was canceled while it ran.
	KindCanceled = "canceled"
	// KindReleased: the attempt was never begun. No budget counts it, and it leaves no record.
	KindReleased = "released"
)
