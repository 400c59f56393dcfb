package driver

import (
	"encoding/json"
	"log/slog"
	"time"
)

// A Job is one stored job. Package queue documents its fields, under the same names.
type Job struct {
	ID            string
	Type          string
	Payload       json.RawMessage // as the queue's codec has made it
	Priority      int
	State         State
	NotBefore     time.Time
	Attempt       int
	Failures      int
	Interruptions int
	Crashes       int
	MaxAttempts   int
	WorkerID      string
	Key           string
	KeyScope      KeyScope
	LimitKey      string
	UserID        string
	Tags          []string
	ExpiresAt     time.Time
	TraceParent   string
	Result        json.RawMessage
	LastError     string
	CreatedAt     time.Time
	UpdatedAt     time.Time
	StartedAt     time.Time
	FinishedAt    time.Time
}

// Lease returns the right to write about the job's current attempt.
func (j *Job) Lease() Lease { return Lease{JobID: j.ID, Attempt: j.Attempt} }

// A Lease is the right to write about one attempt of one job.
type Lease struct {
	JobID   string
	Attempt int
}

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
	Name   string
	Scope  KeyScope
	Period time.Duration // of scope period
}

// An InsertJob is a validated job to be stored.
type InsertJob struct {
	ID          string
	Type        string
	Payload     json.RawMessage
	Priority    int
	NotBefore   time.Time // zero: due at tx.Now()
	MaxAttempts int
	Key         Key
	Fingerprint string // of type and payload; empty without a key
	LimitKey    string // empty: none
	UserID      string // empty: none
	Tags        []string
	ExpiresAt   time.Time // zero: never
	TraceParent string
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
