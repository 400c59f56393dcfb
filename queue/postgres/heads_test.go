package postgres_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
)

func keyed(key string, priority int) driver.InsertJob {
	job := jobOf("a", priority)
	job.LimitKey = key
	return job
}

func limit(t *testing.T, db *postgres.DB, target driver.Target, to driver.Limit) {
	t.Helper()
	require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
		return db.Driver().SetLimit(ctx, tx, target, &to)
	}))
}

// standStill leaves a claim standing in the midst of its transaction, for as long as the server allows; stop has it go
// on and returns its error.
func standStill(t *testing.T, db *postgres.DB, limit int) (stop func() error) {
	t.Helper()
	return stand(t, db, limit, "SELECT 1")
}

// underWay is standStill for a claim that is under way until stop is called, however slow the machine is.
func underWay(t *testing.T, db *postgres.DB, limit int) (stop func()) {
	t.Helper()
	end := stand(t, db, limit, "SET LOCAL idle_in_transaction_session_timeout = 0")
	return func() { require.NoError(t, end()) }
}

func stand(t *testing.T, db *postgres.DB, limit int, last string) (stop func() error) {
	t.Helper()
	still, resume, ended := make(chan error, 1), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- driver.Write(context.Background(), db, func(ctx context.Context, tx *driver.WriteTx) error {
			err := postgres.ChooseWithin(ctx, tx,
				driver.ClaimRequest{WorkerID: "still", Types: capacitiesOf(limit, "a"), Limit: limit,
					Now: driver.Now(db.Driver())})
			if err == nil {
				_, err = tx.ExecContext(ctx, last)
			}
			still <- err
			<-resume
			_, err = tx.ExecContext(ctx, "SELECT 1")
			return err
		})
	}()
	require.NoError(t, <-still)
	return func() error {
		close(resume)
		return <-ended
	}
}

// A machine that stands still in the midst of its claim, or is gone without a word, keeps the others from jobs of the
// same limited type for seconds, and not until somebody notices.
func TestAClaimThatStandsStillKeepsNobodyFromTheirs(t *testing.T) {
	db := openQueue(t)
	limit(t, db, driver.Target{Kind: driver.TargetType, Name: "a"}, driver.Limit{MaxRunning: 1})
	insertJobs(t, db, jobOf("a", 0))
	stop := standStill(t, db, 1)
	within(t, func() error {
		result, err := db.Driver().Claim(t.Context(), driver.ClaimRequest{WorkerID: "w", Types: capacitiesOf(1, "a"),
			Limit: 1, Now: driver.Now(db.Driver())})
		require.Len(t, result.Jobs, 1)
		return err
	})
	require.ErrorContains(t, stop(), "idle-in-transaction timeout", "the server has ended it, not the test")
}

// claimBeside is claimOf, which must not wait for the claims of others.
func claimBeside(t *testing.T, db *postgres.DB, limit int) (result driver.ClaimResult) {
	t.Helper()
	within(t, func() (err error) {
		result, err = db.Driver().Claim(t.Context(), driver.ClaimRequest{WorkerID: "w", Types: capacitiesOf(limit, "a"),
			Limit: limit, Now: driver.Now(db.Driver())})
		return err
	})
	return result
}

// Claims that share no limit key do not wait for each other, and one passes over a key that another looks at.
func TestClaimsPassOverTheKeysOfOthers(t *testing.T) {
	db := openQueue(t)
	limit(t, db, driver.Target{Kind: driver.TargetKeyPrefix, Name: "k"}, driver.Limit{MaxRunning: 1})
	for i := range 30 { // of which a claim of one job looks at eleven
		insertJobs(t, db, keyed(fmt.Sprintf("k%02d", i), 30-i))
	}
	stop := underWay(t, db, 1)
	claimed := claimBeside(t, db, 100)
	require.Len(t, claimed.Jobs, 19)
	require.Equal(t, "k11", claimed.Jobs[0].LimitKey)
	began := driver.Now(db.Driver())
	none := claimBeside(t, db, 100)
	require.Empty(t, none.Jobs)
	require.False(t, none.More)
	require.WithinRange(t, none.NextDue, began.Add(-time.Second), driver.Now(db.Driver()).Add(time.Second),
		"it comes again soon")
	stop()
	require.Len(t, claimOf(t, db, 100, capacitiesOf(100, "a")...).Jobs, 11)
}

