package driver

import (
	"encoding/json"
	"log/slog"
	"math"
	"time"
)

// A Job is one stored job. Package queue documents its fields, under the same names.
type Job struct {
	ID            string
	Type          string
	Payload       json.RawMessage // encoded by the queue's codec
	Options                       // as stored; the key without its Period
	State         State
	Attempt       int
	Failures      int
	Interruptions int
	Crashes       int
	WorkerID      string
	Node          string // of a flow; see [FlowStore]
	TraceParent   string
	Result        json.RawMessage
	LastError     string
	CreatedAt     time.Time
	UpdatedAt     time.Time
	StartedAt     time.Time
	FinishedAt    time.Time
}

// Options are the options of a job from the caller that enqueues it, under the names and in the order of those of
// package queue.
type Options struct {
	Priority    int
	NotBefore   time.Time // zero on an insert: due at tx.Now()
	Key         Key
	MaxAttempts int
	ExpiresAt   time.Time // zero: never
	LimitKey    string    // empty: none
	UserID      string    // empty: none
	Tags        []string
	Timeout     time.Duration // 0: that of the handler
	// PayloadVersion is the version of the payload's form; 0: none.
	PayloadVersion int
	Sequence       string // empty: none
	SequenceGoesOn bool
}

// Lease returns the lease of the job's current attempt.
func (j *Job) Lease() Lease { return Lease{JobID: j.ID, Attempt: j.Attempt} }

// Begun reports whether a running job is known to have begun, and not only to have been claimed.
func (j *Job) Begun() bool { return !j.UpdatedAt.Equal(j.StartedAt) }

// A Lease is the right to write about one attempt of one job.
type Lease struct {
	JobID   string
	Attempt int
}

// LastAttempt is the maximum of the stored numbers of an attempt, of failures, interruptions and crashes. A claim does
// not increase a number that has reached it, because somebody has altered the row: package queue fails such a job.
const LastAttempt = math.MaxInt32

// A KeyScope is the time for which an idempotency key excludes other jobs.
type KeyScope string

// The scopes of a key.
const (
	// KeyForever: no second job with the key, ever, even after the first has been pruned.
	KeyForever KeyScope = "forever"
	// KeyUnfinished: no second job with the key until the first has completed, failed or was canceled.
	KeyUnfinished KeyScope = "unfinished"
	// KeyPeriod: no second job with the key for a time, regardless of the first job's outcome.
	KeyPeriod KeyScope = "period"
	// KeyCoalesce: no second job with the key until the first has started. A second job that is enqueued then waits for
	// the first to end.
	KeyCoalesce KeyScope = "coalesce"
)

// A Key is an idempotency key. The zero Key is no key.
type Key struct {
	Name  string // not empty, at most 1000 bytes
	Scope KeyScope
	// Period is the time for which a key of scope period is taken; at least 1 ms. It is zero with the other scopes.
	Period time.Duration
}

// An InsertJob is a validated job to store: its ID, Type, Payload, Options, Node and TraceParent. The other fields of
// the Job are ignored, and stored as for a new job.
type InsertJob struct {
	Job
	Fingerprint string // of type and payload; empty without a key
	Waits       bool   // for its node to open
}

// An InsertResult is the result for an [InsertJob].
type InsertResult struct {
	ID        string
	Duplicate bool
	Conflict  bool // a duplicate with another fingerprint
	// Holder is the job that has the key; set only on a conflict.
	Holder *KeyHolder
}

// A KeyHolder is the job that has a key. Payload is nil if its row is missing, and Type is that of the key then; empty
// where it was taken before keys had types.
type KeyHolder struct {
	Fingerprint string
	Type        string
	Payload     json.RawMessage
}

// A StepRecord is a step of a job.
type StepRecord struct {
	JobID      string
	Name       string
	Attempt    int // the attempt that last started it
	StartedAt  time.Time
	FinishedAt time.Time       // zero while unfinished
	Result     json.RawMessage // nil while unfinished
	Cursor     json.RawMessage // progress of an unfinished step; nil if none was stored
}

// An AttemptRecord is an attempt of a job.
type AttemptRecord struct {
	JobID      string
	Attempt    int
	WorkerID   string
	Kind       string // KindRunning, KindCompleted, KindFailed, KindInterrupted, KindCrashed, KindWaiting or KindCanceled
	Error      string
	Stack      string
	StartedAt  time.Time
	FinishedAt time.Time
}

// A LogLine is a line that a handler has logged.
type LogLine struct {
	JobID   string
	Attempt int
	Line    int
	At      time.Time
	Level   slog.Level
	Message string
	Attrs   json.RawMessage
}
