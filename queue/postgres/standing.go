package postgres

import (
	"context"
	"database/sql"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/joblimit"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// A standing is the limit of a type or a key and how much of it is used.
type standing struct {
	name    string
	limit   joblimit.Limit
	arrival time.Time // of the rate
	running int
	waiting bool // some jobs wait for the key
}

// standingRow are the columns of standingOf, any of which may be NULL.
type standingRow struct {
	name                                       sql.NullString
	paused, waiting                            sql.NullBool
	maxRunning, rate, period, burst, isRunning sql.NullInt64
	arrival                                    dbtime.Time
}

func (r *standingRow) dest() []any {
	return []any{&r.name, &r.paused, &r.maxRunning, &r.rate, &r.period, &r.burst, &r.arrival, &r.isRunning, &r.waiting}
}

func (r *standingRow) standing() standing {
	return standing{
		name: r.name.String, arrival: r.arrival.Time, running: int(r.isRunning.Int64), waiting: r.waiting.Bool,
		limit: joblimit.Limit{
			Paused: r.paused.Bool, MaxRunning: int(r.maxRunning.Int64), Rate: int(r.rate.Int64),
			Period: time.Duration(r.period.Int64) * time.Microsecond, Burst: int(r.burst.Int64),
		},
	}
}

func scanStanding(row jobsql.Scanner) (standing, error) {
	var r standingRow
	err := row.Scan(r.dest()...)
	return r.standing(), err
}

// A markedKey is a key to look at, and how many marks said so.
type markedKey struct {
	standing
	marks int
}

func scanMarked(row jobsql.Scanner) (m markedKey, err error) {
	var r standingRow
	err = row.Scan(append(r.dest(), &m.marks)...)
	m.standing = r.standing()
	return m, err
}

// arrivals are where rates of targets of one kind stand from now on.
type arrivals struct {
	kind driver.TargetKind
	at   map[string]time.Time
}

func newArrivals(kind driver.TargetKind) *arrivals {
	return &arrivals{kind: kind, at: make(map[string]time.Time)}
}

// settle puts a rate where it can be, when it is further ahead.
func (a *arrivals) settle(s *standing, now time.Time) {
	if settled := s.limit.Settle(s.arrival, now); !settled.Equal(s.arrival) {
		s.arrival, a.at[s.name] = settled, settled
	}
}

// spend takes n starts off a rate.
func (a *arrivals) spend(s *standing, n int, now time.Time) {
	s.running += n
	if s.limit.Rate > 0 && n > 0 {
		s.arrival = s.limit.Arrive(s.arrival, now, n)
		a.at[s.name] = s.arrival
	}
}

func (a *arrivals) write(ctx context.Context, tx *driver.WriteTx) error {
	if len(a.at) == 0 {
		return nil
	}
	names, at := make([]string, 0, len(a.at)), make([]time.Time, 0, len(a.at))
	for name, t := range a.at {
		names, at = append(names, name), append(at, t)
	}
	return later(ctx, tx, setArrivals, string(a.kind), names, at)
}