// A key that may have capacity again is marked. A claim passes over the mark that another looks at, and over its key.
func TestClaimsPassOverTheMarksOfOthers(t *testing.T) {
	db := openQueue(t)
	limit(t, db, driver.Target{Kind: driver.TargetKeyPrefix, Name: "k"}, driver.Limit{MaxRunning: 1})
	insertJobs(t, db, keyed("k1", 2), keyed("k1", 1))
	running := claimOf(t, db, 2, capacitiesOf(2, "a")...).Jobs
	require.Len(t, running, 1)
	require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := db.Driver().Finish(ctx, tx,
			[]driver.Outcome{{Lease: running[0].Lease(), State: driver.StateCompleted, Kind: driver.KindCompleted,
				At: tx.Now()}})
		return err
	}))
	stop := underWay(t, db, 1)
	insertJobs(t, db, keyed("k2", 0))
	claimed := claimBeside(t, db, 2)
	require.Len(t, claimed.Jobs, 1)
	require.Equal(t, "k2", claimed.Jobs[0].LimitKey)
	stop()
	claimed = claimBeside(t, db, 2)
	require.Len(t, claimed.Jobs, 1)
	require.Equal(t, "k1", claimed.Jobs[0].LimitKey)
}

// A claim that sees a key's latest head, and not the one that another claim has locked, still passes over the key.
func TestAKeyIsAnothersThoughAHeadOfItIsNew(t *testing.T) {
	db := openQueue(t)
	limit(t, db, driver.Target{Kind: driver.TargetKey, Name: "k"}, driver.Limit{MaxRunning: 1})
	insertJobs(t, db, keyed("k", 0))
	stop := underWay(t, db, 1)
	insertJobs(t, db, keyed("k", 1))
	require.Empty(t, claimBeside(t, db, 2).Jobs)
	stop()
	require.Len(t, claimOf(t, db, 2, capacitiesOf(2, "a")...).Jobs, 1)
}

// What a transaction of somebody's holds of a key is passed over, and found when it is let go.
func TestWaitingJobsThatAreHeldArePassedOverAndFoundAgain(t *testing.T) {
	db := openQueue(t)
	limit(t, db, driver.Target{Kind: driver.TargetKey, Name: "k"}, driver.Limit{MaxRunning: 3})
	held, first, second := keyed("k", 5), keyed("k", 1), keyed("k", 0)
	insertJobs(t, db, held, first, second)
	release := holding(t, db, func(ctx context.Context, tx *driver.WriteTx) error {
		return db.Driver().Cancel(ctx, tx,
			held.ID)
	})
	jobs := claimOf(t, db, 3, capacitiesOf(3, "a")...).Jobs
	require.Equal(t, []string{first.ID, second.ID}, []string{jobs[0].ID, jobs[1].ID})
	release()
	jobs = claimOf(t, db, 3, capacitiesOf(3, "a")...).Jobs
	require.Len(t, jobs, 1)
	require.Equal(t, held.ID, jobs[0].ID)
}

// Whatever number of keys somebody holds all jobs of, a claim finds the others.
func TestAClaimPassesOverManyKeysOfWhichAllIsHeld(t *testing.T) {
	db := openQueue(t)
	limit(t, db, driver.Target{Kind: driver.TargetKeyPrefix, Name: "k"}, driver.Limit{MaxRunning: 1})
	held := make([]driver.InsertJob, 40)
	for i := range held {
		held[i] = keyed(fmt.Sprint("k", i), 1)
	}
	insertJobs(t, db, held...)
	other := keyed("other", 0)
	insertJobs(t, db, other)
	release := holding(t, db, func(ctx context.Context, tx *driver.WriteTx) error {
		for i := range held {
			require.NoError(t, db.Driver().Cancel(ctx, tx, held[i].ID))
		}
		return nil
	})
	jobs := claimOf(t, db, 1, capacitiesOf(1, "a")...).Jobs
	require.Len(t, jobs, 1)
	require.Equal(t, other.ID, jobs[0].ID)
	none := claimOf(t, db, 1, capacitiesOf(1, "a")...)
	require.Empty(t, none.Jobs)
	require.False(t, none.More, "it would find the same")
	release()
	require.Len(t, claimOf(t, db, 100, capacitiesOf(100, "a")...).Jobs, 40)
}

