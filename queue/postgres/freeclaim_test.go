package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
)

func idsIn(jobs []driver.Job) (ids []string) {
	for _, job := range jobs {
		ids = append(ids, job.ID)
	}
	return ids
}

// claiming claims in a transaction that is open until release is called, as a claim of another machine that is under
// way.
func claiming(
	t *testing.T, db *postgres.DB, limit int, capacities ...driver.TypeCapacity,
) (jobs []driver.Job, release func()) {
	t.Helper()
	release = holding(t, db, func(ctx context.Context, tx *driver.WriteTx) (err error) {
		jobs, err = postgres.ClaimWithin(ctx, tx, driver.ClaimRequest{WorkerID: "other", Types: capacities,
			Limit: limit, Now: driver.Now(db.Driver())})
		return err
	})
	return jobs, release
}

// Claims without limits share the jobs out: one takes the first, and who claims meanwhile, the next.
func TestClaimsWithoutLimitsDoNotWaitForEachOther(t *testing.T) {
	for _, types := range [][]string{{"a"}, {"a", "b"}} {
		for _, capacity := range []int{1 << 20, 2} {
			t.Run(fmt.Sprint(types, capacity), func(t *testing.T) {
				db := openQueue(t)
				var jobs []driver.InsertJob
				for i := range 8 {
					jobs = append(jobs, jobOf(types[i%len(types)], -i))
				}
				insertJobs(t, db, jobs...)
				first, release := claiming(t, db, 2, capacitiesOf(capacity, types...)...)
				require.Equal(t, []string{jobs[0].ID, jobs[1].ID}, idsIn(first))
				within(t, func() error {
					require.Equal(t, []string{jobs[2].ID, jobs[3].ID},
						idsIn(claimOf(t, db, 2, capacitiesOf(capacity, types...)...).Jobs))
					return nil
				})
				release()
				require.Equal(t, []string{jobs[0].ID, jobs[1].ID},
					idsIn(claimOf(t, db, 2, capacitiesOf(capacity, types...)...).Jobs))
			})
		}
	}
}

// However many jobs of several types others hold, a claim finds those that nobody does.
func TestAClaimFindsWhatIsFreeBehindMuchThatIsHeld(t *testing.T) {
	db := openQueue(t)
	const held = 400
	var jobs []driver.InsertJob
	for i := range held {
		jobs = append(jobs, jobOf([]string{"a", "b"}[i%2], 1))
	}
	last := jobOf("b", 0)
	insertJobs(t, db, append(jobs, last)...)
	first, release := claiming(t, db, held, capacitiesOf(held, "a", "b")...)
	require.Len(t, first, held)
	require.Equal(t, []string{last.ID}, idsIn(claimOf(t, db, 1, capacitiesOf(5, "a", "b")...).Jobs))
	release()
}

// A claim that only glances at who holds a job takes what nobody does, although others have held it, have claimed it in
// vain, or the transaction itself has: not only the job's row, its history shows in xmax.
func TestAClaimThatGlancesTakesWhatIsFree(t *testing.T) {
	db := openQueue(t)
	inVain, looked, fresh, held := jobOf("a", 4), jobOf("a", 3), jobOf("a", 2), jobOf("a", 1)
	insertJobs(t, db, inVain, looked, fresh, held)
	undo := errors.New("undo this")
	require.ErrorIs(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
		return errors.Join(db.Driver().Cancel(ctx, tx, inVain.ID), undo)
	}), undo)
	lock := func(ctx context.Context, tx *driver.WriteTx, id string) error {
		_, err := tx.ExecContext(ctx, "SELECT 1 FROM jobs WHERE id = $1 FOR UPDATE", id)
		return err
	}
	// A transaction that is older than all of that goes on.
	release := holding(t, db, func(ctx context.Context, tx *driver.WriteTx) error { return lock(ctx, tx, held.ID) })
	require.NoError(t, driver.Write(t.Context(), db,
		func(ctx context.Context, tx *driver.WriteTx) error { return lock(ctx, tx, looked.ID) }))
	require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
		require.NoError(t, lock(ctx, tx, fresh.ID))
		jobs, err := postgres.ClaimWithin(ctx, tx, driver.ClaimRequest{WorkerID: "w", Types: capacitiesOf(9, "a"),
			Limit: 9, Now: driver.Now(db.Driver())})
		require.ElementsMatch(t, []string{inVain.ID, looked.ID, fresh.ID}, idsIn(jobs))
		return err
	}))
	release()
}

