package gmailapi

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A localBudget keeps the units spent in any minute within a budget, whenever Gmail's own minutes begin and however
// long calls take.
//
// The units of a call count from before it is sent until a minute after its answer. Gmail has counted them at some
// time in between. So when the last call of any minute of Gmail's began, the others of that minute counted here as
// well, and all of them together are within the budget. A pace of the budget spreads the calls over the minute: after
// a pause at most Burst units are spent at once.
type localBudget struct {
	limit  int
	length time.Duration // a minute
	pace   *rate.Limiter
	turn   chan struct{} // a queue: the others wait in order

	mu      sync.Mutex
	running int     // units of calls under way
	spent   int     // the sum of ended
	ended   []ended // oldest first
}

// ended is a call that counts until a minute after its end.
type ended struct {
	until time.Time
	units int
}

func newLocalBudget(l Limits, minute time.Duration) *localBudget {
	perSecond := float64(l.UnitsPerMinute) / minute.Seconds()
	return &localBudget{
		limit: l.UnitsPerMinute, length: minute, pace: rate.NewLimiter(rate.Limit(perSecond), l.Burst),
		turn: make(chan struct{}, 1),
	}
}

var errNoBudget = errors.New("the budget of quota units allows the call only after its deadline")

func (w *localBudget) take(ctx context.Context, units int) (end func(), err error) {
	if err := w.pace.WaitN(ctx, units); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &Error{Class: ClassRateLimited, Err: errNoBudget}
	}
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for {
		wait := w.tryTake(units)
		if wait == 0 {
			return func() { w.end(units) }, nil
		}
		if err := pauseFor(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// tryTake takes the units, or returns for how long at least it cannot.
func (w *localBudget) tryTake(units int) (wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if wait = w.waitLocked(units); wait == 0 {
		w.running += units
	}
	return wait
}

// waitLocked returns for how long at least the minute has not got the units.
func (w *localBudget) waitLocked(units int) time.Duration {
	now := time.Now()
	for len(w.ended) > 0 && !now.Before(w.ended[0].until) {
		w.spent -= w.ended[0].units
		w.ended = w.ended[1:]
	}
	excess := w.spent + w.running + units - w.limit
	if excess <= 0 {
		return 0
	}
	for _, e := range w.ended {
		if excess -= e.units; excess <= 0 {
			return e.until.Sub(now)
		}
	}
	return w.length // calls in progress count for longer
}

func (w *localBudget) wait(units int) time.Duration {
	units = min(units, w.pace.Burst())
	missing := float64(units) - w.pace.Tokens()
	paced := time.Duration(missing / float64(w.pace.Limit()) * float64(time.Second))
	w.mu.Lock()
	defer w.mu.Unlock()
	return max(0, paced, w.waitLocked(units))
}

func (w *localBudget) end(units int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running -= units
	w.spent += units
	w.ended = append(w.ended, ended{time.Now().Add(w.length), units})
}

func (w *localBudget) shares() int         { return 1 }
func (w *localBudget) close(time.Duration) {}

// pauseFor waits. If ctx ends sooner, it returns its error at once.
func pauseFor(ctx context.Context, wait time.Duration) error {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
		return &Error{Class: ClassRateLimited, Err: errNoBudget}
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
