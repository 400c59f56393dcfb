package gmail

import (
	"errors"
	"time"

	"github.com/postroom-go/postroom/queue"
)

// How long a job is put off when Gmail does not say for how long.
const (
	// Gmail's budgets are counted by the minute.
	rateLimitDelay = 30 * time.Second
	// Until a person has signed in again, asking more often is of no use.
	reauthorizeDelay = time.Hour
)

// Verdict turns an error of a [Client] into what a job's handler returns for it:
//
//   - what is nobody's failure (rate limits, a grant to be renewed) puts the job off and spends no attempt;
//   - what no retry mends (a message that is gone, a forbidden or invalid request) fails the job at once;
//   - the rest (server, network, 401, failed preconditions) is retried, after the time that Gmail asks for if it does.
//
// An error that holds no [Error] is returned as it is; nil is nil.
func Verdict(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Class.spares():
		return queue.Defer(err, e.delay())
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
	case ClassGone, ClassNotFound, ClassForbidden, ClassInvalid:
		return true
	}
	return false
}

// spares: the attempt that met a class like this is not counted as failed.
func (c Class) spares() bool {
	return c == ClassRateLimited || c == ClassDailyLimit || c == ClassReauthorize
}

func (e *Error) delay() time.Duration {
	switch {
	case e.RetryAfter > 0:
		return e.RetryAfter
	case e.Class == ClassReauthorize:
		return reauthorizeDelay
	}
	return rateLimitDelay
}