// A job comes to wait, and is looked at, between the end of another job of its key and the commit of that.
func TestAKeyIsLookedAtAgainWhenWhatEndedItsJobCommits(t *testing.T) {
	for name, end := range map[string]func(context.Context, *driver.WriteTx, driver.Driver, []driver.Outcome) error{
		"an end": func(ctx context.Context, tx *driver.WriteTx, d driver.Driver, outcomes []driver.Outcome) error {
			_, err := d.Finish(ctx, tx, outcomes)
			return err
		},
		"an end that claims": func(ctx context.Context, tx *driver.WriteTx, d driver.Driver,
			outcomes []driver.Outcome) error {
			_, claimed, err := d.(driver.FinishClaimer).FinishAndClaim(ctx, tx, outcomes, driver.ClaimRequest{
				WorkerID: "w", Types: capacitiesOf(9, "a"), Limit: 9, Now: driver.Now(d),
			})
			tx.OnCommit(func() { require.Empty(t, claimed().Jobs) })
			return err
		},
	} {
		t.Run(name, func(t *testing.T) { comeBeforeTheCommit(t, end) })
	}
}

func comeBeforeTheCommit(
	t *testing.T, end func(context.Context, *driver.WriteTx, driver.Driver, []driver.Outcome) error,
) {
	t.Helper()
	db := openQueue(t)
	limit(t, db, driver.Target{Kind: driver.TargetKey, Name: "k"}, driver.Limit{MaxRunning: 1})
	insertJobs(t, db, keyed("k", 0))
	running := claimOf(t, db, 2, capacitiesOf(2, "a")...).Jobs
	require.Len(t, running, 1)
	next := keyed("k", 0)
	require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
		outcomes := []driver.Outcome{{Lease: running[0].Lease(), State: driver.StateCompleted,
			Kind: driver.KindCompleted, At: tx.Now()}}
		require.NoError(t, end(ctx, tx, db.Driver(), outcomes))
		ended := make(chan error, 1)
		go func() {
			defer close(ended)
			insertJobs(t, db, next)
			result, err := db.Driver().Claim(context.Background(),
				driver.ClaimRequest{WorkerID: "w", Types: capacitiesOf(2, "a"), Limit: 2, Now: driver.Now(db.Driver())})
			if len(result.Jobs) > 0 {
				err = fmt.Errorf("%d run beside one that has not ended", len(result.Jobs))
			}
			ended <- err
		}()
		return <-ended
	}))
	jobs := claimOf(t, db, 2, capacitiesOf(2, "a")...).Jobs
	require.Len(t, jobs, 1)
	require.Equal(t, next.ID, jobs[0].ID)
}

// An end claims what waits for its key, without a mark, and leaves one of the jobs asked for to a claim that looks for
// others.
func TestAnEndThatClaimsLeavesAPlaceForOthers(t *testing.T) {
	db := openQueue(t)
	limit(t, db, driver.Target{Kind: driver.TargetKey, Name: "k"}, driver.Limit{MaxRunning: 2})
	insertJobs(t, db, keyed("k", 2), keyed("k", 1), keyed("k", 0), keyed("k", 0))
	running := claimOf(t, db, 2, capacitiesOf(2, "a")...).Jobs
	require.Len(t, running, 2)
	urgent := jobOf("a", 9)
	insertJobs(t, db, urgent)
	endAndClaim := func(limit int, jobs ...driver.Job) driver.ClaimResult {
		var claimed func() driver.ClaimResult
		require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) (err error) {
			outcomes := make([]driver.Outcome, len(jobs))
			for i := range jobs {
				outcomes[i] = driver.Outcome{Lease: jobs[i].Lease(), State: driver.StateCompleted,
					Kind: driver.KindCompleted, At: tx.Now()}
			}
			_, claimed, err = db.Driver().(driver.FinishClaimer).FinishAndClaim(ctx, tx, outcomes, driver.ClaimRequest{
				WorkerID: "w", Types: capacitiesOf(limit, "a"), Limit: limit, Now: driver.Now(db.Driver()),
			})
			return err
		}))
		return claimed()
	}
	marks := func() (n int) {
		require.NoError(t, db.Reader().Get(&n, "SELECT COUNT(*) FROM job_limit_marks"))
		return n
	}
	result := endAndClaim(2, running...)
	require.Len(t, result.Jobs, 1)
	require.True(t, result.More)
	require.Zero(t, marks())
	got := claimOf(t, db, 1, capacitiesOf(1, "a")...).Jobs
	require.Len(t, got, 1)
	require.Equal(t, urgent.ID, got[0].ID)
	result = endAndClaim(1, result.Jobs...)
	require.Empty(t, result.Jobs, "the one place is not the key's")
	require.True(t, result.More)
	require.Equal(t, 1, marks())
	require.Len(t, claimOf(t, db, 9, capacitiesOf(9, "a")...).Jobs, 1)
}

