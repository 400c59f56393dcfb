package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// SetLimit implements [driver.Limiter].
func (db *DB) SetLimit(ctx context.Context, tx *driver.WriteTx, target driver.Target, limit *driver.Limit) error {
	var l driver.Limit
	if limit != nil {
		l = *limit
	}
	_, err := tx.ExecContext(ctx, setLimit, string(target.Kind), target.Name,
		nullInt(l.MaxRunning), nullInt(l.Rate), nullInt(int(l.Per.Microseconds())), nullInt(l.Burst), dbtime.Of(tx.Now()))
	if err != nil {
		return err
	}
	return limitChanged(ctx, tx, target)
}

// SetPaused implements [driver.Limiter].
func (db *DB) SetPaused(ctx context.Context, tx *driver.WriteTx, target driver.Target, paused bool) error {
	if _, err := tx.ExecContext(ctx, setPaused, string(target.Kind), target.Name, paused, dbtime.Of(tx.Now())); err != nil {
		return err
	}
	return limitChanged(ctx, tx, target)
}

// limitChanged has the ready jobs of the keys concerned wait like all that have a limited key, and marks the keys: the next
// claims look how much room there is now. Types need nothing, their limits are looked at by each claim.
func limitChanged(ctx context.Context, tx *driver.WriteTx, target driver.Target) error {
	if _, err := tx.ExecContext(ctx, deleteNoLimit, string(target.Kind), target.Name); err != nil {
		return err
	}
	var which string
	switch target.Kind {
	case driver.TargetKey:
		which = theKey
	case driver.TargetKeyPrefix:
		which = keysWithPrefix
	default:
		return nil
	}
	for _, statement := range []string{putBackReady + which, markWaiting + which + onceMarked} {
		if _, err := tx.ExecContext(ctx, statement, target.Name); err != nil {
			return err
		}
	}
	return nil
}

// Limits implements [driver.Limiter].
func (db *DB) Limits(ctx context.Context) ([]driver.LimitStatus, error) {
	rows, err := db.reader.QueryContext(ctx, selectLimits)
	return jobsql.Collect(rows, err, func(row jobsql.Scanner) (s driver.LimitStatus, err error) {
		var maxRunning, rate, period, burst sql.NullInt64
		err = row.Scan(&s.Kind, &s.Name, &s.Paused, &maxRunning, &rate, &period, &burst)
		s.MaxRunning, s.Rate, s.Burst = int(maxRunning.Int64), int(rate.Int64), int(burst.Int64)
		s.Per = time.Duration(period.Int64) * time.Microsecond
		return s, err
	})
}

// nullInt is NULL for zero.
func nullInt(n int) any {
	if n == 0 {
		return nil
	}
	return n
}
