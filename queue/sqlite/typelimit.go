package sqlite

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// allTypes is the name under which all types are paused at once.
const allTypes = "*"

// typeLimits are the limits of types over all machines, as they stand in one claim. A nil one limits nothing.
type typeLimits struct {
	now       time.Time
	standings map[string]*standing
}

func readTypeLimits(ctx context.Context, tx *driver.WriteTx, now time.Time) (*typeLimits, error) {
	standings, err := readStandings(ctx, tx, driver.TargetType, selectTypeLimits)
	if err != nil {
		return nil, err
	}
	t := &typeLimits{now: now, standings: standings}
	counted := false
	for _, s := range standings {
		counted = counted || s.limit.MaxRunning > 0
		s.settle(now)
	}
	if !counted {
		return t, nil
	}
	return t, t.count(ctx, tx)
}

func (t *typeLimits) count(ctx context.Context, tx *driver.WriteTx) error {
	rows, err := tx.QueryContext(ctx, countRunning)
	_, err = jobsql.Collect(rows, err, func(row jobsql.Scanner) (n int, err error) {
		var name string
		err = row.Scan(&name, &n)
		if s := t.standings[name]; s != nil {
			s.running = n
		}
		return n, err
	})
	return err
}

// within narrows the rooms and leaves out the types that have none.
func (t *typeLimits) within(types []driver.TypeCapacity) []driver.TypeCapacity {
	if t == nil {
		return types
	}
	if all := t.standings[allTypes]; all != nil && all.limit.Paused {
		return nil
	}
	var open []driver.TypeCapacity
	for _, one := range types {
		if s := t.standings[one.Type]; s != nil {
			room, _ := s.limit.Room(s.running, s.arrival, t.now)
			one.Capacity = min(one.Capacity, room)
		}
		if one.Capacity > 0 {
			open = append(open, one)
		}
	}
	return open
}

// spend takes what has been claimed off the rates of its types.
func (t *typeLimits) spend(ctx context.Context, tx *driver.WriteTx, jobs []driver.Job) error {
	if t == nil {
		return nil
	}
	for i := range jobs {
		if s := t.standings[jobs[i].Type]; s != nil {
			s.spend(1, t.now)
		}
	}
	return writeArrivals(ctx, tx, t.standings)
}

// next is when the first of the types that a rate forbids is allowed again. What a rate allows has been claimed.
func (t *typeLimits) next(types []driver.TypeCapacity) (first time.Time) {
	if t == nil {
		return first
	}
	if all := t.standings[allTypes]; all != nil && all.limit.Paused {
		return first
	}
	for _, one := range types {
		if s := t.standings[one.Type]; s != nil {
			if room, again := s.limit.Room(s.running, s.arrival, t.now); room == 0 {
				first = earliest(first, again)
			}
		}
	}
	return first
}
