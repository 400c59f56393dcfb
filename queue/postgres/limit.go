package postgres

import (
	"context"
	"database/sql"
	"time"

	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// SetLimit implements [queue.Limiter].
func (db *DB) SetLimit(ctx context.Context, tx *queue.Tx, target queue.Target, limit *queue.Limit) error {
	var l queue.Limit
	if limit != nil {
		l = *limit
	}
	return changeLimit(ctx, tx, target, setLimit, string(target.Kind), target.Name,
		l.MaxRunning, l.Rate, l.Per.Microseconds(), l.Burst, tx.Now())
}

// SetPaused implements [queue.Limiter].
func (db *DB) SetPaused(ctx context.Context, tx *queue.Tx, target queue.Target, paused bool) error {
	return changeLimit(ctx, tx, target, setPaused, string(target.Kind), target.Name, paused, tx.Now())
}

// changeLimit puts the ready jobs of the keys concerned back to wait, and marks the keys: the next claim makes ready what
// there is room for now. Types need nothing, their limits are looked at by each claim. No claim goes on meanwhile, so that
// each sees the limit as it was or as it is.
func changeLimit(ctx context.Context, tx *queue.Tx, target queue.Target, change string, args ...any) error {
	if err := later(ctx, tx, lockClaims); err != nil {
		return err
	}
	if err := later(ctx, tx, change, args...); err != nil {
		return err
	}
	if err := later(ctx, tx, deleteNoLimit, string(target.Kind), target.Name); err != nil {
		return err
	}
	if target.Kind != queue.TargetType {
		prefix := target.Kind == queue.TargetKeyPrefix
		if err := later(ctx, tx, putBackReady, prefix, target.Name); err != nil {
			return err
		}
		if err := later(ctx, tx, markWaiting, prefix, target.Name); err != nil {
			return err
		}
	}
	return flush(ctx, tx)
}

// Limits implements [queue.Limiter].
func (db *DB) Limits(ctx context.Context) ([]queue.LimitStatus, error) {
	rows, err := db.db.QueryxContext(ctx, selectLimits)
	return jobrow.Collect(rows, err, func(row jobrow.Scanner) (s queue.LimitStatus, err error) {
		var maxRunning, rate, period, burst sql.NullInt64
		err = row.Scan(&s.Kind, &s.Name, &s.Paused, &maxRunning, &rate, &period, &burst)
		s.MaxRunning, s.Rate, s.Burst = int(maxRunning.Int64), int(rate.Int64), int(burst.Int64)
		s.Per = time.Duration(period.Int64) * time.Microsecond
		return s, err
	})
}
