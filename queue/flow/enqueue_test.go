package flow_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/flow"
)

// The error of a job names it as the program knows it, and not by its place among those that are written at a time.
func TestErrorsNameTheJob(t *testing.T) {
	type payload struct{ N, Other int }
	const keyed queue.Type[payload] = "keyed"
	by := func(n, other int) queue.NewJob {
		return keyed.New(payload{n, other}, &queue.Options{Key: queue.Forever(queue.UniqueBy("N"))})
	}
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := newQueue(t, db)
		taken, err := q.Enqueue(t.Context(), by(7, 0))
		require.NoError(t, err)
		for want, many := range map[string][]queue.NewJob{
			`node "many", jobs[1300]: invalid job`: append(numbers(1300), queue.NewJob{}),
			`node "many", jobs[0]: invalid job`:    {number.New(1, &queue.Options{Sequence: "s"})},
			`node "many", jobs[3]: key "keyed {\"N\":7}" of type keyed, which job ` + taken.ID + ` has`: append(numbers(3),
				by(7, 0)),
			`node "many", jobs[2]: key "keyed {\"N\":1}" of type keyed, which another job of the flow, in node "first", has`: append(
				numbers(2), by(1, 2)),
			`node "many", jobs[1]: key "keyed {\"N\":2}" of type keyed, which another job of the flow, in node "many", has`: {
				by(2, 1), by(2, 2)},
		} {
			f := flow.New("f", nil)
			f.Add("first", by(1, 1))
			f.AddMany("many", slices.Values(many), flow.After("first"))
			_, err := flow.Enqueue(t.Context(), q, f)
			require.ErrorContains(t, err, want)
		}
		require.NoError(t, q.Cancel(t.Context(), taken.ID))
		exec(t, q, "DELETE FROM jobs")
		_, err = flow.Enqueue(t.Context(), q, flow.Chain(by(7, 0)))
		require.ErrorIs(t, err, flow.ErrDuplicate)
		require.ErrorContains(t, err, `node "1", jobs[0]: key "by N" of type keyed, which job `+taken.ID+` has`)
	})
}

// A hook that clears the times of jobs does not let one run after its flow's deadline.
func TestDeadlineAfterAHook(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		undo := func(_ context.Context, job *queue.NewJob) error { job.ExpiresAt = time.Time{}; return nil }
		q, err := queue.New(db, &queue.Config{OnEnqueue: []queue.EnqueueHook{undo}})
		require.NoError(t, err)
		deadline := time.Now().Add(time.Hour)
		f := flow.New("f", &flow.Options{Deadline: deadline})
		f.Add("first", number.New(1, nil))
		id := enqueue(t, q, f)
		for job, err := range flow.Jobs(t.Context(), q, id, "first") {
			require.NoError(t, err)
			require.WithinDuration(t, deadline, job.ExpiresAt, time.Microsecond)
		}
	})
}
