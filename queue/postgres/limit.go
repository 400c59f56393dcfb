package postgres

import (
	"context"
	"database/sql"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// SetLimit implements [driver.Limiter].
func (db *DB) SetLimit(ctx context.Context, tx *driver.WriteTx, target driver.Target, limit *driver.Limit) error {
	var l driver.Limit
	if limit != nil {
		l = *limit
	}
	return changeLimit(ctx, tx, target, setLimit, string(target.Kind), target.Name,
		l.MaxRunning, l.Rate, l.Per.Microseconds(), l.Burst, tx.Now())
}

// SetPaused implements [driver.Limiter].
func (db *DB) SetPaused(ctx context.Context, tx *driver.WriteTx, target driver.Target, paused bool) error {
	return changeLimit(ctx, tx, target, setPaused, string(target.Kind), target.Name, paused, tx.Now())
}

// changeLimit puts the ready jobs of the keys concerned back to wait, and marks the keys: the next claim makes ready what
// there is room for now. Types need nothing, their limits are looked at by each claim. No claim goes on meanwhile, so that
// each sees the limit as it was or as it is.
func changeLimit(ctx context.Context, tx *driver.WriteTx, target driver.Target, change string, args ...any) error {
	if err := later(ctx, tx, lockClaims); err != nil {
		return err
	}
	if err := later(ctx, tx, change, args...); err != nil {
		return err
	}
	if err := later(ctx, tx, deleteNoLimit, string(target.Kind), target.Name); err != nil {
		return err
	}
	if target.Kind != driver.TargetType {
		prefix := target.Kind == driver.TargetKeyPrefix
		if err := later(ctx, tx, putBackReady, prefix, target.Name); err != nil {
			return err
		}
		if err := later(ctx, tx, markWaiting, prefix, target.Name); err != nil {
			return err
		}
	}
	return flush(ctx, tx)
}

// Limits implements [driver.Limiter].
func (db *DB) Limits(ctx context.Context) ([]driver.LimitStatus, error) {
	rows, err := db.db.QueryContext(ctx, selectLimits)
	return jobsql.Collect(rows, err, func(row jobsql.Scanner) (s driver.LimitStatus, err error) {
		var maxRunning, rate, period, burst sql.NullInt64
		err = row.Scan(&s.Kind, &s.Name, &s.Paused, &maxRunning, &rate, &period, &burst)
		s.MaxRunning, s.Rate, s.Burst = int(maxRunning.Int64), int(rate.Int64), int(burst.Int64)
		s.Per = time.Duration(period.Int64) * time.Microsecond
		return s, err
	})
}
