package jobsql_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// A page of 20 of 901,000 queued jobs by type: of the newest type, of one that 1,000 newer ones lie before, of one that
// 451,000 do, and of one that has few.
//
//	go test ./queue/internal/jobsql -run '^$' -bench Listing -benchtime 20x -timeout 20m
func BenchmarkListing(b *testing.B) {
	for name, open := range map[string]func(testing.TB) queue.DB{
		"sqlite":   func(t testing.TB) queue.DB { return dbtest.SQLite(t) },
		"postgres": func(t testing.TB) queue.DB { return dbtest.Postgres(t) },
	} {
		b.Run(name, func(b *testing.B) { benchmarkListing(b, open(b)) })
	}
}

func benchmarkListing(b *testing.B, db queue.DB) {
	b.Helper()
	require.NoError(b, queue.Migrate(b.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(b, err)
	for _, lot := range []struct {
		jobType queue.Type[int]
		n       int
	}{{"few", 100}, {"hidden", 449_900}, {"main", 450_000}, {"newer", 1000}} {
		jobs := make([]queue.NewJob, lot.n)
		for i := range jobs {
			jobs[i] = lot.jobType.New(i, nil)
		}
		for batch := range slices.Chunk(jobs, 10_000) {
			_, err = q.EnqueueMany(b.Context(), batch)
			require.NoError(b, err)
		}
	}
	for _, jobType := range []string{"newer", "main", "hidden", "few"} {
		b.Run(jobType, func(b *testing.B) {
			for b.Loop() {
				_, err := q.Jobs(b.Context(), queue.Filter{States: []queue.State{queue.StateQueued}, Types: []string{jobType}})
				require.NoError(b, err)
			}
		})
	}
}
