package jobsql

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/joblimit"
)

const (
	setLimit = `
INSERT INTO /*q.*/job_limits (kind, name, paused, max_running, rate, period_us, burst, updated_at)
VALUES ($1, $2, FALSE, NULLIF(CAST($3 AS INTEGER), 0), NULLIF(CAST($4 AS INTEGER), 0), NULLIF(CAST($5 AS BIGINT), 0), NULLIF(CAST($6 AS INTEGER), 0), $7)
ON CONFLICT (kind, name) DO UPDATE
SET max_running = excluded.max_running,
  rate = excluded.rate,
  period_us = excluded.period_us,
  burst = excluded.burst,
  updated_at = excluded.updated_at`

	setPaused = `
INSERT INTO /*q.*/job_limits (kind, name, paused, updated_at)
VALUES ($1, $2, $3, $4)
ON CONFLICT (kind, name) DO UPDATE
SET paused = excluded.paused,
  updated_at = excluded.updated_at`

	deleteNoLimit = `
DELETE FROM /*q.*/job_limits
WHERE kind = $1
  AND name = $2
  AND NOT paused
  AND max_running IS NULL
  AND rate IS NULL`

	selectLimits = `
SELECT kind, name, ` + limitColumns + `
FROM /*q.*/job_limits
WHERE kind <> 'prefix'
  OR name <> '` + driver.CoalescePrefix + `'`

	limitColumns = `paused, max_running, rate, period_us, burst`
)

// LimitCoalesced sets, at $1, the queue's own limit of coalescing keys: one job of each runs at once. It is an ordinary
// row, and exists from the first such job on.
const LimitCoalesced = `
INSERT INTO /*q.*/job_limits (kind, name, paused, max_running, updated_at)
VALUES ('prefix', '` + driver.CoalescePrefix + `', FALSE, 1, $1)
ON CONFLICT (kind, name) DO NOTHING`

// SetLimit implements [driver.Limiter].
func (s *Store) SetLimit(ctx context.Context, tx *driver.WriteTx, target driver.Target, limit *driver.Limit) error {
	var l driver.Limit
	if limit != nil {
		l = *limit
	}
	return s.changeLimit(ctx, tx, target, setLimit, string(target.Kind), target.Name,
		l.MaxRunning, l.Rate, l.Per.Microseconds(), l.Burst, dbtime.Of(tx.Now()))
}

// SetPaused implements [driver.Limiter].
func (s *Store) SetPaused(ctx context.Context, tx *driver.WriteTx, target driver.Target, paused bool) error {
	return s.changeLimit(ctx, tx, target, setPaused, string(target.Kind), target.Name, paused, dbtime.Of(tx.Now()))
}

// changeLimit makes the next claims examine the affected keys. Types need no mark: each claim reads their limits.
func (s *Store) changeLimit(
	ctx context.Context, tx *driver.WriteTx, target driver.Target, change string, args ...any,
) error {
	if s.HoldClaims != nil {
		if err := s.HoldClaims(ctx, tx); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, change, args...); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, deleteNoLimit, string(target.Kind), target.Name); err != nil ||
		target.Kind == driver.TargetType {
		return err
	}
	return s.OpenKeys(ctx, tx, target)
}

// Limits implements [driver.Limiter].
func (s *Store) Limits(ctx context.Context) ([]driver.LimitStatus, error) {
	limits, err := read(ctx, s, func(row Scanner) (l driver.LimitStatus, err error) {
		var columns LimitColumns
		err = row.Scan(append([]any{&l.Kind, &l.Name}, columns.Dest()...)...)
		set := columns.Limit()
		l.Limit, l.Paused = set.Limit, set.Paused
		return l, err
	}, selectLimits)
	slices.SortFunc(limits, func(a, b driver.LimitStatus) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return limits, err
}

// LimitColumns are paused, max_running, rate, period_us and burst of job_limits. All are NULL where there is no limit.
type LimitColumns struct {
	paused                          sql.NullBool
	maxRunning, rate, period, burst sql.NullInt64
}

// Dest returns where the columns are scanned into, in their order.
func (c *LimitColumns) Dest() []any {
	return []any{&c.paused, &c.maxRunning, &c.rate, &c.period, &c.burst}
}

// Limit returns what has been scanned.
func (c *LimitColumns) Limit() joblimit.Limit {
	return joblimit.Limit{Paused: c.paused.Bool, Limit: driver.Limit{
		MaxRunning: int(c.maxRunning.Int64), Rate: int(c.rate.Int64),
		Per: time.Duration(c.period.Int64) * time.Microsecond, Burst: int(c.burst.Int64),
	}}
}
