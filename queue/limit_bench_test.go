package queue_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// Jobs that take no time, of a key of which five may run, in two dispatchers; an operation is one job. What is measured
// is how soon the end of one job begins another.
func BenchmarkNarrowLimit(b *testing.B) {
	for name, open := range map[string]func(testing.TB) queue.DB{
		"sqlite":   func(t testing.TB) queue.DB { return dbtest.SQLite(t) },
		"postgres": func(t testing.TB) queue.DB { return dbtest.Postgres(t) },
	} {
		b.Run(name, func(b *testing.B) { benchmarkNarrowLimit(b, open(b)) })
	}
}

func benchmarkNarrowLimit(b *testing.B, db queue.DB) {
	b.Helper()
	require.NoError(b, queue.Migrate(b.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(b, err)
	require.NoError(b, q.SetLimit(b.Context(), queue.ForKey("k"), queue.Limit{MaxRunning: 5}))
	batch := make([]queue.NewJob, b.N)
	for i := range batch {
		batch[i] = ping.New(i, &queue.Options{LimitKey: "k"})
	}
	_, err = q.EnqueueMany(b.Context(), batch)
	require.NoError(b, err)
	b.ResetTimer()
	var machines sync.WaitGroup
	for range 2 {
		d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{PollInterval: time.Second})
		require.NoError(b, err)
		queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { return nil })
		machines.Go(func() { require.NoError(b, d.RunUntilIdle(b.Context())) })
	}
	machines.Wait()
}
