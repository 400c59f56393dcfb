package postgres

import (
	"context"
	"database/sql"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/joblimit"
	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// limitColumns are paused, max_running, rate, period_us, burst of a row.
type limitColumns struct {
	paused                          bool
	maxRunning, rate, period, burst sql.NullInt64
}

func (c *limitColumns) dest() []any {
	return []any{&c.paused, &c.maxRunning, &c.rate, &c.period, &c.burst}
}

func (c *limitColumns) limit() joblimit.Limit {
	return joblimit.Limit{
		Paused: c.paused, MaxRunning: int(c.maxRunning.Int64), Rate: int(c.rate.Int64), Burst: int(c.burst.Int64),
		Period: time.Duration(c.period.Int64) * time.Microsecond,
	}
}

// arrivals are where rates stand from now on.
type arrivals struct {
	kinds, names []string
	at           []time.Time
}

// spend takes n starts off a rate.
func (a *arrivals) spend(kind, name string, limit joblimit.Limit, arrival, now time.Time, n int) {
	if limit.Rate == 0 || n == 0 {
		return
	}
	a.kinds = append(a.kinds, kind)
	a.names = append(a.names, name)
	a.at = append(a.at, limit.Arrive(arrival, now, n))
}

func (a *arrivals) write(ctx context.Context, tx *queue.Tx) error {
	if len(a.names) == 0 {
		return nil
	}
	return later(ctx, tx, setArrivals, a.kinds, a.names, a.at)
}

// spendKeys takes what has been claimed off the rates of its keys.
func spendKeys(ctx context.Context, tx *queue.Tx, jobs []queue.Job, now time.Time) error {
	started := make(map[string]int)
	var keys []string
	for i := range jobs {
		if key := jobs[i].LimitKey; key != "" {
			if started[key]++; started[key] == 1 {
				keys = append(keys, key)
			}
		}
	}
	if len(keys) == 0 {
		return nil
	}
	var spent arrivals
	_, err := query(ctx, tx, func(row jobrow.Scanner) (key string, err error) {
		var columns limitColumns
		var arrival dbtime.Time
		err = row.Scan(append(append([]any{&key}, columns.dest()...), &arrival)...)
		spent.spend("key", key, columns.limit().For(key), arrival.Time, now, started[key])
		return key, err
	}, selectKeyRates, keys)
	if err != nil {
		return err
	}
	return spent.write(ctx, tx)
}
