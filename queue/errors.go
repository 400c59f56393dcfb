package queue

import (
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// The conditions a caller can act on; test for them with errors.Is.
var (
	// ErrJobNotFound: no job has the id.
	ErrJobNotFound = driver.ErrJobNotFound
	// ErrNotRunning: the job is not running, so nothing about its run can be written.
	ErrNotRunning = driver.ErrNotRunning
	// ErrLeaseLost: the attempt no longer holds the job, and may write nothing about it. Another attempt may hold it,
	// or none: its worker was taken for dead, or could not say for a whole lease that it lives.
	ErrLeaseLost = driver.ErrLeaseLost
	// ErrFinished: the job has completed, failed or been canceled, and cannot be canceled or rescheduled.
	ErrFinished = driver.ErrFinished
	// ErrNotFinished: the job is queued or running, and so cannot be retried.
	ErrNotFinished = driver.ErrNotFinished
	// ErrKeyConflict: the idempotency key is taken by a job with another type, or payload: see [Config].StrictKeys.
	ErrKeyConflict = driver.ErrKeyConflict
	// ErrStepFinished: the step has its result, and no more progress to be saved.
	ErrStepFinished = driver.ErrStepFinished
	// ErrNestedWrite: a write was begun inside another; use the variant that takes the transaction.
	ErrNestedWrite = driver.ErrNestedWrite
	// ErrTooLarge: a result, the result of a step, or a cursor has more bytes than [Config].MaxPayload allows.
	ErrTooLarge = errors.New("too large")
	// ErrInvalidJob: the value to enqueue is not a valid job.
	ErrInvalidJob = errors.New("invalid job")
	// ErrUnknownType: [Config].Types does not have the type.
	ErrUnknownType = errors.New("unknown job type")
	// ErrTimeout is the cause of a handler's context when the time of [WithTimeout] is over.
	ErrTimeout = errors.New("handler timed out")
	// ErrShutdown is the cause of a handler's context when the dispatcher gives up waiting for it.
	ErrShutdown = errors.New("dispatcher is shutting down")
	// ErrCanceled is the cause of a handler's context when its job was canceled.
	ErrCanceled = errors.New("job was canceled")
)

// An Error names the operation that failed, the job, and a hint for people, if there is one.
type Error struct {
	Op    string // enqueue, claim, complete, …
	JobID string // empty when it is not about one job
	Hint  string // empty when there is nothing to do
	Err   error
}

// Error formats the operation, the job, the cause and the hint.
func (e *Error) Error() string {
	s := "queue: " + e.Op
	if e.JobID != "" {
		s += " " + cutID(e.JobID)
	}
	s += ": " + e.Err.Error()
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// maxIDText is the number of bytes of an id in an error: ids of the queue have 36.
const maxIDText = 100

// cutID shortens an id or a name of a caller for an error.
func cutID(id string) string {
	if len(id) > maxIDText {
		id = strings.ToValidUTF8(id[:maxIDText], "") + "…"
	}
	return id
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func wrap(op, jobID string, err error) error {
	if err == nil {
		return nil
	}
	if e := (*Error)(nil); errors.As(err, &e) && e.Op == op {
		return err // it says so already
	}
	if errors.Is(err, sql.ErrTxDone) && !errors.Is(err, driver.ErrNoTransaction) {
		err = fmt.Errorf("%w: %w", driver.ErrNoTransaction, err)
	}
	return &Error{Op: op, JobID: jobID, Hint: hint(op, err), Err: err}
}

var missing = regexp.MustCompile(`no such table: (main\.)?\w*job|relation "\w+\.job`)

// hint returns advice if the cause alone does not say what to do.
func hint(op string, err error) string {
	switch {
	case errors.Is(err, ErrNestedWrite) && op == "enqueue":
		return "EnqueueTx or EnqueueManyTx"
	case errors.Is(err, sql.ErrTxDone):
		return "call it before the transaction's Commit or Rollback, or before the function given to Write returns"
	}
	if driver.Forbidden(err) {
		return "grant its role what it needs: see the files of queue/postgres/grants"
	}
	switch text := err.Error(); {
	case strings.Contains(text, `prepared statement "stmtcache`):
		return "behind PgBouncer, or another pooler that shares connections, set postgres.Config.Pooled"
	case strings.Contains(text, "already exists"):
		return ""
	case missing.MatchString(text): // not by the search_path
		return driver.ErrNoTables.Error()
	case errors.Is(err, driver.ErrForeignTables):
		return ""
	case strings.Contains(text, `relation "job`):
		return driver.ErrNoTables.Error() + ", or correct the connection's search_path"
	}
	return ""
}

// A verdict is what a handler's error requests for the job instead of a retry.
type verdict struct {
	err      error
	fatal    bool
	canceled bool
	delay    time.Duration
	// spared: the attempt counts as interrupted, not as failed.
	spared bool
}

func (v *verdict) Error() string { return v.err.Error() }
func (v *verdict) Unwrap() error { return v.err }

// Fatal marks err as permanent: the job fails at once. A nil err stays nil.
func Fatal(err error) error {
	if err == nil {
		return nil
	}
	return &verdict{err: err, fatal: true}
}

// Cancel marks err as the reason why the job is pointless, for example because its subject is gone: the job ends
// canceled at once, and does not fail. A nil err stays nil. To cancel another job, use [Queue.Cancel].
func Cancel(err error) error {
	if err == nil {
		return nil
	}
	return &verdict{err: err, canceled: true}
}

// RetryAfter marks err as a failure whose retry waits for delay, for example as a server asked, instead of the policy's
// backoff. With a delay of 0 or less the policy applies. A nil err stays nil.
func RetryAfter(err error, delay time.Duration) error {
	if err == nil {
		return nil
	}
	return &verdict{err: err, delay: delay}
}

var errDeferred = errors.New("deferred")

// Defer marks err as an interruption: the job runs again after delay, or at once if delay is 0 or less, and no attempt
// is spent. It is for conditions that are no failure, such as a rate limit. [Budget] bounds how often one job may do
// so. The log has a line of level Info, or of that of an err that is a [slog.Leveler]. A nil err defers as well.
func Defer(err error, delay time.Duration) error {
	if err == nil {
		err = errDeferred
	}
	return &verdict{err: err, delay: delay, spared: true}
}

// A PanicError is the error of a handler that panicked or called runtime.Goexit. It is a failure that is retried.
type PanicError struct {
	Value any // nil for Goexit
	Stack string
}

// Error formats the panic's value.
func (e *PanicError) Error() string {
	if e.Value == nil {
		return "handler called runtime.Goexit"
	}
	return fmt.Sprintf("handler panicked: %v", e.Value)
}
