package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/joblimit"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// readTypeLimits reads the limits of types over all machines. What runs is counted once for all of them.
func readTypeLimits(ctx context.Context, tx *driver.WriteTx, now time.Time) (limits joblimit.Types, err error) {
	usages, err := readUsages(ctx, tx, selectTypeLimits)
	if err != nil {
		return limits, err
	}
	var running map[string]int
	if slices.ContainsFunc(usages, func(s joblimit.Usage) bool { return s.Limit.MaxRunning > 0 }) {
		if running, err = countTypes(ctx, tx); err != nil {
			return limits, err
		}
	}
	limits.Usages = joblimit.NewUsages(driver.TargetType, now)
	for _, s := range usages {
		s.Running = running[s.Name]
		limits.Add(s)
	}
	return limits, nil
}

// countTypes counts the running jobs of each type.
func countTypes(ctx context.Context, tx *driver.WriteTx) (map[string]int, error) {
	running := make(map[string]int)
	rows, err := tx.QueryContext(ctx, countRunning)
	_, err = jobsql.Collect(rows, err, func(row jobsql.Scanner) (n int, err error) {
		var name string
		err = row.Scan(&name, &n)
		running[name] = n
		return n, err
	})
	return running, err
}

// spendTypes subtracts the claimed jobs from the limits of their types.
func spendTypes(ctx context.Context, tx *driver.WriteTx, limits joblimit.Types, jobs []driver.Job) error {
	for i := range jobs {
		limits.Start(jobs[i].Type, 1)
	}
	return writeArrivals(ctx, tx, limits.Usages)
}
