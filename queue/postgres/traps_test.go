package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
)

// "Scanning: a hundred thousand jobs scheduled for next week, of higher priority, must not slow the claim of one that
// is due". What counts is what is looked at, by whatever plan.
func TestTrapScheduledJobsInTheWay(t *testing.T) {
	db := openQueue(t)
	scheduled := make([]driver.InsertJob, 20_000)
	for i := range scheduled {
		scheduled[i] = jobOf("t", 9)
		scheduled[i].NotBefore = time.Now().Add(7 * 24 * time.Hour)
	}
	insertJobs(t, db, scheduled...)
	insertJobs(t, db, jobOf("t", 0))
	for _, analyzed := range []bool{false, true} {
		if analyzed {
			_, err := db.Reader().ExecContext(t.Context(), "ANALYZE jobs")
			require.NoError(t, err)
		}
		plan := explained(t, db, postgres.Planned["claimOfType"], "'w', now(), 't', 10, 0")
		require.Contains(t, plan, "using jobs_ready", plan)
		require.NotContains(t, plan, "Rows Removed by Filter", plan)
		require.NotContains(t, plan, "Seq Scan", plan)
	}
	require.Len(t, claimOf(t, db, 10, capacitiesOf(10, "t")...).Jobs, 1)
}

var errUndo = errors.New("undo this")

// explained runs the statement as a claim does, and undoes it.
func explained(t *testing.T, db *postgres.DB, statement, arguments string) string {
	t.Helper()
	var plan strings.Builder
	err := driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
		for _, text := range []string{postgres.PlanOurs, "PREPARE explained AS " + statement} {
			_, err := tx.ExecContext(ctx, text)
			require.NoError(t, err)
		}
		rows, err := tx.QueryContext(ctx, "EXPLAIN (ANALYZE) EXECUTE explained ("+arguments+")")
		require.NoError(t, err)
		defer rows.Close()
		for rows.Next() {
			var line string
			require.NoError(t, rows.Scan(&line))
			plan.WriteString(line + "\n")
		}
		require.NoError(t, rows.Err())
		_, err = tx.ExecContext(ctx, "DEALLOCATE explained")
		require.NoError(t, err)
		return errUndo
	})
	require.ErrorIs(t, err, errUndo)
	return plan.String()
}
