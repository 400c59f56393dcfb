package postgres

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// allTypes is the name under which all types are paused at once.
const allTypes = "*"

// typeLimits are the limits of types over all machines, as they stand in one claim. A nil one limits nothing.
type typeLimits struct {
	now       time.Time
	standings map[string]*standing
	rates     *arrivals
}

func readTypeLimits(ctx context.Context, tx *queue.Tx, now time.Time) (*typeLimits, error) {
	t := &typeLimits{now: now, standings: make(map[string]*standing), rates: newArrivals(queue.TargetType)}
	_, err := query(ctx, tx, func(row jobrow.Scanner) (*standing, error) {
		s, err := scanStanding(row)
		t.standings[s.name] = &s
		return &s, err
	}, selectTypeLimits)
	for _, s := range t.standings {
		t.rates.settle(s, now)
	}
	return t, err
}

// within narrows the rooms and leaves out the types that have none.
func (t *typeLimits) within(types []queue.TypeRoom) []queue.TypeRoom {
	if t.allPaused() {
		return nil
	}
	var open []queue.TypeRoom
	for _, one := range types {
		if s := t.standings[one.Type]; s != nil {
			room, _ := s.limit.Room(s.running, s.arrival, t.now)
			one.Room = min(one.Room, room)
		}
		if one.Room > 0 {
			open = append(open, one)
		}
	}
	return open
}

func (t *typeLimits) allPaused() bool {
	all := t.standings[allTypes]
	return all != nil && all.limit.Paused
}

// spend takes what has been claimed off the rates of its types.
func (t *typeLimits) spend(ctx context.Context, tx *queue.Tx, jobs []queue.Job) error {
	started := make(map[string]int)
	for i := range jobs {
		started[jobs[i].Type]++
	}
	for name, n := range started {
		if s := t.standings[name]; s != nil {
			t.rates.spend(s, n, t.now)
		}
	}
	return t.rates.write(ctx, tx)
}

// next is when the first of the types that a rate forbids is allowed again. What a rate allows has been claimed.
func (t *typeLimits) next(types []queue.TypeRoom) (first time.Time) {
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
