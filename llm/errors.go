package llm

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue"
)

// The reasons of an [*Error]; match them with errors.Is.
var (
	// ErrRateLimited reports that calls or tokens come faster than the provider allows.
	ErrRateLimited = errors.New("rate limited")
	// ErrOverloaded reports that the provider has no room now, for anybody.
	ErrOverloaded = errors.New("overloaded")
	// ErrUnavailable reports that the provider did not answer, in time or whole, or failed.
	ErrUnavailable = errors.New("unavailable")
	// ErrBadKey reports that the provider refuses the key.
	ErrBadKey = errors.New("key refused")
	// ErrNoModel reports that the model does not exist, or that there is no provider at the address.
	ErrNoModel = errors.New("no such model")
	// ErrNoCredit reports that the provider wants to be paid first.
	ErrNoCredit = errors.New("out of credit")
	// ErrBudget reports that a budget of [Metered] is spent.
	ErrBudget = errors.New("budget spent")
	// ErrContextTooLong reports that the request is longer than the model reads.
	ErrContextTooLong = errors.New("context too long")
	// ErrAnswerTooLong reports that the answer has more bytes than the client takes.
	ErrAnswerTooLong = errors.New("answer too long")
	// ErrRefused reports that the model or a filter of the provider refuses to answer.
	ErrRefused = errors.New("refused")
	// ErrBadRequest reports that the provider does not take the request.
	ErrBadRequest = errors.New("bad request")
)

var hints = map[error]string{
	ErrBadKey:         "check the key and what it may do",
	ErrNoModel:        "check the name of the model and the base URL",
	ErrNoCredit:       "check the billing of the provider's account",
	ErrBudget:         "raise the budget, or wait for the next day",
	ErrContextTooLong: "use a model that reads more, or show it less",
}

// An Error is a failure of a provider or of an intermediary. It contains no key.
type Error struct {
	Provider string
	Model    string // as the provider names it
	Status   int    // of HTTP; 0 when there was no answer
	Reason   error  // one of the reasons above; nil counts as [ErrUnavailable]
	Code     string // the provider's own code
	// RetryAfter is the delay that the provider asked for; 0 when it named none.
	RetryAfter time.Duration
	RequestID  string
	Usage      Usage  // the usage of the failed call, as of a refusal
	Limits     Limits // after the call
	Hint       string // a hint for people; default that of the reason
	Err        error
}

// reason is never nil.
func (e *Error) reason() error { return cmp.Or(e.Reason, ErrUnavailable) }

// Error formats the provider, the status, the reason, the cause and the hint.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Provider + ": ")
	if e.Status != 0 {
		fmt.Fprintf(&b, "status %d, ", e.Status)
	}
	b.WriteString(e.reason().Error())
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	if hint := cmp.Or(e.Hint, hints[e.reason()]); hint != "" {
		b.WriteString("; " + hint)
	}
	if e.RequestID != "" {
		b.WriteString(" (request " + e.RequestID + ")")
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is makes the error match its reason.
func (e *Error) Is(target error) bool { return target == e.reason() }

// A Class says what to do about a failure.
type Class int

// The classes of failure. The zero Class is Retryable.
const (
	Retryable Class = iota // the provider is down, slow or unreachable: retry
	Deferred               // the request is right and its time is not: wait, without spending an attempt
	Fatal                  // the request stays wrong: do not retry
)

// String returns the name of the class.
func (c Class) String() string {
	switch c {
	case Deferred:
		return "deferred"
	case Fatal:
		return "fatal"
	default:
		return "retryable"
	}
}

// Class returns the class of the failure. A refused key and a wrong name are not faults of the request: they would end
// all jobs of a day, so the jobs wait until a person has changed the settings.
func (e *Error) Class() Class {
	switch e.reason() {
	case ErrRateLimited, ErrBadKey, ErrNoModel, ErrNoCredit, ErrBudget: //nolint:errorlint // a reason is one of the sentinels itself
		return Deferred
	case ErrContextTooLong, ErrAnswerTooLong, ErrRefused, ErrBadRequest:
		return Fatal
	default:
		return Retryable
	}
}

// NeedsPerson reports whether the failure lasts until a person has resolved it with the provider.
func (e *Error) NeedsPerson() bool {
	switch e.reason() {
	case ErrBadKey, ErrNoModel, ErrNoCredit: //nolint:errorlint // as above
		return true
	default:
		return false
	}
}

// Level implements [slog.Leveler], by which package queue logs the deferral of a job. What all mail waits for is logged
// once, as an [Outage], and not for each job.
func (e *Error) Level() slog.Level {
	if e.reason() == ErrBudget || e.NeedsPerson() { //nolint:errorlint // as above
		return slog.LevelDebug
	}
	return slog.LevelInfo
}

// The waits for a failure that names none.
const (
	limitWait  = time.Minute      // providers count by the minute
	personWait = 15 * time.Minute // a person has to act
)

// wait is the delay before the next call.
func (e *Error) wait() time.Duration {
	switch e.reason() {
	case ErrRateLimited: //nolint:errorlint // as above
		return cmp.Or(e.RetryAfter, e.Limits.wait(), limitWait)
	case ErrBadKey, ErrNoModel, ErrNoCredit, ErrBudget:
		return cmp.Or(e.RetryAfter, personWait)
	default:
		return e.RetryAfter
	}
}

// HandlerError turns a client's error into the error that a handler returns: a deferred one defers the job, a fatal one
// ends it, and a RetryAfter sets the time of the retry. Other errors are returned unchanged, and so are retried with
// backoff.
func HandlerError(err error) error { return HandlerErrorBehind(err, 0) }

// HandlerErrorBehind is HandlerError for a job that is to wait longer than others: behind is added to a delay.
func HandlerErrorBehind(err error, behind time.Duration) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Class() == Deferred:
		return queue.Defer(err, e.wait()+behind)
	case e.Class() == Fatal:
		return queue.Fatal(err)
	case e.RetryAfter > 0:
		return queue.RetryAfter(err, e.RetryAfter+behind)
	}
	return err
}
