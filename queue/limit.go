package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// ErrInvalidLimit: the value is not a valid limit or target.
var ErrInvalidLimit = errors.New("invalid limit")

// A Target is the set of jobs that is limited or paused. Make one with [ForType], [ForKey], [ForKeyPrefix] or [ForAll].
type Target struct {
	Kind TargetKind
	Name string // of the type, the limit key, or its beginning
}

// A TargetKind says how jobs are chosen.
type TargetKind = driver.TargetKind

// The kinds of targets.
const (
	TargetType      = driver.TargetType
	TargetKey       = driver.TargetKey
	TargetKeyPrefix = driver.TargetKeyPrefix
)

// ForType is the jobs of a type.
func ForType[T ~string](name T) Target { return Target{Kind: TargetType, Name: string(name)} }

// ForKey is the jobs with this limit key, of whatever types; see [Options].
func ForKey(key string) Target { return Target{Kind: TargetKey, Name: key} }

// ForKeyPrefix is the jobs whose limit key has the prefix, each key separately: a limit of 2 for "gmail:" lets two jobs
// of each account run. The limit of a longer prefix takes precedence over that of a shorter one, and that of the key
// itself over both. A pause holds all keys with the prefix, including those with limits of their own.
func ForKeyPrefix(prefix string) Target { return Target{Kind: TargetKeyPrefix, Name: prefix} }

// ForAll is all jobs; they can be paused, not limited.
func ForAll() Target { return Target{Kind: TargetType, Name: driver.AllTypes} }

// A Limit bounds how many jobs of a [Target] run, over all machines. A job of a type and with a key needs capacity
// under both limits.
type Limit struct {
	// MaxRunning is the maximum number of running jobs. A job runs from its claim to its end, or until a dead worker's
	// jobs are taken back. Zero: no limit; at most 1,000,000.
	MaxRunning int
	// Rate is how many start in each Per, evenly: one every Per ÷ Rate. A start is a claim; a job that is tried again
	// starts again. Zero: as many as like; at most one a microsecond, and 1,000,000,000.
	Rate int
	// Per is the time that Rate is about: from 1 ms to 366 days; zero when Rate is.
	Per time.Duration
	// Burst is how many may start at once after a quiet time. In any period of length Per at most Rate + Burst − 1
	// start. Default 1: never more than Rate; at most Rate.
	Burst int
}

// A LimitStatus is a limit that is set, or a pause.
type LimitStatus struct {
	Target
	Limit       // zero when it is only paused
	Paused bool // by its own name; a pause of [ForAll] or a prefix is not included
}

const (
	maxRunningLimit = 1_000_000
	maxRate         = 1_000_000_000
	minPer          = time.Millisecond
	maxPer          = 366 * 24 * time.Hour
)

// SetLimit limits the target from now on, replacing its earlier limit. Running jobs continue, even if there are more
// than the limit allows. A pause stays. Jobs that the limit holds back are kept apart and slow no others; if very many
// are queued, moving them takes the database a while.
func (q *Queue) SetLimit(ctx context.Context, target Target, limit Limit) error {
	return q.writeAgain(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		return q.SetLimitTx(ctx, tx, target,
			limit)
	})
}

// SetLimitTx is SetLimit as part of a transaction.
func (q *Queue) SetLimitTx(ctx context.Context, tx Tx, target Target, limit Limit) error {
	w, leave, err := q.adopt(ctx, tx)
	if err != nil {
		return wrap("set limit", "", err)
	}
	defer leave()
	if err := errors.Join(target.validate(), limit.validate()); err != nil {
		return wrap("set limit", "", err)
	}
	if target == ForAll() {
		return wrap("set limit", "", fmt.Errorf("%w: all jobs can be paused, not limited: limit their types",
			ErrInvalidLimit))
	}
	if limit.Rate > 0 {
		limit.Burst = max(1, limit.Burst)
	}
	return q.limited(ctx, w, "set limit", q.driver.SetLimit(ctx, w, driver.Target(target), (*driver.Limit)(&limit)))
}

// RemoveLimit lets the jobs of the target run freely again, unless another limit is about them or they are paused. It
// is no error when there is no limit.
func (q *Queue) RemoveLimit(ctx context.Context, target Target) error {
	return q.writeAgain(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		return q.RemoveLimitTx(ctx, tx, target)
	})
}

// RemoveLimitTx is RemoveLimit as part of a transaction.
func (q *Queue) RemoveLimitTx(ctx context.Context, tx Tx, target Target) error {
	w, leave, err := q.adopt(ctx, tx)
	if err != nil {
		return wrap("remove limit", "", err)
	}
	defer leave()
	if err := target.validate(); err != nil {
		return wrap("remove limit", "", err)
	}
	return q.limited(ctx, w, "remove limit", q.driver.SetLimit(ctx, w, driver.Target(target), nil))
}

