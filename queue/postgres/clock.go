package postgres

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postroom-go/postroom/queue/driver"
)

// A serverClock shows the server's time, which all machines use. It is set by querying the server, and advances by this
// machine's monotonic clock: the time of this machine's own clock, and changes of it, do not matter.
type serverClock struct {
	machine func() time.Time // time.Now

	mu     sync.RWMutex
	server time.Time     // what the server's clock showed
	local  time.Time     // when it did so; its monotonic reading counts
	doubt  time.Duration // the possible error
	again  time.Duration // how long it is valid

	setting atomic.Bool
}

var _ driver.Clock = (*engine)(nil)

const (
	// resetAfter is the maximum age of the setting. A query costs one round trip.
	resetAfter = 30 * time.Second
	// doubtful is the possible error of the first response from which the server is queried again: a response is slow
	// if it waits for something else, such as a pooler that connects to the server only then. The first repetition is
	// at once, the next after retryAfter, twice that, and so on.
	doubtful   = 5 * time.Millisecond
	retryAfter = time.Second
	// resetLimit bounds the wait for a server that does not respond; the clock then stays as it is.
	resetLimit = 5 * time.Second
	// drift bounds the relative difference between the monotonic clocks of two machines: one part in this number.
	drift = 10_000
	// asleep is the difference between a machine's clock and its monotonic clock from which the machine has slept, or
	// the clock was set.
	asleep = time.Second

	selectClock = `SELECT clock_timestamp()`
)

// Now implements [driver.Clock].
func (db *engine) Now() time.Time { return db.server.now() }

func (c *serverClock) now() time.Time {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.server.Add(c.machine().Sub(c.local))
}

// stale reports whether the server should be queried again.
func (c *serverClock) stale() bool {
	now := c.machine()
	c.mu.RLock()
	defer c.mu.RUnlock()
	age := now.Sub(c.local)
	slept := now.Round(0).Sub(c.local.Round(0)) - age // by the wall clock alone
	return age >= c.again || slept.Abs() > asleep
}

// set sets the server's time, which it showed some time between before and after, unless the known time is more exact.
func (c *serverClock) set(server, before, after time.Time) {
	local, doubt := before.Add(after.Sub(before)/2), after.Sub(before)/2
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.local.IsZero() {
		age := local.Sub(c.local)
		known := c.doubt + age/drift
		wrong := c.server.Add(age).Sub(server).Abs()
		if doubt > known && wrong <= doubt+known {
			// The time that is known is put forward, so that it is not asked for at once again.
			server, doubt = c.server.Add(age), known
		}
	}
	c.server, c.local, c.doubt = server.UTC(), local, doubt
	if c.doubt <= doubtful {
		c.again = resetAfter
	} else {
		c.again = min(max(2*c.again, retryAfter), resetAfter)
	}
}

// inDoubt reports whether another response is probably more exact.
func (c *serverClock) inDoubt() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.doubt > doubtful
}

// resetClock queries the server's time if that is due, and leaves the clock unchanged if there is no response: the next
// write gets the error.
func (db *engine) resetClock(ctx context.Context) {
	if !db.server.stale() || !db.server.setting.CompareAndSwap(false, true) {
		return
	}
	defer db.server.setting.Store(false)
	ctx, cancel := context.WithTimeout(ctx, resetLimit)
	defer cancel()
	_ = db.setClock(ctx)
}

// startClock queries the server twice if the first response took long.
func (db *engine) startClock(ctx context.Context) error {
	if err := db.setClock(ctx); err != nil || !db.server.inDoubt() {
		return err
	}
	return db.setClock(ctx)
}

func (db *engine) setClock(ctx context.Context) error {
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	var server time.Time
	before := db.server.machine()
	// The simple protocol: one round trip, also the first time.
	if err := conn.QueryRow(ctx, selectClock, pgx.QueryExecModeSimpleProtocol).Scan(&server); err != nil {
		return err
	}
	db.server.set(server, before, db.server.machine())
	return nil
}
