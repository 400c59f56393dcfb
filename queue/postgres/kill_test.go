package postgres_test

import (
	"context"
	"testing"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/jobtree"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
)

func TestMain(m *testing.M) { jobtree.Main(m, openWorkload, queue.Migrate) }

func openWorkload(ctx context.Context, dsn string) (queue.DB, error) {
	return postgres.Open(ctx, dsn, nil)
}

func TestKilledProcessesLoseAndDoubleNothing(t *testing.T) {
	// The server lives on, and what it has told is safe with it, on the disk or not yet.
	jobtree.Kill(t, openWorkload, dbtest.MigratedDSN(t)+"&synchronous_commit=off")
}
