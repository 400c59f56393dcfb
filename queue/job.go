package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postroom-go/postroom/queue/driver"
)

// A State is where a job stands in its life. Its method Finished reports whether a job stays there unless someone
// retries it.
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

	// Options are the current [Options] of the job: NotBefore is when the job is, or was, due; MaxAttempts, and the
	// LimitKey of a key that coalesces, are the values that the queue has chosen; Key.Period is not kept. To enqueue
	// another job like it, convert them: queue.Options(job.Options).
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

	// Node is the node of a flow that the job belongs to, as package queue/flow names it; empty: none.
	Node string

	// TraceParent is the trace context that the job was enqueued in (W3C Trace Context); empty without one.
	TraceParent string

	Result json.RawMessage // nil unless completed with one
	// LastError is why the latest attempt that failed, was interrupted or crashed did. Empty once the job is completed,
	// or waits for a signal: [Queue.Attempts] has them all.
	LastError string

	CreatedAt  time.Time
	UpdatedAt  time.Time
	StartedAt  time.Time // of the latest attempt
	FinishedAt time.Time // within a millisecond if many complete at once
}

// maxPrinted is how much of a payload is printed, in bytes.
const maxPrinted = 1000

// String describes the job for logs: its type, id, state and attempt, and the beginning of its payload and of its last
// error.
func (j Job) String() string {
	text := fmt.Sprintf("%s %s %s, attempt %d, payload %s", j.Type, j.ID, j.State, j.Attempt,
		beginning(string(j.Payload)))
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
	return j.LimitKey == "" && j.Sequence == "" && j.Key.Scope != driver.KeyUnfinished && j.Key.Scope != driver.KeyCoalesce
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
	// Payload is anything encoding/json takes, up to [Config].MaxPayload; nil is stored as null. Texts must be UTF-8;
	// bytes that are not belong into a []byte.
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
	// LimitKey names the group that shares a limit. Jobs of several types may have the same. At most 200 bytes. Empty:
	// none.
	LimitKey string
	// UserID is the user of the job, for hosts with several users. At most 200 bytes. Empty: none.
	UserID string
	// Tags are words to find the job by: at most 20, each not empty and of at most 100 bytes.
	Tags []string
	// Timeout bounds how long one attempt may take, instead of [WithTimeout]. At least 1 ms; 0: what WithTimeout says.
	Timeout time.Duration
	// PayloadVersion is the version of the payload's form. 0: what the payload says, if it is [Versioned].
	PayloadVersion int
	// Sequence names a line of jobs that run one after the other, in the order in which they were enqueued. The next one
	// begins when this one has ended in the database: a handler that has called [Attempt.Complete], or whose job was
	// canceled, may still be returning. A job of a flow has none. At most 200 bytes. Empty: none.
	Sequence string
	// SequenceGoesOn has the next job of the Sequence begin although this one has failed for good. False: the Sequence
	// stops until this one is retried or deleted.
	SequenceGoesOn bool
}

// An EnqueueResult says which job an enqueue has stored or found.
type EnqueueResult struct {
	ID string
	// Duplicate: the key was taken, nothing was written, and ID is the job that holds the key.
	Duplicate bool
	// Difference is the first difference between the payloads where a duplicate has another one than the job that holds
	// the key, such as `payload.to is "ann" there, "bob" here`. Empty: they are the same.
	Difference string
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
	Kind       string // KindRunning, KindCompleted, KindFailed, KindInterrupted, KindCrashed, KindWaiting or KindCanceled
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
	// KindWaiting: the handler waits for a signal, or sleeps.
	KindWaiting = driver.KindWaiting
)

