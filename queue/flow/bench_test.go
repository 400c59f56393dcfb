package flow_test

import (
	"context"
	"iter"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/flow"
)

// many yields n jobs.
func many(n int) iter.Seq[queue.NewJob] {
	return func(yield func(queue.NewJob) bool) {
		for i := range n {
			if !yield(number.New(i, nil)) {
				return
			}
		}
	}
}

func drain(b *testing.B, q *queue.Queue) {
	b.Helper()
	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Workers: 100, PollInterval: time.Minute})
	require.NoError(b, err)
	nothing := func(context.Context, *queue.Work[int]) error { return nil }
	queue.Handle(d, number, nothing)
	require.NoError(b, d.RunUntilIdle(b.Context()))
}

// An operation is one job, enqueued and run: by itself, as one of a batch with a job that waits for all, and as one of
// a chain of ten.
func BenchmarkFlow(b *testing.B) {
	for name, db := range map[string]func(b *testing.B) queue.DB{
		"sqlite":   func(b *testing.B) queue.DB { return dbtest.SQLite(b) },
		"postgres": func(b *testing.B) queue.DB { return dbtest.Postgres(b) },
	} {
		b.Run(name+"/none", func(b *testing.B) {
			q := newQueue(b, db(b))
			for left := b.N; left > 0; left -= 1000 {
				jobs := make([]queue.NewJob, 0, 1000)
				for job := range many(min(left, 1000)) {
					jobs = append(jobs, job)
				}
				_, err := q.EnqueueMany(b.Context(), jobs)
				require.NoError(b, err)
			}
			drain(b, q)
		})
		b.Run(name+"/batch", func(b *testing.B) {
			q := newQueue(b, db(b))
			f := flow.New("batch", nil)
			f.AddMany("many", many(b.N))
			f.Add("then", number.New(0, nil), flow.After("many"))
			id, err := flow.Enqueue(b.Context(), q, f)
			require.NoError(b, err)
			b.ReportMetric(b.Elapsed().Seconds(), "s-to-enqueue")
			drain(b, q)
			status, err := flow.Get(b.Context(), q, id)
			require.NoError(b, err)
			require.Equal(b, flow.Completed, status.State)
		})
		b.Run(name+"/chains", func(b *testing.B) {
			q := newQueue(b, db(b))
			for range max(1, b.N/10) {
				f := flow.New("chain", nil)
				for i := range 10 {
					var opts []flow.Option
					if i > 0 {
						opts = append(opts, flow.After(strconv.Itoa(i-1)))
					}
					f.Add(strconv.Itoa(i), number.New(i, nil), opts...)
				}
				_, err := flow.Enqueue(b.Context(), q, f)
				require.NoError(b, err)
			}
			b.ReportMetric(b.Elapsed().Seconds(), "s-to-enqueue")
			drain(b, q)
		})
	}
}
