package sqlite

import (
	"context"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// Stats implements [driver.Inspector].
func (db *engine) Stats(ctx context.Context, query driver.StatsQuery) (*driver.Stats, error) {
	workers, err := db.Workers(ctx)
	if err != nil {
		return nil, err
	}
	return jobsql.ReadStats(ctx, db.reader, driver.SQLite, query, workers)
}
