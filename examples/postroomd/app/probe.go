package app

import (
	"context"
	"embed"
	"time"

	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

// migrateProbe makes the table of the row that a health check writes.
func migrateProbe(ctx context.Context, db queue.DB) error {
	return migrate.Up(ctx, db, string(db.Dialect()), "postroomd", migrations)
}

const writeProbe = `
INSERT INTO postroomd_probes (id, written) VALUES (1, 1)
ON CONFLICT (id) DO UPDATE SET written = postroomd_probes.written + 1`

// ProbeTimeout is how long a health check waits for the database.
const ProbeTimeout = 3 * time.Second

// Probe writes a row: a database that can be read and not be written, such as one on a full disk, is of no use.
func (h *App) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ProbeTimeout)
	defer cancel()
	probed := make(chan error, 1)
	go func() {
		probed <- h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, writeProbe)
			return err
		})
	}()
	select {
	case err := <-probed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