// Who sets a limit in a transaction that stays open keeps others from claiming, and not from writing how jobs have
// ended.
func TestAnEndDoesNotWaitForWhoSetsALimit(t *testing.T) {
	db := openQueue(t)
	key := driver.Target{Kind: driver.TargetKey, Name: "k"}
	limit(t, db, key, driver.Limit{MaxRunning: 1})
	insertJobs(t, db, keyed("k", 1), keyed("k", 0))
	running := claimOf(t, db, 2, capacitiesOf(2, "a")...).Jobs
	require.Len(t, running, 1)
	release := holding(t, db, func(ctx context.Context, tx *driver.WriteTx) error {
		return db.Driver().SetLimit(ctx, tx,
			key, nil)
	})
	within(t, func() error {
		return driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
			outcomes := []driver.Outcome{{Lease: running[0].Lease(), State: driver.StateCompleted,
				Kind: driver.KindCompleted, At: tx.Now()}}
			_, claimed, err := db.Driver().(driver.FinishClaimer).FinishAndClaim(ctx, tx, outcomes, driver.ClaimRequest{
				WorkerID: "w", Types: capacitiesOf(2, "a"), Limit: 2, Now: driver.Now(db.Driver()),
			})
			tx.OnCommit(func() {
				result := claimed()
				require.Empty(t, result.Jobs)
				require.True(t, result.More)
			})
			return err
		})
	})
	release()
	require.Len(t, claimOf(t, db, 2, capacitiesOf(2, "a")...).Jobs, 1)
}

// The ends of many jobs mark many keys with one row. It stays as long as another claim looks at one of them.
func TestAMarkStaysWhileOneOfItsKeysIsLookedAt(t *testing.T) {
	db := openQueue(t)
	limit(t, db, driver.Target{Kind: driver.TargetKeyPrefix, Name: "k"}, driver.Limit{MaxRunning: 1})
	const keys = 70
	for i := range keys {
		insertJobs(t, db, keyed(fmt.Sprint("k", i), 0), keyed(fmt.Sprint("k", i), 0))
	}
	running := claimOf(t, db, 2*keys, capacitiesOf(2*keys, "a")...).Jobs
	require.Len(t, running, keys)
	outcomes := make([]driver.Outcome, keys)
	for i := range running {
		outcomes[i] = driver.Outcome{Lease: running[i].Lease(), State: driver.StateCompleted,
			Kind: driver.KindCompleted, At: time.Now()}
	}
	require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := db.Driver().Finish(ctx, tx, outcomes)
		return err
	}))
	marks := func() (n int) {
		require.NoError(t, db.Reader().Get(&n, "SELECT COUNT(*) FROM job_limit_marks"))
		return n
	}
	require.Equal(t, 2, marks())
	found, err := db.Driver().(driver.Auditor).Violations(t.Context())
	require.NoError(t, err)
	require.Empty(t, found)
	release := holding(t, db, func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := tx.ExecContext(ctx, "SELECT FROM job_heads WHERE limit_key = 'k3' FOR UPDATE")
		return err
	})
	got, left := claimOf(t, db, 2*keys, capacitiesOf(2*keys, "a")...).Jobs, marks()
	release()
	require.Len(t, got, keys-1)
	require.Equal(t, 1, left)
	require.Len(t, claimOf(t, db, 2*keys, capacitiesOf(2*keys, "a")...).Jobs, 1)
	require.Zero(t, marks())
}

