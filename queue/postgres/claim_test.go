package postgres_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
)

func openQueue(t *testing.T) *postgres.DB {
	t.Helper()
	db := dbtest.Postgres(t)
	require.NoError(t, queue.Migrate(t.Context(), db))
	return db
}

func insertJobs(t *testing.T, db *postgres.DB, jobs ...driver.InsertJob) {
	t.Helper()
	require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := db.Driver().Insert(ctx, tx, jobs)
		return err
	}))
}

func jobOf(jobType string, priority int) driver.InsertJob {
	return driver.InsertJob{Job: driver.Job{
		ID: uuid.Must(uuid.NewV7()).String(), Type: jobType, Payload: []byte("1"),
		Options: driver.Options{Priority: priority, MaxAttempts: 1},
	}}
}

func capacitiesOf(capacity int, types ...string) []driver.TypeCapacity {
	capacities := make([]driver.TypeCapacity, len(types))
	for i, name := range types {
		capacities[i] = driver.TypeCapacity{Type: name, Capacity: capacity}
	}
	return capacities
}

func claimOf(t *testing.T, db *postgres.DB, limit int, capacities ...driver.TypeCapacity) driver.ClaimResult {
	t.Helper()
	result, err := db.Driver().Claim(t.Context(), driver.ClaimRequest{WorkerID: "w", Types: capacities, Limit: limit,
		Now: driver.Now(db.Driver())})
	require.NoError(t, err)
	return result
}

// However the jobs are spread over types, and however few of a type one claim reads, claims one after the other take
// them in the one order, each as many as it has capacity for of each type.
func TestClaimsOfManyTypesAreInOrder(t *testing.T) {
	db := openQueue(t)
	const types, total = 60, 6000
	names := make([]string, types)
	for i := range names {
		names[i] = fmt.Sprintf("type%02d", i)
	}
	jobs := make([]driver.InsertJob, total)
	for i := range jobs {
		// Half of all are of one type, and the most urgent are, too: more than a claim reads of it.
		name, priority := names[rand.IntN(types)], rand.IntN(3)
		if i%2 == 0 {
			name, priority = names[7], i%4
		}
		jobs[i] = jobOf(name, priority)
	}
	insertJobs(t, db, jobs...)
	slices.SortFunc(jobs, func(a, b driver.InsertJob) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.ID, b.ID))
	})
	taken := 0
	for _, limit := range []int{1, 7, 100, 300, 1000, 1000, 1000} {
		for left := limit; left > 0; {
			result := claimOf(t, db, left, capacitiesOf(1<<20, names...)...)
			require.NotEmpty(t, result.Jobs)
			for _, job := range result.Jobs {
				require.Equal(t, jobs[taken].ID, job.ID, "claimed %d", taken)
				taken++
			}
			require.True(t, result.More)
			left -= len(result.Jobs)
		}
	}
}

func TestClaimKeepsToTheCapacityOfEachType(t *testing.T) {
	db := openQueue(t)
	for range 10 {
		insertJobs(t, db, jobOf("a", 2), jobOf("b", 1), jobOf("c", 0))
	}
	result := claimOf(t, db, 12, driver.TypeCapacity{Type: "a", Capacity: 3},
		driver.TypeCapacity{Type: "b", Capacity: 20}, driver.TypeCapacity{Type: "c", Capacity: 4})
	counts := map[string]int{}
	for _, job := range result.Jobs {
		counts[job.Type]++
	}
	require.Equal(t, map[string]int{"a": 3, "b": 9}, counts)
}

// A job that a user's transaction holds is passed over, and nobody waits for it or looks for it without end, whether or
// not there are limits to keep.
func TestClaimPassesOverWhatOthersHold(t *testing.T) {
	for _, types := range [][]string{{"a"}, {"a", "b"}} {
		for _, limited := range []bool{false, true} {
			t.Run(fmt.Sprint(types, limited), func(t *testing.T) { passOver(t, types, limited) })
		}
	}
}

func passOver(t *testing.T, types []string, limited bool) {
	t.Helper()
	db := openQueue(t)
	if limited {
		require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
			return db.Driver().SetLimit(ctx, tx, driver.Target{Kind: driver.TargetType, Name: "a"},
				&driver.Limit{MaxRunning: 2})
		}))
	}
	first, second := jobOf("a", 1), jobOf("a", 0)
	insertJobs(t, db, first, second)
	release := holding(t, db, func(ctx context.Context, tx *driver.WriteTx) error {
		return db.Driver().Cancel(ctx, tx,
			first.ID)
	})
	result := claimOf(t, db, 1, capacitiesOf(5, types...)...)
	require.Len(t, result.Jobs, 1)
	require.Equal(t, second.ID, result.Jobs[0].ID)
	result = claimOf(t, db, 1, capacitiesOf(5, types...)...)
	require.Empty(t, result.Jobs)
	require.False(t, result.More)
	release() // lets go of it unchanged
	require.Len(t, claimOf(t, db, 1, capacitiesOf(5, types...)...).Jobs, 1)
}
