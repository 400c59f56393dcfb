package driver

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// A Signaler stores the signals that are sent to jobs, and what handlers await. The signals of one name of a job are
// numbered from 1: the nth is the answer that the nth Await of a handler gets, in every attempt.
type Signaler interface {
	// AddSignal stores a signal: as the answer of the first one of its name that is awaited and has none, else behind
	// all others of its name. It reports whether the job is queued because it waits for just this signal; the caller
	// hastens it then. It returns [ErrFinished], [ErrJobNotFound], or [ErrJobMoves] for a job with [HoldMoving], and
	// keeps others from changing the job until the transaction ends.
	AddSignal(ctx context.Context, tx *WriteTx, s Signal) (awaited bool, err error)
	// AwaitSignal returns the signal with the name and number of want. If it has not been sent, it stores that the
	// attempt of the lease waits for it from want.AwaitedAt until want.Until; zero: for ever. What an earlier attempt has
	// stored stays, and is answered without a payload if its time is over at want.AwaitedAt. It returns the errors of
	// Finish if the lease is not held.
	AwaitSignal(ctx context.Context, tx *WriteTx, lease Lease, want Signal) (Signal, error)
	// Signals returns the signals of a job by name and number.
	Signals(ctx context.Context, jobID string) ([]Signal, error)
}

// A Signal is sent to a job, or awaited by its handler, or both.
type Signal struct {
	JobID      string
	Name       string
	Number     int       // among those of the same name, from 1: the nth is for the nth Await of the handler
	Attempt    int       // the attempt that waits for it, or has taken it; 0: none has asked for it
	AwaitedAt  time.Time // when it was first asked for; zero: it was not
	Until      time.Time // when the wait ends, or would have; zero: for ever
	AnsweredAt time.Time // when it was sent, or the wait was over; zero while it is awaited
	// Payload is what was sent with it; nil if it has not come.
	Payload json.RawMessage
}

// Never is the NotBefore of a job that waits for a signal without a bound.
var Never = time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC)

// ErrJobMoves reports that the job is being moved to another database.
var ErrJobMoves = errors.New("the job is being moved to another database: try again, there if it is no longer here")
