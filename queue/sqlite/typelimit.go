package sqlite

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/internal/joblimit"
	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// allTypes is the name under which all types are paused at once.
const allTypes = "*"

// typeLimits are the limits of types over all machines, as they stand in one claim. A nil one limits nothing.
type typeLimits struct {
	now    time.Time
	limits map[string]joblimit.Limit
	rooms  map[string]int
	again  time.Time // when the first rate that forbids a type allows it again
}

func readTypeLimits(ctx context.Context, tx *queue.Tx, now time.Time) (*typeLimits, error) {
	t := &typeLimits{now: now, limits: make(map[string]joblimit.Limit), rooms: make(map[string]int)}
	rows, err := tx.QueryxContext(ctx, selectTypeLimits)
	names, err := jobrow.Collect(rows, err, func(row jobrow.Scanner) (name string, err error) {
		limit, err := scanLimit(row, &name)
		t.limits[name] = limit
		return name, err
	})
	if err != nil {
		return nil, err
	}
	running, err := runningByType(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		arrival, err := arrivalOf(ctx, tx, t.limits[name], "type", name)
		if err != nil {
			return nil, err
		}
		room, again := t.limits[name].Room(running[name], arrival, now)
		t.rooms[name] = room
		t.again = earliest(t.again, again)
	}
	return t, nil
}

func runningByType(ctx context.Context, tx *queue.Tx) (map[string]int, error) {
	running := make(map[string]int)
	rows, err := tx.QueryxContext(ctx, countRunning)
	_, err = jobrow.Collect(rows, err, func(row jobrow.Scanner) (n int, err error) {
		var name string
		err = row.Scan(&name, &n)
		running[name] = n
		return n, err
	})
	return running, err
}

// within narrows the rooms and leaves out the types that have none.
func (t *typeLimits) within(types []queue.TypeRoom) []queue.TypeRoom {
	if t.limits[allTypes].Paused {
		return nil
	}
	var open []queue.TypeRoom
	for _, one := range types {
		if room, ok := t.rooms[one.Type]; ok {
			one.Room = min(one.Room, room)
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
	for name, n := range started {
		if err := spend(ctx, tx, t.limits[name], "type", name, n, t.now); err != nil {
			return err
		}
	}
	return nil
}

func (t *typeLimits) next() time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.again
}