// Of the jobs that have looked held, a claim takes those that are not, and lets the others be.
func TestAClaimOfHeldJobsTakesWhatOnlyLooksHeld(t *testing.T) {
	db := openQueue(t)
	looks, held, claimed := jobOf("a", 3), jobOf("a", 2), jobOf("a", 1)
	insertJobs(t, db, claimed)
	require.Len(t, claimOf(t, db, 1, capacitiesOf(1, "a")...).Jobs, 1)
	insertJobs(t, db, looks, held)
	release := holding(t, db, func(ctx context.Context, tx *driver.WriteTx) error {
		return db.Driver().Cancel(ctx, tx, held.ID)
	})
	defer release()
	holders := make([]string, 3)
	ids := []string{looks.ID, held.ID, claimed.ID}
	for i, id := range ids {
		require.NoError(t, db.Reader().GetContext(t.Context(), &holders[i],
			"SELECT xmax::text FROM jobs WHERE id = $1", id))
	}
	require.Empty(t, claimHeld(t, db, 0, ids, []string{"1", "1", "1"}), "they have had other holders since")
	jobs := claimHeld(t, db, 0, ids, holders)
	require.Equal(t, []string{looks.ID}, idsIn(jobs))
	require.Equal(t, 1, jobs[0].Attempt)
}

func claimHeld(t *testing.T, db *postgres.DB, bytes int, ids, holders []string) []driver.Job {
	t.Helper()
	jobs, err := postgres.ClaimHeld(t.Context(), db, driver.ClaimRequest{WorkerID: "w", Limit: 9, Bytes: bytes,
		Types: capacitiesOf(9, "a"), Now: driver.Now(db.Driver())}, ids, holders)
	require.NoError(t, err)
	return jobs
}

func TestAClaimOfHeldJobsKeepsToItsBytes(t *testing.T) {
	db := openQueue(t)
	first, second, third := jobOf("a", 3), jobOf("a", 2), jobOf("a", 1)
	insertJobs(t, db, third, second, first)
	jobs := claimHeld(t, db, 2, []string{first.ID, second.ID, third.ID}, []string{"0", "0", "0"})
	require.Equal(t, []string{first.ID, second.ID}, idsIn(jobs))
}

// Who sets a limit waits for the claims that have not seen it, so that the next claim counts what they have taken.
func TestALimitIsSetWhenTheClaimsUnderWayHaveEnded(t *testing.T) {
	dsn := dbtest.MigratedDSN(t)
	name := "limiter-" + t.Name()
	db, limiter := machine(t, dsn, "claimer"), machine(t, dsn, name)
	require.NoError(t, queue.Migrate(t.Context(), db))
	insertJobs(t, db, jobOf("a", 1), jobOf("a", 0))
	set := make(chan error, 1)
	require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
		jobs, err := postgres.ClaimWithin(ctx, tx, driver.ClaimRequest{WorkerID: "w", Types: capacitiesOf(1, "a"),
			Limit: 1, Now: driver.Now(db.Driver())})
		require.Len(t, jobs, 1)
		go func() {
			set <- driver.Write(context.Background(), limiter, func(ctx context.Context, tx *driver.WriteTx) error {
				return limiter.Driver().SetLimit(ctx, tx, driver.Target{Kind: driver.TargetType, Name: "a"},
					&driver.Limit{MaxRunning: 1})
			})
		}()
		waitForLock(t, limiter, name, 1)
		return err
	}))
	require.NoError(t, <-set)
	require.Empty(t, claimOf(t, db, 1, capacitiesOf(1, "a")...).Jobs)
}

// Jobs that fall due, and such as expire, keep no claim waiting: each machine takes in what the others do not.
func TestJobsThatFallDueDoNotMakeClaimsWait(t *testing.T) {
	db := openQueue(t)
	due, expired := jobOf("a", 0), jobOf("a", 1)
	due.NotBefore = time.Now().Add(time.Hour)
	expired.ExpiresAt = time.Now().Add(time.Hour)
	ready := jobOf("a", 2)
	insertJobs(t, db, due, expired, ready)
	first, release := claiming(t, db, 1, capacitiesOf(9, "a")...)
	require.Equal(t, []string{ready.ID}, idsIn(first))
	within(t, func() error {
		result, err := db.Driver().Claim(t.Context(), driver.ClaimRequest{WorkerID: "w", Types: capacitiesOf(9, "a"),
			Limit: 1, Now: time.Now().Add(2 * time.Hour)})
		require.Equal(t, []string{due.ID}, idsIn(result.Jobs))
		return err
	})
	release()
	job, err := db.Driver().Job(t.Context(), expired.ID)
	require.NoError(t, err)
	require.Equal(t, driver.StateCanceled, job.State)
}
