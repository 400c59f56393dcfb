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
	Payload       json.RawMessage // as the queue's codec has made it
	Options                       // as they stand; of the key without its Period
	State         State
	Attempt       int
	Failures      int
	Interruptions int
	Crashes       int
	WorkerID      string
	TraceParent   string
	Result        json.RawMessage
	LastError     string
	CreatedAt     time.Time
	UpdatedAt     time.Time
	StartedAt     time.Time
	FinishedAt    time.Time
}

// Options are what the caller who enqueues a job says about it, under the names and in the order of those of package queue.
type Options struct {
	Priority    int
	NotBefore   time.Time // zero on an insert: due at tx.Now()
	Key         Key
	MaxAttempts int
	ExpiresAt   time.Time // zero: never
	LimitKey    string    // empty: none
	UserID      string    // empty: none
	Tags        []string
}

// Lease returns the right to write about the job's current attempt.
func (j *Job) Lease() Lease { return Lease{JobID: j.ID, Attempt: j.Attempt} }

// A Lease is the right to write about one attempt of one job.
type Lease struct {
	JobID   string
	Attempt int
}

// LastAttempt is the highest number of an attempt, and of failures, interruptions and crashes, that is stored. A claim of a job
// that has come so far, because somebody has altered its row, leaves the number: package queue fails such a job.
const LastAttempt = math.MaxInt32

// A KeyScope is how long an idempotency key keeps others out.
type KeyScope string

// The scopes of a key.
const (
	// KeyForever: no second job with the key, ever; also after the first has been pruned.
	KeyForever KeyScope = "forever"
	// KeyUnfinished: no second job with the key until the first has completed, failed or been canceled.
	KeyUnfinished KeyScope = "unfinished"
	// KeyPeriod: no second job with the key for a time, whatever becomes of the first.
	KeyPeriod KeyScope = "period"
	// KeyCoalesce: no second job with the key until the first has begun; what is enqueued then waits for the first to end.
	KeyCoalesce KeyScope = "coalesce"
)

// A Key is an idempotency key; the zero Key is none.
type Key struct {
	Name  string // not empty, at most 1000 bytes
	Scope KeyScope
	// Period is how long a key of scope period is taken; at least 1 ms. Zero with the other scopes.
	Period time.Duration
}

// An InsertJob is a validated job to be stored: its ID, Type, Payload, Options and TraceParent. The other fields of the Job are
// those of a new one, whatever they hold.
type InsertJob struct {
	Job
	Fingerprint string // of type and payload; empty without a key
}

// An InsertResult answers an [InsertJob].
type InsertResult struct {
	ID        string
	Duplicate bool
	Conflict  bool // a duplicate with another fingerprint
	// Holder is the job that has the key; set only on a conflict.
	Holder *KeyHolder
}

// A KeyHolder is the job that has a key. Type is empty when its row is not there, or not yet.
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
	Cursor     json.RawMessage // how far an unfinished step has come; nil when that was not stored
}

// An AttemptRecord is an attempt of a job.
type AttemptRecord struct {
	JobID      string
	Attempt    int
	WorkerID   string
	Kind       string // KindRunning, KindCompleted, KindFailed, KindInterrupted, KindCrashed or KindCanceled
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
