package llm

import (
	"context"
	"embed"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

// giveDB says where a database comes from.
const giveDB = "a database opened with queue/sqlite or queue/postgres"

// Migrate creates the tables of this package (llm_calls, llm_spend, llm_answers, llm_outages) or brings them up to
// date. Call it at every start; several processes may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("llm: Migrate: db", db, giveDB); err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "llm", migrations)
}

// RecordsConfig configures [Records]. It is copied and checked once, by [NewRecords].
type RecordsConfig struct {
	// DB holds the records. Required; [Migrate] must have prepared it.
	DB queue.DB
	// Zone is where the days of budgets begin at midnight. Default UTC.
	Zone *time.Location
}

// Records are the calls, their costs, and the stored answers. [NewRecords] makes them.
type Records struct{ cfg RecordsConfig }

// NewRecords makes records; a missing field is an error that names it.
func NewRecords(cfg RecordsConfig) (*Records, error) {
	if err := fields.Required("llm: RecordsConfig.DB", cfg.DB, giveDB); err != nil {
		return nil, err
	}
	if cfg.Zone == nil {
		cfg.Zone = time.UTC
	}
	return &Records{cfg: cfg}, nil
}

// Prune deletes the records of calls made before the time, and expired answers. It returns the number of calls. The
// spending of each day stays.
func (r *Records) Prune(ctx context.Context, before time.Time) (int, error) {
	if _, err := dbquery.DeleteInBatches(ctx, r.cfg.DB, sqlPruneAnswers, dbtime.Of(time.Now())); err != nil {
		return 0, fmt.Errorf("prune the answers of models: %w", err)
	}
	n, err := dbquery.DeleteInBatches(ctx, r.cfg.DB, sqlPruneCalls, dbtime.Of(before))
	if err != nil {
		return n, fmt.Errorf("prune records of models: %w", err)
	}
	return n, nil
}
