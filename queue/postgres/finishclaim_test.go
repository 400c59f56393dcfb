package postgres_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
)

// endAndClaim ends jobs, whose limit keys it names, and claims in the same transaction.
func endAndClaim(t *testing.T, db *postgres.DB, limit int, jobs ...driver.Job) driver.ClaimResult {
	t.Helper()
	var claimed func() driver.ClaimResult
	require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) (err error) {
		outcomes := make([]driver.Outcome, len(jobs))
		for i := range jobs {
			outcomes[i] = driver.Outcome{
				Lease: jobs[i].Lease(), State: driver.StateCompleted, Kind: driver.KindCompleted, At: tx.Now(),
				LimitKey: jobs[i].LimitKey,
			}
		}
		_, claimed, err = db.Driver().(driver.FinishClaimer).FinishAndClaim(ctx, tx, outcomes, driver.ClaimRequest{
			WorkerID: "w", Types: capacitiesOf(limit, "a"), Limit: limit, Now: driver.Now(db.Driver()),
		})
		return err
	}))
	return claimed()
}

// The ends are sent with the look at what may be claimed after them, and the claim with the commit.
func TestAnEndThatClaimsTakesTwoRoundTrips(t *testing.T) {
	f := newFenced(t)
	limit(t, f.db, driver.Target{Kind: driver.TargetKey, Name: "k"}, driver.Limit{MaxRunning: 1})
	for range 12 {
		insertJobs(t, f.db, keyed("k", 0))
	}
	running := claimOf(t, f.db, 2, capacitiesOf(2, "a")...).Jobs
	least := int64(99)
	for range 11 {
		before := f.proxy.trips.Load()
		next := endAndClaim(t, f.db, 2, running...)
		// Statements are prepared at first.
		least = min(least, f.proxy.trips.Load()-before)
		require.Len(t, next.Jobs, 1)
		require.False(t, next.More)
		running = next.Jobs
	}
	require.EqualValues(t, 2, least)
}

// However many of the first jobs of a key others hold, the first that nobody holds is claimed, and what is held is
// found later.
func TestAClaimPassesOverAllHeldJobsOfAKey(t *testing.T) {
	for name, claim := range map[string]func(*testing.T, *postgres.DB, []driver.Job) driver.ClaimResult{
		"a claim": func(t *testing.T, db *postgres.DB, running []driver.Job) driver.ClaimResult {
			t.Helper()
			require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
				_, err := db.Driver().Finish(ctx, tx, []driver.Outcome{{
					Lease: running[0].Lease(), State: driver.StateCompleted, Kind: driver.KindCompleted, At: tx.Now(),
				}})
				return err
			}))
			return claimOf(t, db, 3, capacitiesOf(3, "a")...)
		},
		"an end that claims": func(t *testing.T, db *postgres.DB, running []driver.Job) driver.ClaimResult {
			t.Helper()
			return endAndClaim(t, db, 3, running...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := openQueue(t)
			limit(t, db, driver.Target{Kind: driver.TargetKey, Name: "k"}, driver.Limit{MaxRunning: 1})
			held := []driver.InsertJob{keyed("k", 8), keyed("k", 7), keyed("k", 7)}
			free := []driver.InsertJob{keyed("k", 7), keyed("k", 0)}
			insertJobs(t, db, keyed("k", 9))
			running := claimOf(t, db, 3, capacitiesOf(3, "a")...).Jobs
			insertJobs(t, db, held...)
			insertJobs(t, db, free...)
			release := holding(t, db, func(ctx context.Context, tx *driver.WriteTx) error {
				for i := range held {
					require.NoError(t, db.Driver().Cancel(ctx, tx, held[i].ID))
				}
				return nil
			})
			for _, want := range free {
				got := claim(t, db, running).Jobs
				require.Len(t, got, 1)
				require.Equal(t, want.ID, got[0].ID)
				running = got
			}
			release()
			for _, want := range held {
				got := claim(t, db, running).Jobs
				require.Len(t, got, 1)
				require.Equal(t, want.ID, got[0].ID)
				running = got
			}
		})
	}
}
