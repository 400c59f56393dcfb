package queue

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postroom-go/postroom/queue/driver"
)

// A State is where a job stands in its life. Its method Finished reports whether a job stays there unless someone retries it.
type State = driver.State

// The states: queued → running → completed, failed or canceled. A job that waits for its time, or for its next attempt,
// is queued.
const (
	StateQueued    = driver.StateQueued
	StateRunning   = driver.StateRunning
	StateCompleted = driver.StateCompleted
	StateFailed    = driver.StateFailed
	StateCanceled  = driver.StateCanceled
)

// States lists all states in the order of a job's life.
func States() []State { return driver.States() }

// A Job is one stored job.
type Job struct {
	ID      string // UUIDv7
	Type    string
	Payload json.RawMessage

	// Options are the current [Options] of the job: NotBefore is when the job is, or was, due; MaxAttempts, and the LimitKey of a
	// key that coalesces, are the values that the queue has chosen; Key.Period is not kept. To enqueue another job like it,
	// convert them: queue.Options(job.Options).
	driver.Options

	State State

	// Attempt counts the claims so far. A write about the current attempt names this number.
	Attempt int
	// Failures, Interruptions and Crashes count how attempts ended, apart.
	Failures      int
	Interruptions int
	Crashes       int

	// WorkerID is the process that runs the job, or ran it last.
	WorkerID string

	// TraceParent is the trace context that the job was enqueued in (W3C Trace Context); empty without one.
	TraceParent string

	Result    json.RawMessage // nil unless completed with one
	LastError string

	CreatedAt  time.Time
	UpdatedAt  time.Time
	StartedAt  time.Time // of the latest attempt
	FinishedAt time.Time // within a millisecond if many complete at once
}

// maxPrinted is how much of a payload is printed, in bytes.
const maxPrinted = 1000

// String describes the job for logs: its type, id, state and attempt, and the beginning of its payload and of its last error.
func (j Job) String() string {
	text := fmt.Sprintf("%s %s %s, attempt %d, payload %s", j.Type, j.ID, j.State, j.Attempt, beginning(string(j.Payload)))
	if j.LastError != "" {
		text += ", last error " + strconv.Quote(beginning(j.LastError))
	}
	return text
}

func beginning(text string) string {
	if len(text) <= maxPrinted {
		return text
	}
	return strings.ToValidUTF8(text[:maxPrinted], "") + "…"
}

// lease is the right to write about the job's current attempt.
func (j *Job) lease() driver.Lease { return driver.Lease{JobID: j.ID, Attempt: j.Attempt} }

// plain reports whether the outcome is [driver.Outcome].Plain.
func (j *Job) plain() bool {
	return j.LimitKey == "" && j.Key.Scope != driver.KeyUnfinished && j.Key.Scope != driver.KeyCoalesce
}

// A Type names a kind of job and fixes its payload, which is stored as JSON. Declare it as a constant:
//
//	const Greet queue.Type[Greeting] = "greet"
//
// The name is stored with each job: keep it when the Go code is renamed.
type Type[P any] string

// New makes a job of the type, to be enqueued; opts may be nil.
func (t Type[P]) New(payload P, opts *Options) NewJob {
	job := NewJob{Type: string(t), Payload: payload}
	if opts != nil {
		job.Options = *opts
	}
	return job
}

// A NewJob is a job to be enqueued; [Type.New] makes one whose payload is checked by the compiler.
type NewJob struct {
	Type string // not empty and not "*", at most 200 bytes
	// Payload is anything encoding/json takes, up to [Config].MaxPayload; nil is stored as null. Texts must be UTF-8; bytes
	// that are not belong into a []byte.
	Payload any
	Options
}

// Options are the options of a job that is enqueued. The zero Options use the defaults.
type Options struct {
	// Priority orders claims, high first, before the due time. Default 0; bounds: 32 bits.
	Priority int
	// NotBefore is when the job becomes due. Zero, or a time in the past, means at once.
	NotBefore time.Time
	// Key makes the job idempotent; see [Key]. The zero Key does not.
	Key Key
	// MaxAttempts is how many failures end the job. Default 5; bounds 1 to 1000.
	MaxAttempts int
	// ExpiresAt is when the job is no longer worth starting: one that is not running by then is canceled. Zero: never.
	ExpiresAt time.Time
	// LimitKey names the group that shares a limit. Jobs of several types may have the same. At most 200 bytes. Empty: none.
	LimitKey string
	// UserID is the user of the job, for hosts with several users. At most 200 bytes. Empty: none.
	UserID string
	// Tags are words to find the job by: at most 20, each not empty and of at most 100 bytes.
	Tags []string
}

