package llm

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/queue"
)

// A Class is what a provider's failure means for the one who asked.
type Class int

// The classes of failure. The zero value is one that may pass.
const (
	Retryable   Class = iota // the provider is down, slow or unreachable: try again
	RateLimited              // nobody's failure: wait, without spending an attempt
	Fatal                    // the request or the key is wrong: no retry mends it
)

// String is the class in words.
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

// ClassOf is the class of an HTTP status: 429, and 403, which providers use for exhausted quotas, are rate limits; 408,
// 5xx and 0, which is no answer at all, may pass; the rest is fatal.
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

// defaultLimit is the wait for a rate limit that names none: providers count by the minute.
const defaultLimit = time.Minute

// Verdict tells the job queue what a client's error wants done with the job: a rate limit defers it, a fatal error ends
// it, a delay that the provider asked for is kept. Other errors are returned as they are, and so retried with backoff.
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
