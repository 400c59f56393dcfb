package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
)

// A row on which several transactions have had locks keeps the number of that set of locks, which looks like a
// transaction that has not ended. Its job is claimed although each claim finds other jobs, with limits and without.
func TestAJobThatOnlyLooksHeldIsClaimedBesideOthers(t *testing.T) {
	cluster := dbtest.NewCluster(t)
	cluster.SkipMultixacts(t)
	db, err := postgres.Open(t.Context(), cluster.DSN(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	require.NoError(t, queue.Migrate(t.Context(), db))
	for _, limited := range []bool{false, true} {
		if limited {
			require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
				return db.Driver().SetLimit(ctx, tx, driver.Target{Kind: driver.TargetType, Name: "other"},
					&driver.Limit{MaxRunning: 1})
			}))
		}
		for _, types := range [][]string{{"a"}, {"a", "b"}} {
			t.Run(fmt.Sprint(limited, types), func(t *testing.T) { claimBesideOthers(t, db, types) })
		}
	}
}

func claimBesideOthers(t *testing.T, db *postgres.DB, types []string) {
	t.Helper()
	looksHeld := jobOf("a", 1)
	insertJobs(t, db, looksHeld)
	lockTogether(t, db, looksHeld.ID)
	for began := time.Now(); ; {
		insertJobs(t, db, jobOf("a", 0))
		if slices.Contains(idsIn(claimOf(t, db, 1, capacitiesOf(9, types...)...).Jobs), looksHeld.ID) {
			return
		}
		require.Less(t, time.Since(began), 20*time.Second, "it is passed over")
	}
}

// lockTogether has two transactions share a lock of the job, and let go of it.
func lockTogether(t *testing.T, db *postgres.DB, id string) {
	t.Helper()
	for range 2 {
		tx, err := db.Reader().BeginTxx(t.Context(), nil)
		require.NoError(t, err)
		defer func() { require.NoError(t, tx.Rollback()) }()
		_, err = tx.ExecContext(t.Context(), "SELECT 1 FROM jobs WHERE id = $1 FOR SHARE", id)
		require.NoError(t, err)
	}
}
