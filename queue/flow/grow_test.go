package flow_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/flow"
)

// A node is added that would have canceled all of the flow, had it been there when the one before it failed.
func TestGrowthAfterAFailureCancelsTheFlow(t *testing.T) {
	const grow queue.Type[int] = "grow"
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := newQueue(t, db)
		f := flow.New("grows", nil)
		f.Add("a", broken.New(1, nil))
		f.Add("grow", grow.New(1, nil), flow.AfterEnd("a"))
		f.Add("last", number.New(1, nil), flow.After("grow"))
		id := enqueue(t, q, f)
		work(t, q, func(d *queue.Dispatcher) {
			register(d)
			queue.Handle(d, grow, func(ctx context.Context, w *queue.Work[int]) error {
				return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
					more := flow.New("", nil)
					more.Add("new", number.New(1, nil), flow.AfterOrFail("a"))
					more.AddMany("none", nil)
					more.Add("other", number.New(1, nil), flow.After("grow"))
					return flow.GrowTx(ctx, tx, w.Attempt, more)
				})
			})
		})
		require.Equal(t, "canceled, a failed 1/1, grow completed 1/1, last canceled 1/1, new canceled 1/1, none canceled 0/0, "+
			"other canceled 1/1", shape(t, q, id))
		for job, err := range flow.Jobs(t.Context(), q, id, "last") {
			require.NoError(t, err)
			require.Equal(t, "canceled: a has failed", job.LastError)
		}
	})
}
