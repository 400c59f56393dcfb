package gmail

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A Method names one of Gmail's API methods, as its quota table does.
type Method string

// The methods that a [Client] calls.
const (
	MethodGetProfile    Method = "getProfile"
	MethodListLabels    Method = "labels.list"
	MethodCreateLabel   Method = "labels.create"
	MethodListHistory   Method = "history.list"
	MethodListMessages  Method = "messages.list"
	MethodGetMessage    Method = "messages.get"
	MethodModifyMessage Method = "messages.modify"
	MethodTrash         Method = "messages.trash"
	MethodUntrash       Method = "messages.untrash"
	MethodDelete        Method = "messages.delete"
)

// DefaultCosts returns the quota units of each method, as Gmail counts them since 1 May 2026.
func DefaultCosts() map[Method]int {
	return map[Method]int{
		MethodGetProfile: 1, MethodListLabels: 1, MethodCreateLabel: 5, MethodListHistory: 2, MethodListMessages: 5,
		MethodGetMessage: 20, MethodModifyMessage: 5, MethodTrash: 20, MethodUntrash: 5, MethodDelete: 10,
	}
}

// Limits keep the client of one account within Gmail's quota. The zero Limits use the defaults. They hold for one
// process: processes that serve the same account share its quota and should each have a part of it.
type Limits struct {
	// Unlimited sets no limit, for tests and for hosts that limit the calls themselves. The client then ignores Gmail's
	// Retry-After as well, and the other fields must be zero. Default false.
	Unlimited bool

	// UnitsPerMinute is the account's budget. Default 6000, what Gmail gives new projects for each user; above Burst.
	UnitsPerMinute int
	// Burst is the number of units that may be spent at once after a pause. They are part of UnitsPerMinute. Default: the
	// larger of a tenth of UnitsPerMinute and the highest cost of a method; at least that cost, and less than
	// UnitsPerMinute.
	Burst int
	// Concurrent is the maximum number of calls that run at the same time. Default 8; it must not be negative.
	Concurrent int
	// Costs are the units of each method, at most Burst; 0 makes a method free. A method that is missing costs what
	// [DefaultCosts] says.
	Costs map[Method]int
}

func (l Limits) withDefaults() Limits {
	if l.UnitsPerMinute == 0 {
		l.UnitsPerMinute = 6000
	}
	if l.Concurrent == 0 {
		l.Concurrent = 8
	}
	costs := DefaultCosts()
	maps.Copy(costs, l.Costs)
	l.Costs = costs
	if l.Burst == 0 {
		l.Burst = max(l.UnitsPerMinute/10, slices.Max(append(slices.Collect(maps.Values(l.Costs)), 1)))
	}
	return l
}

func (l Limits) validate() error {
	switch {
	case l.UnitsPerMinute < 0:
		return fmt.Errorf("Limits.UnitsPerMinute is %d; it must be positive", l.UnitsPerMinute)
	case l.Burst < 0 || l.Burst >= l.UnitsPerMinute:
		return fmt.Errorf("Limits.Burst is %d; it must be positive and less than UnitsPerMinute (%d)", l.Burst, l.UnitsPerMinute)
	case l.Concurrent < 0:
		return fmt.Errorf("Limits.Concurrent is %d; it must be positive", l.Concurrent)
	}
	for method, cost := range l.Costs {
		if _, ok := DefaultCosts()[method]; !ok {
			return fmt.Errorf("Limits.Costs[%s] is no method that a Client calls; the methods are those of DefaultCosts", method)
		}
		if cost < 0 || cost > l.Burst {
			return fmt.Errorf("Limits.Costs[%s] is %d; it must be within 0 and Burst (%d)", method, cost, l.Burst)
		}
	}
	return nil
}

// unset returns an error when a limit stands beside Unlimited.
func (l Limits) unset() error {
	if l.UnitsPerMinute != 0 || l.Burst != 0 || l.Concurrent != 0 || l.Costs != nil {
		return errors.New("Limits.Unlimited is set beside other limits; leave one or the other zero")
	}
	return nil
}

// A gate bounds the concurrent calls and the units a minute, and refuses calls while Gmail has asked the client to wait. A nil
// gate is open.
type gate struct {
	costs   map[Method]int
	bucket  *rate.Limiter
	running chan struct{}

	mu     sync.Mutex
	closed time.Time // no call before this
}

func newGate(limits Limits) (*gate, error) {
	if limits.Unlimited {
		return nil, limits.unset()
	}
	l := limits.withDefaults()
	if err := l.validate(); err != nil {
		return nil, err
	}
	return &gate{
		costs:   l.Costs,
		bucket:  rate.NewLimiter(rate.Limit(float64(l.UnitsPerMinute-l.Burst)/60), l.Burst),
		running: make(chan struct{}, l.Concurrent),
	}, nil
}

// enter waits until the call may be made, and returns a function to call when it has ended. It does not wait for the time
// that Gmail has named: the job can be deferred, so that its worker is free. The caller sets the operation in the errors.
func (g *gate) enter(ctx context.Context, method Method) (leave func(), err error) {
	if g == nil {
		return func() {}, nil
	}
	if wait := g.closedFor(); wait > 0 {
		return nil, &Error{Class: ClassRateLimited, RetryAfter: wait, Err: errors.New("not asked: Gmail has told us to wait")}
	}
	if err := g.bucket.WaitN(ctx, g.costs[method]); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &Error{Class: ClassRateLimited, Err: err} // no budget before the deadline
	}
	select {
	case g.running <- struct{}{}:
		return func() { <-g.running }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// note closes the gate when Gmail has said for how long.
func (g *gate) note(err error) {
	var e *Error
	if g == nil || !errors.As(err, &e) || !e.Class.spares() || e.RetryAfter == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if until := time.Now().Add(e.RetryAfter); until.After(g.closed) {
		g.closed = until
	}
}

func (g *gate) closedFor() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return time.Until(g.closed)
}
