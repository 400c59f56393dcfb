package postgres

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
	rates     *arrivals
}

// A typeCount is how many jobs of a type run.
type typeCount struct {
	name string
	n    int
}

func scanTypeCount(row jobsql.Scanner) (c typeCount, err error) {
	err = row.Scan(&c.name, &c.n)
	return c, err
}

func newTypeLimits(limited []standing, running []typeCount, now time.Time) *typeLimits {
	t := &typeLimits{now: now, standings: make(map[string]*standing), rates: newArrivals(driver.TargetType)}
	for i := range limited {
		s := &limited[i]
		t.standings[s.name] = s
		t.rates.settle(s, now)
	}
	for _, c := range running {
		if s := t.standings[c.name]; s != nil {
			s.running = c.n
		}
	}
	return t
}

// within narrows the rooms and leaves out the types that have none.
func (t *typeLimits) within(types []driver.TypeCapacity) []driver.TypeCapacity {
	if len(t.standings) == 0 {
		return types
	}
	if t.allPaused() {
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

func (t *typeLimits) allPaused() bool {
	all := t.standings[allTypes]
	return all != nil && all.limit.Paused
}

// spend takes what is claimed off the rates of its types.
func (t *typeLimits) spend(ctx context.Context, tx *driver.WriteTx, claimed []place) error {
	if len(t.standings) > 0 {
		for i := range claimed {
			if s := t.standings[claimed[i].jobType]; s != nil {
				t.rates.spend(s, 1, t.now)
			}
		}
	}
	return t.rates.write(ctx, tx)
}

// next is when the first of the types that a rate forbids is allowed again. What a rate allows has been claimed.
func (t *typeLimits) next(types []driver.TypeCapacity) (first time.Time) {
	if t == nil || t.allPaused() {
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
