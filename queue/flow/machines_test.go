package flow_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/flow"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// Two dispatchers end jobs of the same nodes at the same time: each end is counted, and each node opens once.
func TestDispatchersShareNodes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := newQueue(t, db)
		var ids []string
		for range 5 {
			f := flow.New("shared", nil)
			f.AddMany("many", slices.Values(numbers(60)))
			f.AddMany("more", slices.Values(numbers(60)))
			f.AddMany("broken", slices.Values([]queue.NewJob{broken.New(1, nil), broken.New(2, nil)}))
			f.Add("sum", sum.New("many", nil), flow.After("many", "more"), flow.AfterEnd("broken"))
			ids = append(ids, enqueue(t, q, f))
		}
		var both sync.WaitGroup
		for range 2 {
			d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Workers: 8, PollInterval: time.Minute})
			require.NoError(t, err)
			register(d)
			both.Go(func() {
				if err := d.RunUntilIdle(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		for _, id := range ids {
			require.Equal(t, "completed, broken failed 2/2, many completed 60/60, more completed 60/60, sum completed 1/1",
				shape(t, q, id))
			require.Equal(t, "1830", result(t, q, id, "sum"))
		}
		found, err := queueadmin.Verify(t.Context(), q)
		require.NoError(t, err)
		require.Empty(t, found)
	})
}
