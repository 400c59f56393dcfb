package gmailapi

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
)

// A sharedBudget is the budget of one account for all processes on one PostgreSQL. A process leases units for about a
// second of calls, in a transaction that holds the account's row, and settles its last lease with the next.
//
// A lease counts from when it is taken until a minute after its last call has ended, by the clock of the server alone.
// All its calls lie in between, so that no minute has more than the budget, as a [localBudget] explains for calls. The
// leases of a process that dies count until its calls must have ended, and a minute more. A lease is used for two
// seconds by the clock of the process, measured from before it asked.
type sharedBudget struct {
	db      queue.DB
	account string
	holder  string // this process and client
	limit   int
	burst   int
	minute  time.Duration
	timeout time.Duration // of a call
	turn    chan struct{} // a queue: the others wait in order

	mu      sync.Mutex
	current *quotaLease // nil before the first
	old     []*quotaLease
	holders int // that lease at present
	room    int // units that were free when that was last known, of no lease
	known   time.Time
}

// A quotaLease is units that this process may spend.
type quotaLease struct {
	id      string
	left    int
	spent   int
	running int       // calls
	until   time.Time // no call begins after this
	ended   time.Time // the last call
}

// newSharedBudget makes the budget of an account. timeout bounds a call.
func newSharedBudget(db queue.DB, accountID string, l Limits, timeout, minute time.Duration) (*sharedBudget, error) {
	holder, err := uuid7.New()
	return &sharedBudget{
		db: db, account: accountID, holder: holder, limit: l.UnitsPerMinute, burst: l.Burst, minute: minute, timeout: timeout,
		turn: make(chan struct{}, 1), holders: 1,
	}, err
}

// leaseTime is for how long a lease is used.
func (s *sharedBudget) leaseTime() time.Duration { return s.minute / 30 }

func (s *sharedBudget) shares() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.holders
}

func (s *sharedBudget) take(ctx context.Context, units int) (end func(), err error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for {
		if lease := s.fromLease(units); lease != nil {
			return func() { s.end(lease) }, nil
		}
		wait, err := s.renew(ctx, units)
		if err == nil && wait > 0 {
			err = pauseFor(ctx, wait)
		}
		if err != nil {
			return nil, err
		}
	}
}

// fromLease takes the units from the current lease; nil if it has not got them.
func (s *sharedBudget) fromLease(units int) *quotaLease {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.current
	if l == nil || l.left < units || !time.Now().Before(l.until) {
		return nil
	}
	l.left -= units
	l.spent += units
	l.running++
	return l
}

func (s *sharedBudget) end(l *quotaLease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.running--
	l.ended = time.Now()
}

// renew settles the last lease and takes another, or returns the minimum wait until enough units are free.
func (s *sharedBudget) renew(ctx context.Context, units int) (wait time.Duration, err error) {
	id, err := uuid7.New()
	if err != nil {
		return 0, err
	}
	began, settled := time.Now(), s.settled()
	var state quotaState
	var grant int
	err = s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		if state, err = s.read(ctx, tx, settled); err != nil || state.closed > 0 {
			return err
		}
		if grant, wait = s.grant(state, units); grant == 0 {
			return nil
		}
		return s.insert(ctx, tx, id, grant)
	})
	switch {
	case err != nil:
		return 0, &Error{Class: ClassNetwork, Err: fmt.Errorf("lease quota units: %w", err)}
	case state.closed > 0:
		err = toldToWait(state.closed)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holders = state.holders
	s.room, s.known = s.free(state)-grant, began
	s.old = slices.DeleteFunc(s.old, func(l *quotaLease) bool {
		return slices.ContainsFunc(settled, func(done settlement) bool { return done.id == l.id && done.over })
	})
	if grant > 0 {
		s.current = &quotaLease{id: id, left: grant, until: began.Add(s.leaseTime()), ended: began}
	}
	return wait, err
}

// A settlement is the outcome of a lease.
type settlement struct {
	id     string
	spent  int
	over   bool          // all its calls have ended
	counts time.Duration // how long it still counts, if it is over
}

// settled ends the current lease, and returns the outcomes of all unsettled leases.
func (s *sharedBudget) settled() (settled []settlement) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil {
		s.old, s.current = append(s.old, s.current), nil
	}
	for _, l := range s.old {
		settled = append(settled, settlement{l.id, l.spent, l.running == 0, s.minute - time.Since(l.ended)})
	}
	return settled
}

// grant is how many units the account has for a lease: for about a second of calls, and enough for the one that
// waits. With none, wait is how long that lasts at least.
func (s *sharedBudget) grant(state quotaState, units int) (grant int, wait time.Duration) {
	perUnit := s.perUnit()
	paced := s.paced(state)
	grant = min(max(units, s.limit/60), s.free(state))
	switch {
	case grant >= units:
		return grant, 0
	case paced < units:
		wait = time.Duration(units-paced) * perUnit
	}
	excess := state.counted() + units - s.limit
	for _, l := range state.leases {
		if excess <= 0 {
			break
		}
		excess -= l.Units
		wait = max(wait, min(l.left(), s.minute)) // one that is not settled may be at any time, and counts a minute then
	}
	return 0, max(wait, time.Millisecond)
}

// perUnit is the time in which a unit comes back.
func (s *sharedBudget) perUnit() time.Duration { return s.minute / time.Duration(s.limit) }

// paced is how many units the pace permits now.
func (s *sharedBudget) paced(state quotaState) int {
	return s.burst - int((state.ahead+s.perUnit()-1)/s.perUnit())
}

// free is how many units may be leased now.
func (s *sharedBudget) free(state quotaState) int {
	return min(s.paced(state), s.limit-state.counted())
}

// wait estimates from what this process knows, without asking the database: the others may have spent more since.
func (s *sharedBudget) wait(units int) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known.IsZero() {
		return 0
	}
	free := min(s.burst, s.room+int(time.Since(s.known)/s.perUnit()))
	if l := s.current; l != nil && time.Now().Before(l.until) {
		free += l.left
	}
	return max(0, time.Duration(min(units, s.burst)-free)*s.perUnit())
}

// closeTimeout bounds the time to inform the other processes that Gmail wants no calls.
const closeTimeout = 5 * time.Second

func (s *sharedBudget) close(wait time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	// If it fails, the others learn it from Gmail.
	_ = s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := s.lock(ctx, tx); err != nil {
			return err
		}
		err := execQuota(ctx, tx, "close quota", sqlCloseQuota, wait.Microseconds(), s.account)
		return err
	})
}
