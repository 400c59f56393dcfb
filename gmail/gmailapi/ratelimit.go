package gmailapi

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// A rateLimiter bounds the concurrent calls and the units a minute, and refuses calls while Gmail has asked the client
// to wait. A nil one is open.
type rateLimiter struct {
	costs   map[Method]int
	budget  budget
	slots   int64
	running *semaphore.Weighted // has slots
	spare   int                 // units that a call that can wait leaves to others

	mu     sync.Mutex
	closed time.Time // no call before this
	unsent time.Time // no call that sends before this
}

// A budget is the units that may be spent.
type budget interface {
	// take waits until the units may be spent, and returns the function to call when the call that spends them has ended.
	take(ctx context.Context, units int) (end func(), err error)
	// wait estimates how long take would wait for the units.
	wait(units int) time.Duration
	// shares is among how many processes the account's concurrency is divided.
	shares() int
	// close announces to the other processes that Gmail wants no calls for the given time.
	close(wait time.Duration)
}

func newGate(limits Limits) (*rateLimiter, error) {
	return limits.gate(func(l Limits) budget { return newLocalBudget(l, time.Minute) })
}

// Validate reports the first limit that is out of its bounds, by its name.
func (l Limits) Validate() error {
	_, err := newGate(l)
	return err
}

// gate makes a rateLimiter, nil where there are no limits.
func (l Limits) gate(budgetOf func(Limits) budget) (*rateLimiter, error) {
	if l.Unlimited {
		return nil, l.unset()
	}
	l = l.withDefaults()
	if err := l.validate(); err != nil {
		return nil, err
	}
	return &rateLimiter{
		costs: l.Costs, budget: budgetOf(l), slots: int64(l.Concurrent), running: semaphore.NewWeighted(int64(l.Concurrent)),
		spare: l.Burst / 6,
	}, nil
}

// enter waits until the call may be made, and returns a function to call when it has ended. It does not wait for a
// Retry-After: the job can be deferred, so that its worker is free. The caller sets the operation in the errors.
func (g *rateLimiter) enter(ctx context.Context, method Method) (leave func(), err error) {
	if g == nil {
		return func() {}, nil
	}
	if err := g.refusal(method); err != nil {
		return nil, err
	}
	weight := min(int64(g.budget.shares()), g.slots)
	if err := g.running.Acquire(ctx, weight); err != nil {
		return nil, err
	}
	end, err := g.budget.take(ctx, g.costs[method])
	if err != nil {
		g.running.Release(weight)
		g.shut(method, err)
		return nil, err
	}
	leave = func() {
		end()
		g.running.Release(weight)
	}
	if err := g.refusal(method); err != nil { // Gmail has said so meanwhile
		leave()
		return nil, err
	}
	return leave, nil
}

// wait estimates how long the calls would wait together; see [Client.QuotaWait].
func (g *rateLimiter) wait(canWait bool, calls []Method) time.Duration {
	if g == nil {
		return 0
	}
	units, refused := 0, time.Duration(0)
	for _, method := range calls {
		units += g.costs[method]
		if e := (*Error)(nil); errors.As(g.refusal(method), &e) {
			refused = max(refused, e.RetryAfter)
		}
	}
	if units > 0 && canWait {
		units += g.spare
	}
	return max(refused, g.budget.wait(units))
}

// refusal is the error of calls that Gmail wants later.
func (g *rateLimiter) refusal(method Method) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	wait := time.Until(g.closed)
	if method.sends() {
		wait = max(wait, time.Until(g.unsent))
	}
	if wait > 0 {
		return toldToWait(wait)
	}
	return nil
}

func toldToWait(wait time.Duration) error {
	return &Error{Class: ClassRateLimited, RetryAfter: wait, Err: errors.New("not asked: Gmail has told us to wait")}
}

// note closes the gate, here and in the other processes, if Gmail has said for how long. The limit on sending, which
// can last for a day, stops no other calls; the other processes find it by a call of their own.
func (g *rateLimiter) note(method Method, err error) {
	if g == nil {
		return
	}
	if wait := g.shut(method, err); wait > 0 {
		g.budget.close(wait)
	}
}

// shut closes the gate for the time in the error, and returns it; 0 if nothing changes for the other processes.
func (g *rateLimiter) shut(method Method, err error) time.Duration {
	var e *Error
	if !errors.As(err, &e) || !e.Class.Defers() || e.RetryAfter == 0 {
		return 0
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	until := time.Now().Add(e.RetryAfter)
	switch {
	case e.ofSending && method.sends():
		if until.After(g.unsent) {
			g.unsent = until
		}
		return 0
	case !until.After(g.closed):
		return 0
	}
	g.closed = until
	return e.RetryAfter
}
