package llm

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/queue"
)

// A Class says what to do about a provider's failure.
type Class int

// The classes of failure. The zero Class is Retryable.
const (
	Retryable   Class = iota // the provider is down, slow or unreachable: retry
	RateLimited              // wait, without spending an attempt
	Fatal                    // the request or the key is wrong: do not retry
)

// String returns the name of the class.
func (c Class) String() string {
	switch c {
	case RateLimited:
		return "rate limited"
	case Fatal:
		return "fatal"
	default:
		return "retryable"
	}
}

// ClassOf returns the class of an HTTP status: 429, and 403, which providers use for exhausted quotas, are RateLimited;
// 408, 5xx and 0, which stands for no answer, are Retryable; all others are Fatal.
func ClassOf(status int) Class {
	switch {
	case status == 429 || status == 403:
		return RateLimited
	case status == 0 || status == 408 || status >= 500:
		return Retryable
	default:
		return Fatal
	}
}

// An Error is a provider's failure.
type Error struct {
	Provider string
	Status   int // of HTTP; 0 when there was no answer
	Class    Class
	// RetryAfter is the delay that the provider asked for; 0 when it named none.
	RetryAfter time.Duration
	Err        error
}

// Error formats the provider, the status, the class and the cause.
func (e *Error) Error() string {
	status := ""
	if e.Status != 0 {
		status = fmt.Sprintf("status %d, ", e.Status)
	}
	return fmt.Sprintf("%s: %s%s: %v", e.Provider, status, e.Class, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// defaultLimit is the wait for a rate limit without a RetryAfter: providers count by the minute.
const defaultLimit = time.Minute

// Verdict turns a client's error into what a handler returns for it: a rate limit defers the job, a fatal error ends it,
// and a RetryAfter sets the time of the retry. Other errors are returned unchanged, and so are retried with backoff.
func Verdict(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Class == RateLimited:
		return queue.Defer(err, cmp.Or(e.RetryAfter, defaultLimit))
	case e.Class == Fatal:
		return queue.Fatal(err)
	case e.RetryAfter > 0:
		return queue.RetryAfter(err, e.RetryAfter)
	}
	return err
}
