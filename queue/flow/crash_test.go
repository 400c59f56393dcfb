package flow_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/flow"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// A flow that grows, fails in part and gathers comes to the same end wherever a process dies.
func TestAFlowSurvivesCrashesEverywhere(t *testing.T) {
	queuetest.CrashEverywhere(t, func(t testing.TB, q *queue.Queue) queuetest.Scenario {
		f := flow.New("crash", nil)
		f.Add("add", add.New("numbers", nil))
		f.AddMany("numbers", nil, flow.After("add"))
		f.Add("broken", broken.New(1, nil), flow.After("add"))
		f.Add("never", number.New(1, nil), flow.After("broken"))
		f.AddMany("join", nil, flow.After("numbers"))
		f.Add("sum", sum.New("numbers", nil), flow.After("join"), flow.AfterEnd("broken"))
		_, err := flow.Enqueue(t.Context(), q, f)
		require.NoError(t, err)
		return queuetest.Scenario{Register: register}
	})
}

// A job that adds to its own node in a step does so once.
func TestGrowthSurvivesCrashesEverywhere(t *testing.T) {
	const visit queue.Type[int] = "visit"
	queuetest.CrashEverywhere(t, func(t testing.TB, q *queue.Queue) queuetest.Scenario {
		f := flow.New("tree", nil)
		f.Add("visit", visit.New(2, nil))
		f.Add("end", sum.New("visit", nil), flow.After("visit"))
		_, err := flow.Enqueue(t.Context(), q, f)
		require.NoError(t, err)
		return queuetest.Scenario{Register: func(d *queue.Dispatcher) {
			register(d)
			queue.Handle(d, visit, func(ctx context.Context, w *queue.Work[int]) error {
				if w.Payload == 0 {
					return nil
				}
				_, err := queue.StepTx(ctx, w.Attempt, "children", func(ctx context.Context, tx queue.Tx) (int, error) {
					return flow.AddTx(ctx, tx, w.Attempt, "visit", slices.Values([]queue.NewJob{visit.New(w.Payload-1, nil)}))
				})
				if errors.Is(err, flow.ErrEnded) {
					t.Error(err)
				}
				return err
			})
		}}
	})
}
