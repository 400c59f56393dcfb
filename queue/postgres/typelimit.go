package postgres

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/joblimit"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// A typeCount is how many jobs of a type run.
type typeCount struct {
	name string
	n    int
}

func scanTypeCount(row jobsql.Scanner) (c typeCount, err error) {
	err = row.Scan(&c.name, &c.n)
	return c, err
}

// readTypeLimits locks the limits of the types that are asked for, and reads them: limits over all machines.
func readTypeLimits(ctx context.Context, tx *driver.WriteTx, asked []string, now time.Time) (limits joblimit.Types, err error) {
	if err := later(ctx, tx, lockTypeLimits, asked); err != nil {
		return limits, err
	}
	var read []joblimit.Usage
	if err := laterInto(ctx, tx, &read, scanUsage, selectTypeLimits, asked); err != nil {
		return limits, err
	}
	counts, err := query(ctx, tx, scanTypeCount, countRunning)
	if err != nil {
		return limits, err
	}
	running := make(map[string]int, len(counts))
	for _, c := range counts {
		running[c.name] = c.n
	}
	limits.Usages = joblimit.NewUsages(driver.TargetType, now)
	for _, s := range read {
		s.Running = running[s.Name]
		limits.Add(s)
	}
	return limits, nil
}

// spendTypes takes what is claimed off the limits of its types.
func spendTypes(ctx context.Context, tx *driver.WriteTx, limits joblimit.Types, claimed []place) error {
	for i := range claimed {
		limits.Start(claimed[i].jobType, 1)
	}
	return writeArrivals(ctx, tx, limits.Usages)
}
