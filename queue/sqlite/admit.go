package sqlite

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/joblimit"
	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// Jobs whose limit key has no room wait apart (hold 2), so that what cannot run is not in the way of what can. Whatever
// changes a key's room or its waiting jobs marks the key in the same transaction; the next claim looks at the marked keys
// and makes ready, of each type that waits, as many as the key has room for. Of each type, because nobody may be there
// who takes another: a job that is ready and not taken keeps no room from the others. So more may be ready than there is
// room for, and the claim counts again what it takes (see keylimit.go): that is what a limit rests on. Waiting only
// keeps it cheap.

// marks are keys to look at.
type marks map[string]struct{}

func newMarks() marks { return make(marks) }

// add takes the empty key for none.
func (m marks) add(key string) {
	if key != "" {
		m[key] = struct{}{}
	}
}

func (m marks) list() []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	return keys
}

// atOnce is when a mark is due that waits for nothing, whatever the clock of whoever claims says.
var atOnce = time.Unix(0, 0)

// limited tells whether any key is limited at all, as coalescing ones are of themselves.
func (m marks) limited(ctx context.Context, tx *queue.Tx) (limited bool, err error) {
	if len(m) == 0 {
		return false, nil
	}
	for key := range m {
		if strings.HasPrefix(key, joblimit.Coalesced) {
			_, err := tx.ExecContext(ctx, limitCoalesced, dbtime.Of(tx.Now()))
			return true, err
		}
	}
	err = tx.QueryRowxContext(ctx, selectKeysLimited).Scan(&limited)
	return limited, err
}

// write marks the keys, if any key is limited at all.
func (m marks) write(ctx context.Context, tx *queue.Tx) error {
	if len(m) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, markLimitedKeys, dbtime.Of(atOnce), list(m.list()))
	return err
}

func mark(ctx context.Context, tx *queue.Tx, due time.Time, key string) error {
	_, err := tx.ExecContext(ctx, markKeys, dbtime.Of(due), list([]string{key}))
	return err
}

// portionOfMarks bounds how long one claim admits; it is the limit of takeMarks.
const portionOfMarks = 100

func (c *chores) admit(ctx context.Context, tx *queue.Tx, now time.Time) error {
	rows, err := tx.QueryxContext(ctx, takeMarks, dbtime.Of(now))
	keys, err := jobrow.Collect(rows, err, limitKey)
	if err != nil {
		return err
	}
	c.more = c.more || len(keys) == portionOfMarks
	standings, err := keyStandings(ctx, tx, keys)
	if err != nil {
		return err
	}
	for _, s := range standings {
		if !s.waiting {
			continue
		}
		again, err := s.admit(ctx, tx, now)
		if err != nil {
			return err
		}
		c.more = c.more || again.Equal(now)
		if again.IsZero() {
			continue
		}
		if err := mark(ctx, tx, again, s.name); err != nil {
			return err
		}
	}
	return nil
}

// portionOfAdmitted bounds how many jobs of a key and type are made ready at once.
const portionOfAdmitted = 1000

// admit makes ready what there is room for and tells when to look again, if nobody marks the key before.
func (s *standing) admit(ctx context.Context, tx *queue.Tx, now time.Time) (again time.Time, err error) {
	room, again := s.limit.Room(s.running, s.arrival, now)
	if err := s.settle(ctx, tx, now); err != nil || room == 0 {
		return again, err
	}
	var res sql.Result
	n := min(room, portionOfAdmitted)
	if s.limit.Bounded() {
		res, err = tx.ExecContext(ctx, admitJobs, s.name, n, room)
	} else {
		res, err = tx.ExecContext(ctx, admitAny, s.name, n)
	}
	if err != nil {
		return again, err
	}
	admitted, err := res.RowsAffected()
	if n < room && admitted >= int64(n) {
		again = now
	}
	return again, err
}

// A standing is a limit and how much of it is used.
type standing struct {
	kind    string
	name    string // of the type or key that is limited
	limit   joblimit.Limit
	arrival time.Time // of the rate
	running int
	waiting bool // some jobs wait for the key
}

func keyStandings(ctx context.Context, tx *queue.Tx, keys []string) ([]*standing, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	rows, err := tx.QueryxContext(ctx, selectKeys, list(keys))
	return jobrow.Collect(rows, err, func(row jobrow.Scanner) (*standing, error) { return scanStanding(row, "key") })
}

// scanStanding reads the columns of selectKeys.
func scanStanding(row jobrow.Scanner, kind string) (*standing, error) {
	s := &standing{kind: kind}
	var maxRunning, rate, period, burst sql.NullInt64
	var arrival dbtime.Time
	err := row.Scan(&s.name, &s.limit.Paused, &maxRunning, &rate, &period, &burst, &arrival, &s.running, &s.waiting)
	s.limit.MaxRunning, s.limit.Rate, s.limit.Burst = int(maxRunning.Int64), int(rate.Int64), int(burst.Int64)
	s.limit.Period = time.Duration(period.Int64) * time.Microsecond
	s.arrival = arrival.Time
	return s, err
}

// settle puts the rate where it can be, when it is further ahead.
func (s *standing) settle(ctx context.Context, tx *queue.Tx, now time.Time) error {
	settled := s.limit.Settle(s.arrival, now)
	if settled.Equal(s.arrival) {
		return nil
	}
	return s.arrive(ctx, tx, settled)
}

// spend takes n starts off the rate.
func (s *standing) spend(ctx context.Context, tx *queue.Tx, n int, now time.Time) error {
	s.running += n
	if s.limit.Rate == 0 || n == 0 {
		return nil
	}
	return s.arrive(ctx, tx, s.limit.Arrive(s.arrival, now, n))
}

func (s *standing) arrive(ctx context.Context, tx *queue.Tx, arrival time.Time) error {
	s.arrival = arrival
	_, err := tx.ExecContext(ctx, setArrival, s.kind, s.name, dbtime.Of(arrival))
	return err
}