// A KeyScope is how long an idempotency key keeps others out: "forever", "unfinished", "period" or "coalesce".
type KeyScope = driver.KeyScope

// A Key makes enqueueing idempotent: while it is taken, enqueueing the same type and payload again returns the first
// job's id, and anything else fails with [ErrKeyConflict]. Make one with [Forever], [WhileUnfinished], [ForPeriod] or [Coalesce].
type Key = driver.Key

// Forever is a key that is never freed: a job with this name is enqueued once.
func Forever(name string) Key { return Key{Name: name, Scope: driver.KeyForever} }

// WhileUnfinished is a key that is free again when its job has finished: jobs with this name do not overlap.
func WhileUnfinished(name string) Key { return Key{Name: name, Scope: driver.KeyUnfinished} }

// ForPeriod is a key that is taken for a period from the enqueueing on, whatever the outcome of the job: at most one job with
// this name is enqueued in that period. The time is measured by the server's clock on PostgreSQL, and by that of the enqueueing
// machine on SQLite.
func ForPeriod(name string, period time.Duration) Key {
	return Key{Name: name, Scope: driver.KeyPeriod, Period: period}
}

// Coalesce is a key that is free again when its job begins: of the jobs with this name one runs and at most one waits. The
// waiting one stands for all requests made meanwhile and begins when the first has ended. If a job is to run again while another
// already waits, it is canceled, with a LastError that names the other, which does the same work from the beginning. So a job
// that coalesces must not contain work that must not be repeated. The queue sets the job's LimitKey.
func Coalesce(name string) Key { return Key{Name: name, Scope: driver.KeyCoalesce} }

// An EnqueueResult says which job an enqueue has stored or found.
type EnqueueResult struct {
	ID string
	// Duplicate: the key was taken, nothing was written, and ID is the job that holds the key.
	Duplicate bool
}

// A StepRecord is a named part of a job whose result is stored, so that a later attempt does not run it again.
type StepRecord struct {
	JobID      string
	Name       string
	Attempt    int // the attempt that last started it
	StartedAt  time.Time
	FinishedAt time.Time       // zero while unfinished
	Result     json.RawMessage // nil while unfinished
	// Cursor is the position stored by [SaveCursor], if any; nil once the step is finished.
	Cursor json.RawMessage
}

// An AttemptRecord describes an attempt: how it ended, or that it runs.
type AttemptRecord struct {
	JobID      string
	Attempt    int
	WorkerID   string
	Kind       string // KindRunning, KindCompleted, KindFailed, KindInterrupted, KindCrashed or KindCanceled
	Error      string // empty while it runs and when it succeeded
	Stack      string // of a panic, or of a handler that was given up
	StartedAt  time.Time
	FinishedAt time.Time // zero while it runs
}

// A LogLine is a line that a handler has logged; see [Attempt.Logger].
type LogLine struct {
	JobID   string
	Attempt int
	Line    int // within the attempt, from 1; dropped lines are counted
	At      time.Time
	Level   slog.Level
	Message string
	Attrs   json.RawMessage // an object; nil without attributes
}

// The outcomes of an attempt.
const (
	KindRunning     = driver.KindRunning
	KindCompleted   = driver.KindCompleted
	KindFailed      = driver.KindFailed
	KindInterrupted = driver.KindInterrupted
	KindCrashed     = driver.KindCrashed
	// KindCanceled: the job was canceled while it ran.
	KindCanceled = driver.KindCanceled
)

// encode is how payloads and results become JSON. A RawMessage may hold bytes that are no text; not every database would
// take them.
func encode(v any) (json.RawMessage, error) {
	b, err := json.Marshal(v)
	if err == nil && !utf8.Valid(b) {
		err = errors.New("not valid UTF-8")
	}
	if err == nil && isEncoded(b) {
		err = errors.New(`an object must not begin with the member "$codec", which is the queue's own`)
	}
	return b, err
}