// Claims leave nothing behind of keys for which nothing waits.
func TestHeadsAndMarksGoWithTheJobs(t *testing.T) {
	db := openQueue(t)
	limit(t, db, driver.Target{Kind: driver.TargetKeyPrefix, Name: "k"}, driver.Limit{MaxRunning: 1})
	for i := range 40 {
		insertJobs(t, db, keyed(fmt.Sprint("k", i%8), i%3))
	}
	for range 100 {
		jobs := claimOf(t, db, 10, capacitiesOf(10, "a")...).Jobs
		outcomes := make([]driver.Outcome, len(jobs))
		for i := range jobs {
			outcomes[i] = driver.Outcome{Lease: jobs[i].Lease(), State: driver.StateCompleted,
				Kind: driver.KindCompleted, At: time.Now()}
		}
		require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
			_, err := db.Driver().Finish(ctx, tx, outcomes)
			return err
		}))
		if len(jobs) == 0 {
			break
		}
	}
	var left int
	require.NoError(t, db.Reader().Get(&left,
		`SELECT (SELECT COUNT(*) FROM job_heads) + (SELECT COUNT(*) FROM job_limit_marks)
		+ (SELECT COUNT(*) FROM jobs WHERE state <> 'completed')`))
	require.Zero(t, left)
}

func TestVerifyFindsJobsThatNoHeadLeadsTo(t *testing.T) {
	db := openQueue(t)
	limit(t, db, driver.Target{Kind: driver.TargetKey, Name: "k"}, driver.Limit{MaxRunning: 1})
	insertJobs(t, db, keyed("k", 1))
	lost := keyed("k", 2)
	insertJobs(t, db, lost)
	found, err := db.Driver().(driver.Auditor).Violations(t.Context())
	require.NoError(t, err)
	require.Empty(t, found)
	_, err = db.Reader().ExecContext(t.Context(), "DELETE FROM job_heads WHERE priority = 2")
	require.NoError(t, err)
	found, err = db.Driver().(driver.Auditor).Violations(t.Context())
	require.NoError(t, err)
	require.Equal(t, []driver.Violation{{Rule: "claims find each job that waits for a limit key", Subject: lost.ID}},
		found)
}

// To see that no job is ready, a claim reads past what is left of all that have been since the last vacuum: it does so
// once.
func TestAClaimLooksOnceForReadyJobsThatAreNotThere(t *testing.T) {
	db := openQueue(t)
	limit(t, db, driver.Target{Kind: driver.TargetKey, Name: "k"}, driver.Limit{MaxRunning: 3})
	require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
		claim := func(inserted ...driver.InsertJob) (jobs, looks int) {
			_, err := db.Driver().Insert(ctx, tx, inserted)
			require.NoError(t, err)
			claimed, err := postgres.ClaimCarefullyWithin(ctx, tx, driver.ClaimRequest{
				WorkerID: "w", Types: capacitiesOf(9, "a", "b"), Limit: 9, Now: driver.Now(db.Driver()),
			})
			require.NoError(t, err)
			require.NoError(t, tx.QueryRowContext(ctx,
				"SELECT pg_stat_get_xact_numscans('jobs_ready'::regclass)").Scan(&looks))
			return len(claimed), looks
		}
		jobs, before := claim(keyed("k", 0)) // to plan a statement looks, too
		require.Equal(t, 1, jobs)
		jobs, after := claim(keyed("k", 0))
		require.Equal(t, 1, jobs)
		require.Equal(t, 1, after-before)
		jobs, _ = claim(jobOf("b", 0), jobOf("b", 0), keyed("k", 0))
		require.Equal(t, 3, jobs)
		return nil
	}))
}

// A job that is enqueued beside a promotion is due later than that has begun, and waits for no time: it stays at its
// head.
func TestPromotionLeavesWhatIsDue(t *testing.T) {
	db := openQueue(t)
	promoter, ok := driver.As[driver.Promoter](db.Driver())
	require.True(t, ok)
	begun, enqueued, promoted := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		promoted <- driver.Write(context.Background(), db, func(ctx context.Context, tx *driver.WriteTx) error {
			close(begun)
			<-enqueued
			_, err := promoter.PromoteScheduled(ctx, tx)
			return err
		})
	}()
	<-begun
	insertJobs(t, db, keyed("k", 0))
	close(enqueued)
	require.NoError(t, <-promoted)
	require.Len(t, claimOf(t, db, 10, capacitiesOf(10, "a")...).Jobs, 1)
}
