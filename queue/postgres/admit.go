package postgres

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/joblimit"
	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// Jobs with a limit key wait apart (hold 2) until their key has room, so that what cannot run is never in the way of what
// can. Whatever changes a key's room or its waiting jobs marks the key in the same transaction; the next claim looks at
// the marked keys and admits what has room. How many a key has admitted is counted, never kept. Claims admit one after
// the other (see lockClaims), so that no room is given away twice.

// marks are keys to look at, and when.
type marks struct {
	due  []time.Time
	keys []string
	seen map[string]struct{}
}

// add takes the empty key for none, and a key twice for once.
func (m *marks) add(key string, due time.Time) {
	if _, ok := m.seen[key]; ok || key == "" {
		return
	}
	if m.seen == nil {
		m.seen = make(map[string]struct{})
	}
	m.seen[key] = struct{}{}
	m.due = append(m.due, due)
	m.keys = append(m.keys, key)
}

func (m *marks) write(ctx context.Context, tx *queue.Tx) error {
	if len(m.keys) == 0 {
		return nil
	}
	return store(ctx, tx, markKeys, m.due, m.keys)
}

// portionOfMarks bounds how long one claim admits; it is that of takeMarks.
const portionOfMarks = 1000

// A markedKey is a key to look at, and what its room depends on.
type markedKey struct {
	key             string
	marks           int
	limit           joblimit.Limit
	admitted, ready int
	arrival         time.Time
}

func scanMarked(row jobrow.Scanner) (m markedKey, err error) {
	var columns limitColumns
	var arrival dbtime.Time
	err = row.Scan(append(append([]any{&m.key, &m.marks}, columns.dest()...), &m.admitted, &m.ready, &arrival)...)
	m.limit, m.arrival = columns.limit().For(m.key), arrival.Time
	return m, err
}

// maxAdmitted bounds how many jobs of a key are admitted at once.
const maxAdmitted = 1000

// room is how many may be admitted, and when the key must be looked at again, if nobody marks it before.
func (m *markedKey) room(now time.Time) (n int, again time.Time) {
	arrival := m.arrival
	// What is admitted and has not begun will spend from the rate, too.
	if m.limit.Rate > 0 {
		arrival = m.limit.Arrive(arrival, now, m.ready)
	}
	room, again := m.limit.Room(m.admitted, arrival, now)
	if room > maxAdmitted {
		return maxAdmitted, now
	}
	return room, again
}

func (c *chores) admit(ctx context.Context, tx *queue.Tx, now time.Time) error {
	marked, err := query(ctx, tx, scanMarked, takeMarks, now)
	if err != nil {
		return err
	}
	var again marks
	open := make(map[string]opening)
	taken := 0
	for i := range marked {
		m := &marked[i]
		taken += m.marks
		if n, at := m.room(now); n > 0 {
			open[m.key] = opening{n, at}
		} else if !at.IsZero() {
			again.add(m.key, at)
		}
	}
	c.more = c.more || taken == portionOfMarks
	if err := fill(ctx, tx, open, &again, now); err != nil {
		return err
	}
	for _, at := range again.due {
		c.more = c.more || !at.After(now)
	}
	return again.write(ctx, tx)
}

// An opening is how many jobs of a key may be admitted, and when to look again when they all are.
type opening struct {
	n     int
	again time.Time
}

// heldUp is how long a key waits to be looked at again when somebody holds a job of it, perhaps to let go of it unchanged.
const heldUp = time.Second

// fill admits what there is room for.
func fill(ctx context.Context, tx *queue.Tx, open map[string]opening, again *marks, now time.Time) error {
	if len(open) == 0 {
		return nil
	}
	keys, rooms := make([]string, 0, len(open)), make([]int, 0, len(open))
	for key, o := range open {
		keys, rooms = append(keys, key), append(rooms, o.n)
	}
	_, err := query(ctx, tx, func(row jobrow.Scanner) (key string, err error) {
		var admitted, visible int
		if err := row.Scan(&key, &admitted, &visible); err != nil {
			return "", err
		}
		switch o := open[key]; {
		case admitted < visible:
			again.add(key, now.Add(heldUp))
		case admitted == o.n && !o.again.IsZero():
			again.add(key, o.again)
		}
		return key, nil
	}, admitJobs, keys, rooms)
	return err
}
