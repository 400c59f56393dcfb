package jobsql_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func migrated(t *testing.T, db queue.DB, statements ...string) {
	t.Helper()
	require.NoError(t, queue.Migrate(t.Context(), db))
	exec(t, db, statements...)
}

func exec(t *testing.T, db driver.DB, statements ...string) {
	t.Helper()
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		for _, statement := range statements {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	}))
}
