package postgres

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/joblimit"
	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// allTypes is the name under which all types are paused at once.
const allTypes = "*"

// typeLimits are the limits of types over all machines, as they stand in one claim. A nil one limits nothing.
type typeLimits struct {
	now    time.Time
	limits map[string]typeLimit
	again  time.Time // when the first rate that forbids a type allows it again
}

type typeLimit struct {
	joblimit.Limit
	name    string
	room    int
	arrival time.Time
}

func readTypeLimits(ctx context.Context, tx *queue.Tx, now time.Time) (*typeLimits, error) {
	t := &typeLimits{now: now, limits: make(map[string]typeLimit)}
	_, err := query(ctx, tx, func(row jobrow.Scanner) (limit typeLimit, err error) {
		var columns limitColumns
		var running int
		var arrival dbtime.Time
		err = row.Scan(append(append([]any{&limit.name}, columns.dest()...), &running, &arrival)...)
		limit.Limit, limit.arrival = columns.limit(), arrival.Time
		var again time.Time
		limit.room, again = limit.Room(running, limit.arrival, now)
		t.again = earliest(t.again, again)
		t.limits[limit.name] = limit
		return limit, err
	}, selectTypeLimits)
	return t, err
}

// within narrows the rooms and leaves out the types that have none.
func (t *typeLimits) within(types []queue.TypeRoom) []queue.TypeRoom {
	if t == nil {
		return types
	}
	if t.limits[allTypes].Paused {
		return nil
	}
	var open []queue.TypeRoom
	for _, one := range types {
		if limit, ok := t.limits[one.Type]; ok {
			one.Room = min(one.Room, limit.room)
		}
		if one.Room > 0 {
			open = append(open, one)
		}
	}
	return open
}

// spend takes what has been claimed off the rates of its types.
func (t *typeLimits) spend(ctx context.Context, tx *queue.Tx, jobs []queue.Job) error {
	if t == nil {
		return nil
	}
	started := make(map[string]int)
	for i := range jobs {
		started[jobs[i].Type]++
	}
	var spent arrivals
	for name, n := range started {
		spent.spend("type", name, t.limits[name].Limit, t.limits[name].arrival, t.now, n)
	}
	return spent.write(ctx, tx)
}

func (t *typeLimits) next() time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.again
}
