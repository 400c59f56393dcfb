package queue_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// An operation is one job of those that CancelAll cancels. How long a million takes, on each engine:
//
//	go test ./queue -run '^$' -bench CancelAll -benchtime 1000000x -timeout 1h
func BenchmarkCancelAll(b *testing.B) {
	for name, open := range map[string]func(testing.TB) queue.DB{
		"sqlite":   func(t testing.TB) queue.DB { return dbtest.SQLite(t) },
		"postgres": func(t testing.TB) queue.DB { return dbtest.Postgres(t) },
	} {
		b.Run(name, func(b *testing.B) { benchmarkCancelAll(b, open(b)) })
	}
}

func benchmarkCancelAll(b *testing.B, db queue.DB) {
	b.Helper()
	require.NoError(b, queue.Migrate(b.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(b, err)
	jobs := make([]queue.NewJob, b.N)
	for i := range jobs {
		jobs[i] = ping.New(i, nil)
	}
	for batch := range slices.Chunk(jobs, 10_000) {
		_, err = q.EnqueueMany(b.Context(), batch)
		require.NoError(b, err)
	}
	b.ResetTimer()
	n, err := q.CancelAll(b.Context(), queue.Filter{Types: []string{string(ping)}})
	require.NoError(b, err)
	require.Equal(b, b.N, n)
	b.ReportMetric(b.Elapsed().Seconds(), "seconds")
}