func (j *NewJob) validate() error {
	switch {
	case j.Type == "":
		return fmt.Errorf("%w: Type is empty", ErrInvalidJob)
	case j.Type == driver.AllTypes:
		return fmt.Errorf("%w: Type is %q, which stands for all types (ForAll)", ErrInvalidJob, driver.AllTypes)
	case j.Priority < math.MinInt32 || j.Priority > math.MaxInt32:
		return fmt.Errorf("%w: Priority is %d; it must fit 32 bits", ErrInvalidJob, j.Priority)
	case j.Timeout != 0 && j.Timeout < time.Millisecond:
		return fmt.Errorf("%w: Timeout is %v; it must be at least 1ms", ErrInvalidJob, j.Timeout)
	case j.PayloadVersion < 0 || j.PayloadVersion > math.MaxInt32:
		return fmt.Errorf("%w: PayloadVersion is %d; it must be within 1 and %d", ErrInvalidJob, j.PayloadVersion,
			math.MaxInt32)
	case j.MaxAttempts < 0 || j.MaxAttempts > maxMaxAttempts:
		return fmt.Errorf("%w: MaxAttempts is %d; it must be within 1 and %d", ErrInvalidJob, j.MaxAttempts,
			maxMaxAttempts)
	}
	switch coalesces := j.Key.Scope == driver.KeyCoalesce; {
	case coalesces && j.LimitKey == driver.CoalescePrefix+j.Key.Name: // as a stored job has them
	case strings.HasPrefix(j.LimitKey, driver.CoalescePrefix):
		return fmt.Errorf("%w: LimitKey %q begins with %q, which is the queue's own", ErrInvalidJob, cutID(j.LimitKey),
			driver.CoalescePrefix)
	case coalesces && j.LimitKey != "":
		return fmt.Errorf("%w: a job with a Key of scope coalesce has no LimitKey of its own (%q)", ErrInvalidJob,
			cutID(j.LimitKey))
	}
	for _, err := range []error{
		j.validTimes(), validText("Type", j.Type, maxNameLength), validText("LimitKey", j.LimitKey, maxNameLength),
		validText("UserID", j.UserID, maxNameLength),
		validText("Sequence", j.Sequence, maxNameLength), validTags(j.Tags), validKey(j.Key),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func (j *NewJob) validTimes() error {
	if err := validTime(ErrInvalidJob, "NotBefore", j.NotBefore); err != nil {
		return err
	}
	if err := validTime(ErrInvalidJob, "ExpiresAt", j.ExpiresAt); err != nil {
		return err
	}
	if !j.ExpiresAt.IsZero() && j.ExpiresAt.Before(j.NotBefore) {
		return fmt.Errorf("%w: ExpiresAt (%v) is before NotBefore (%v): the job could never run", ErrInvalidJob,
			j.ExpiresAt, j.NotBefore)
	}
	return nil
}

func validTags(tags []string) error {
	if len(tags) > maxTags {
		return fmt.Errorf("%w: there are %d Tags; at most %d are allowed", ErrInvalidJob, len(tags), maxTags)
	}
	for _, tag := range tags {
		if tag == "" {
			return fmt.Errorf("%w: one of the Tags is empty", ErrInvalidJob)
		}
		if err := validText("Tags", tag, maxTagLength); err != nil {
			return err
		}
	}
	return nil
}

const (
	defaultMaxAttempts = 5
	maxMaxAttempts     = 1000
	maxNameLength      = 200
	maxKeyLength       = 1000
	maxTags            = 20
	maxTagLength       = 100
	defaultMaxPayload  = 1 << 20
	maxMaxPayload      = 64 << 20 // PostgreSQL takes 1 GiB in a statement, SQLite 1 GB in a value
)

// lastInstant is the last instant that is stored in a fixed width; the first is the zero time.
var lastInstant = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)

func validTime(kind error, field string, t time.Time) error {
	if t.Before(time.Time{}) || t.After(lastInstant) {
		return fmt.Errorf("%w: %s is %v; it must be within the years 1 and 9999", kind, field, t)
	}
	return nil
}

// validContext refuses a nil context. Package database/sql panics on one, some of its calls with the pool's lock held:
// whoever recovered from that would wait for ever at the next call.
func validContext(ctx context.Context) error {
	if ctx == nil {
		return driver.ErrNilContext
	}
	return nil
}

func validMaxPayload(bytes int) error {
	if bytes < 1 || bytes > maxMaxPayload {
		return fmt.Errorf("MaxPayload is %d; it must be within 1 and %d", bytes, maxMaxPayload)
	}
	return nil
}

// validText reports whether every database takes s as text, and s is no longer than a name should be.
func validText(field, s string, limit int) error { return validTextOf(ErrInvalidJob, field, s, limit) }

func validTextOf(kind error, field, s string, limit int) error {
	switch {
	case len(s) > limit:
		return fmt.Errorf("%w: %s has %d bytes; at most %d are allowed", kind, field, len(s), limit)
	case !isText(s):
		return noText(kind, field, s)
	}
	return nil
}

// isText reports whether every database takes s as text.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

func noText(kind error, field, s string) error {
	return fmt.Errorf("%w: %s %q holds bytes that are no text", kind, field, s)
}

// lookup returns the id or name to query. Invalid UTF-8 matches no row, and neither does the empty string.
func lookup(id string) string {
	if isText(id) {
		return id
	}
	return ""
}

func validTypes(types []string) error {
	for _, name := range types {
		if name == "" || validText("Types", name, maxNameLength) != nil {
			return fmt.Errorf("one of Types is %q; a type is a text of 1 to %d bytes", name, maxNameLength)
		}
	}
	return nil
}