// Pause keeps the jobs of the target from being claimed, on all machines, until [Queue.Resume]. Running jobs continue,
// and jobs can be enqueued. A pause is durable. Pausing again is no error.
func (q *Queue) Pause(ctx context.Context, target Target) error {
	return q.writeAgain(ctx, func(ctx context.Context, tx *driver.WriteTx) error { return q.PauseTx(ctx, tx, target) })
}

// PauseTx is Pause as part of a transaction.
func (q *Queue) PauseTx(ctx context.Context, tx Tx, target Target) error {
	w, leave, err := q.adopt(ctx, tx)
	if err != nil {
		return wrap("pause", "", err)
	}
	defer leave()
	return q.setPaused(ctx, w, "pause", target, true)
}

// Resume ends the pause of exactly this target: a type stays paused while [ForAll] is. It is no error when there is
// none.
func (q *Queue) Resume(ctx context.Context, target Target) error {
	return q.writeAgain(ctx, func(ctx context.Context, tx *driver.WriteTx) error { return q.ResumeTx(ctx, tx, target) })
}

// ResumeTx is Resume as part of a transaction.
func (q *Queue) ResumeTx(ctx context.Context, tx Tx, target Target) error {
	w, leave, err := q.adopt(ctx, tx)
	if err != nil {
		return wrap("resume", "", err)
	}
	defer leave()
	return q.setPaused(ctx, w, "resume", target, false)
}

// Limits lists the limited or paused targets, by kind and name.
func (q *Queue) Limits(ctx context.Context) ([]LimitStatus, error) {
	if err := validContext(ctx); err != nil {
		return nil, wrap("limits", "", err)
	}
	stored, err := q.driver.Limits(ctx)
	limits := mapped(stored, func(l driver.LimitStatus) LimitStatus {
		return LimitStatus{Target: Target(l.Target), Limit: Limit(l.Limit), Paused: l.Paused}
	})
	return limits, wrap("limits", "", err)
}

func (q *Queue) setPaused(ctx context.Context, tx *driver.WriteTx, op string, target Target, paused bool) error {
	if err := target.validate(); err != nil {
		return wrap(op, "", err)
	}
	return q.limited(ctx, tx, op, q.driver.SetPaused(ctx, tx, driver.Target(target), paused))
}

// limited wakes the dispatchers: there may be capacity now.
func (q *Queue) limited(ctx context.Context, tx *driver.WriteTx, op string, err error) error {
	if err == nil {
		err = q.driver.Notify(ctx, tx)
	}
	return wrap(op, "", err)
}

func (t Target) validate() error {
	switch {
	case t.Kind != TargetType && t.Kind != TargetKey && t.Kind != TargetKeyPrefix:
		return fmt.Errorf("%w: Target.Kind is %q; use ForType, ForKey, ForKeyPrefix or ForAll", ErrInvalidLimit, t.Kind)
	case t.Name == "":
		return fmt.Errorf("%w: Target.Name is empty", ErrInvalidLimit)
	}
	if t.Kind != TargetType && strings.HasPrefix(t.Name, driver.CoalescePrefix) {
		return fmt.Errorf("%w: Target.Name %q begins with %q, which is the queue's own", ErrInvalidLimit, cutID(t.Name),
			driver.CoalescePrefix)
	}
	return validTextOf(ErrInvalidLimit, "Target.Name", t.Name, maxNameLength)
}

func (l Limit) validate() error {
	switch {
	case l.MaxRunning < 0 || l.MaxRunning > maxRunningLimit:
		return fmt.Errorf("%w: Limit.MaxRunning is %d; it must be within 0 and %d", ErrInvalidLimit, l.MaxRunning,
			maxRunningLimit)
	case l.Rate < 0 || l.Rate > maxRate:
		return fmt.Errorf("%w: Limit.Rate is %d; it must be within 0 and %d", ErrInvalidLimit, l.Rate, maxRate)
	case l.Rate == 0 && (l.Per != 0 || l.Burst != 0):
		return fmt.Errorf("%w: Limit.Rate is 0, but Per (%v) or Burst (%d) is not", ErrInvalidLimit, l.Per, l.Burst)
	case l.Rate == 0 && l.MaxRunning == 0:
		return fmt.Errorf(
			"%w: Limit.MaxRunning and Limit.Rate are both 0; use RemoveLimit to lift a limit, Pause to let nothing run",
			ErrInvalidLimit)
	case l.Rate == 0:
		return nil
	case l.Per < minPer || l.Per > maxPer:
		return fmt.Errorf("%w: Limit.Per is %v; it must be within %v and %v", ErrInvalidLimit, l.Per, minPer, maxPer)
	case int64(l.Rate) > l.Per.Microseconds():
		return fmt.Errorf("%w: Limit.Rate is %d in %v; it must be at most one a microsecond", ErrInvalidLimit, l.Rate,
			l.Per)
	case l.Burst < 0 || l.Burst > l.Rate:
		return fmt.Errorf("%w: Limit.Burst is %d; it must be within 0 and Limit.Rate (%d)", ErrInvalidLimit, l.Burst,
			l.Rate)
	}
	return nil
}
