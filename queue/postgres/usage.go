package postgres

import (
	"context"
	"database/sql"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/joblimit"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// usageRow are the columns of usageOfHeads, any of which may be NULL.
type usageRow struct {
	name      sql.NullString
	limit     jobsql.LimitColumns
	arrival   jobsql.Instant
	isRunning sql.NullInt64
}

func (r *usageRow) dest() []any {
	return append(append([]any{&r.name}, r.limit.Dest()...), &r.arrival, &r.isRunning)
}

func (r *usageRow) usage() joblimit.Usage {
	return joblimit.Usage{Name: r.name.String, Limit: r.limit.Limit(), Arrival: r.arrival.Time, Running: int(r.isRunning.Int64)}
}

func scanUsage(row jobsql.Scanner) (joblimit.Usage, error) {
	var r usageRow
	err := row.Scan(r.dest()...)
	return r.usage(), err
}

// writeArrivals stores the rates that have moved.
func writeArrivals(ctx context.Context, tx *driver.WriteTx, usages *joblimit.Usages) error {
	moved := usages.Moved()
	if len(moved) == 0 {
		return nil
	}
	names, at := make([]string, len(moved)), make([]time.Time, len(moved))
	for i, s := range moved {
		names[i], at[i] = s.Name, s.Arrival
	}
	return later(ctx, tx, setArrivals, string(usages.Kind()), names, at)
}
