package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
)

// Jobs that only look held, of types that are paused or at their limit, are not claimed, and keep no other from it.
func TestJobsOfClosedTypesThatLookHeldAreLeft(t *testing.T) {
	cluster := dbtest.NewCluster(t)
	cluster.SkipMultixacts(t)
	db, err := postgres.Open(t.Context(), cluster.DSN(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	require.NoError(t, queue.Migrate(t.Context(), db))
	paused := driver.Target{Kind: driver.TargetType, Name: "paused"}
	require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
		return db.Driver().SetPaused(ctx, tx, paused, true)
	}))
	limit(t, db, driver.Target{Kind: driver.TargetType, Name: "full"}, driver.Limit{MaxRunning: 1})
	insertJobs(t, db, jobOf("full", 0))
	require.Len(t, claimOf(t, db, 1, capacitiesOf(9, "full")...).Jobs, 1)

	closed := []driver.InsertJob{jobOf("paused", 2), jobOf("paused", 2), jobOf("full", 2), jobOf("full", 2)}
	open := jobOf("open", 1)
	insertJobs(t, db, append(closed, open)...)
	for _, job := range append(closed, open) {
		lockTogether(t, db, job.ID)
	}
	release := holding(t, db, func(ctx context.Context, tx *driver.WriteTx) error {
		return db.Driver().Cancel(ctx, tx, closed[0].ID)
	})
	defer release()
	for began := time.Now(); ; {
		insertJobs(t, db, jobOf("open", 0))
		claimed := claimOf(t, db, 1, capacitiesOf(9, "paused", "full", "open")...).Jobs
		for _, job := range claimed {
			require.Equal(t, "open", job.Type)
			if job.ID == open.ID {
				return
			}
		}
		require.Less(t, time.Since(began), 10*time.Second, "the others crowd it out")
	}
}
