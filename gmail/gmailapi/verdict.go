package gmailapi

import (
	"errors"
	"time"

	"github.com/postroom-go/postroom/queue"
)

// The delays of a deferred job when Gmail names none.
const (
	// RateLimitDelay is for Gmail's budgets, which are counted by the minute.
	RateLimitDelay = 30 * time.Second
	// ReauthorizeDelay is for an account that waits for a person, who signs in again or resumes it.
	ReauthorizeDelay = time.Hour
	// noAccessDelay is for a process without access to the account: 1,000 of them are ten days.
	noAccessDelay = 15 * time.Minute
)

// Verdict turns an error of a [Client] into what a job's handler returns for it:
//
//   - a rate limit, a paused account, a grant to be renewed, or one that this process lacks defers the job and spends
//     no attempt;
//   - a failure that no retry mends (a message that is gone, a forbidden or invalid request) fails the job at once;
//   - any other failure (server, network, 401, failed preconditions) is retried, after the time that Gmail asks for,
//     if any.
//
// An error that wraps no [Error] is returned unchanged, and nil as nil.
func Verdict(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Class.Defers():
		return queue.Defer(err, e.Delay())
	case e.Class.fatal():
		return queue.Fatal(err)
	case e.RetryAfter > 0:
		return queue.RetryAfter(err, e.RetryAfter)
	}
	return err
}

// fatal classes stay as they are however often one asks.
func (c Class) fatal() bool {
	switch c {
	case ClassGone, ClassNotFound, ClassForbidden, ClassInvalid, ClassRefused:
		return true
	}
	return false
}

// Defers reports whether an attempt that met this class of error is not counted as failed.
func (c Class) Defers() bool {
	switch c {
	case ClassRateLimited, ClassDailyLimit, ClassReauthorize, ClassNoAccess, ClassPaused:
		return true
	}
	return false
}

// Delay returns how long a job waits after this error: what Gmail has asked for, else the default of the class.
func (e *Error) Delay() time.Duration {
	switch {
	case e.RetryAfter > 0:
		return e.RetryAfter
	case e.Class == ClassReauthorize, e.Class == ClassPaused:
		return ReauthorizeDelay
	case e.Class == ClassNoAccess:
		return noAccessDelay
	}
	return RateLimitDelay
}
