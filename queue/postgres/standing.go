package postgres

import (
	"context"
	"database/sql"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/joblimit"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// standingRow are the columns of standingOfFronts, any of which may be NULL.
type standingRow struct {
	name      sql.NullString
	limit     jobsql.LimitColumns
	arrival   jobsql.Instant
	isRunning sql.NullInt64
}

func (r *standingRow) dest() []any {
	return append(append([]any{&r.name}, r.limit.Dest()...), &r.arrival, &r.isRunning)
}

func (r *standingRow) standing() joblimit.Standing {
	return joblimit.Standing{Name: r.name.String, Limit: r.limit.Limit(), Arrival: r.arrival.Time, Running: int(r.isRunning.Int64)}
}

func scanStanding(row jobsql.Scanner) (joblimit.Standing, error) {
	var r standingRow
	err := row.Scan(r.dest()...)
	return r.standing(), err
}

// writeArrivals stores the rates that have moved.
func writeArrivals(ctx context.Context, tx *driver.WriteTx, standings *joblimit.Standings) error {
	moved := standings.Moved()
	if len(moved) == 0 {
		return nil
	}
	names, at := make([]string, len(moved)), make([]time.Time, len(moved))
	for i, s := range moved {
		names[i], at[i] = s.Name, s.Arrival
	}
	return later(ctx, tx, setArrivals, string(standings.Kind()), names, at)
}
