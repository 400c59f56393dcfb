package postgres

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// Jobs whose limit key has no room wait apart (driver.HoldLimited), so that what cannot run is not in the way of what can. Whatever
// changes a key's room or its waiting jobs marks the key in the same transaction; the next claim looks at the marked keys
// and makes ready, of each type that waits, as many as the key has room for. Of each type, because nobody may be there
// who takes another: a job that is ready and not taken keeps no room from the others. So more may be ready than there is
// room for, and the claim counts again what it takes (see keylimit.go): that is what a limit rests on. Claims come one
// after the other (see lockClaims), so that no room is given away twice; a job whose end is not committed still counts, and
// its mark comes with the commit.

// marks are keys to look at, and when.
type marks struct {
	due  []time.Time
	keys []string
	seen map[string]struct{}
}

// atOnce is when a mark is due that waits for nothing, whatever the clock of the machine that claims says.
var atOnce = time.Unix(0, 0)

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

func (m *marks) write(ctx context.Context, tx *driver.WriteTx) error {
	if len(m.keys) == 0 {
		return nil
	}
	return store(ctx, tx, markKeys, m.due, m.keys)
}

// writeOnce is write for claims, which come back to the same instant again and again.
func (m *marks) writeOnce(ctx context.Context, tx *driver.WriteTx) error {
	if len(m.keys) == 0 {
		return nil
	}
	return later(ctx, tx, markKeysOnce, m.due, m.keys)
}

// portionOfMarks bounds how long one claim admits; it is that of takeMarks.
const portionOfMarks = 1000

// portionOfAdmitted bounds how many jobs of a key and type are made ready at once.
const portionOfAdmitted = 1000

// An admission makes ready what marked keys have room for.
type admission struct {
	now     time.Time
	open    []*opening
	byKey   map[string]*opening
	answers []filled
	more    bool // some marks are left, or jobs of a key that has room for very many
}

// An opening is how many jobs of a key there is room for, and when to look at it again, if nobody marks it before.
type opening struct {
	key     string
	bounded bool
	room    int
	again   time.Time
}

// filled is how many jobs of a key were to be made ready, and how many were.
type filled struct {
	key              string
	wanted, admitted int
}

func scanFilled(row jobsql.Scanner) (f filled, err error) {
	err = row.Scan(&f.key, &f.wanted, &f.admitted)
	return f, err
}

// begin admits with whatever comes after it.
func (a *admission) begin(ctx context.Context, tx *driver.WriteTx, marked []markedKey) error {
	taken := 0
	rates := newArrivals(driver.TargetKey)
	for i := range marked {
		m := &marked[i]
		taken += m.marks
		if !m.waiting {
			continue
		}
		rates.settle(&m.standing, a.now)
		o := &opening{key: m.name, bounded: m.limit.Bounded()}
		o.room, o.again = m.limit.Room(m.running, m.arrival, a.now)
		a.open = append(a.open, o)
	}
	a.more = a.more || taken == portionOfMarks
	if err := rates.write(ctx, tx); err != nil {
		return err
	}
	return a.fill(ctx, tx)
}

func (a *admission) fill(ctx context.Context, tx *driver.WriteTx) error {
	a.byKey = make(map[string]*opening, len(a.open))
	var keys []string
	var portions, rooms []int
	for _, o := range a.open {
		if o.room == 0 {
			continue
		}
		a.byKey[o.key] = o
		keys, portions = append(keys, o.key), append(portions, min(o.room, portionOfAdmitted))
		if o.bounded {
			rooms = append(rooms, o.room)
		} else {
			rooms = append(rooms, -1)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return laterInto(ctx, tx, &a.answers, scanFilled, admitJobs, keys, portions, rooms)
}

// heldUp is how long a key waits to be looked at again when somebody holds a job of it, perhaps to let go of it unchanged.
const heldUp = time.Second

// end sees to it that keys are looked at again in time, once the answers are there.
func (a *admission) end(ctx context.Context, tx *driver.WriteTx) error {
	for _, f := range a.answers {
		switch o := a.byKey[f.key]; {
		case o.room > portionOfAdmitted && f.admitted >= portionOfAdmitted:
			o.again = a.now
		case f.admitted < f.wanted:
			o.again = earliest(o.again, a.now.Add(heldUp))
		}
	}
	var again marks
	for _, o := range a.open {
		a.more = a.more || o.again.Equal(a.now)
		if !o.again.IsZero() {
			again.add(o.key, o.again)
		}
	}
	return again.writeOnce(ctx, tx)
}
