package queue_test

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// Many small jobs let a process claim far ahead. Large ones that come then do not fill its memory.
func TestPrefetchIsBoundedByBytes(t *testing.T) {
	const small, large, workers = 5000, 100, 4
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q, err := queue.New(db, nil)
		require.NoError(t, queue.Migrate(t.Context(), db))
		require.NoError(t, err)
		const text queue.Type[string] = "text"
		enqueueTexts(t, q, text, small, "small")
		enqueueTexts(t, q, text, large, strings.Repeat("x", 1<<20-2))

		d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Workers: workers})
		require.NoError(t, err)
		var heap atomic.Int64
		before := heapNow()
		queue.Handle(d, text, func(_ context.Context, w *queue.Work[string]) error {
			if len(w.Payload) < 1<<10 {
				return nil
			}
			heap.Store(max(heap.Load(), heapNow()))
			return nil
		})
		require.NoError(t, d.RunUntilIdle(t.Context()))
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateCompleted: small + large}, counts)
		require.Less(t, heap.Load()-before, int64(64<<20))
	})
}

// heapNow is how many bytes of memory are in use.
func heapNow() int64 {
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	return int64(memory.HeapAlloc)
}

// A claimCounter keeps how many jobs the largest claim got.
type claimCounter struct {
	driver.Driver
	most int
}

func (c *claimCounter) Unwrap() driver.Driver { return c.Driver }

func (c *claimCounter) Claim(ctx context.Context, req driver.ClaimRequest) (driver.ClaimResult, error) {
	result, err := c.Driver.Claim(ctx, req)
	c.most = max(c.most, len(result.Jobs))
	return result, err
}

// PrefetchBytes is the bound, not its default.
func TestPrefetchBytesIsASetting(t *testing.T) {
	ahead := func(t *testing.T, bytes int) (most int) {
		t.Helper()
		bubble(t, func(t *testing.T, q *queue.Queue) {
			const text queue.Type[string] = "text"
			enqueueTexts(t, q, text, 300, strings.Repeat("x", 998))
			counter := &claimCounter{Driver: q.DB().Driver()}
			d, err := queue.NewDispatcher(on(t, counter, nil), &queue.DispatcherConfig{Workers: 1, PrefetchBytes: bytes})
			require.NoError(t, err)
			queue.Handle(d, text, func(context.Context, *queue.Work[string]) error { return nil })
			require.NoError(t, d.RunUntilIdle(t.Context()))
			most = counter.most
		})
		return most
	}
	require.Greater(t, ahead(t, 0), 20, "by default it is no bound for so little")
	require.LessOrEqual(t, ahead(t, 5000), 6)
}

func enqueueTexts(t *testing.T, q *queue.Queue, jobType queue.Type[string], n int, payload string) {
	t.Helper()
	for n > 0 {
		batch := make([]queue.NewJob, min(n, 10_000_000/len(payload)))
		for i := range batch {
			batch[i] = jobType.New(payload, nil)
		}
		_, err := q.EnqueueMany(t.Context(), batch)
		require.NoError(t, err)
		n -= len(batch)
	}
}
