package queue_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// A job that coalesces and fails while another waits under its key does not run again, and nobody is told that it will.
func TestASupersededJobIsSaidToBeCanceled(t *testing.T) {
	coalesce := &queue.Options{Key: queue.Coalesce("k")}
	for name, end := range map[string]struct {
		run   func(t *testing.T, q *queue.Queue, log *slog.Logger) (next string)
		ended string
	}{
		"a handler fails": {func(t *testing.T, q *queue.Queue, log *slog.Logger) (next string) {
			d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Logger: log})
			require.NoError(t, err)
			queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error {
				if next != "" {
					return nil
				}
				next = enqueue(t, q, coalesce)
				return errBroken
			})
			require.NoError(t, d.RunUntilIdle(t.Context()))
			return next
		}, queue.KindFailed},
		"a program fails it": {func(t *testing.T, q *queue.Queue, _ *slog.Logger) string {
			jobs, err := q.Claim(t.Context(), "w", []string{string(ping)}, 1)
			require.NoError(t, err)
			next := enqueue(t, q, coalesce)
			require.NoError(t, jobs[0].Fail(t.Context(), errBroken))
			return next
		}, queue.KindFailed},
		"its worker dies": {func(t *testing.T, q *queue.Queue, log *slog.Logger) string {
			_, err := q.Claim(t.Context(), "dead", []string{string(ping)}, 1)
			require.NoError(t, err)
			next := enqueue(t, q, coalesce)
			d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Exclusive: true, Logger: log})
			require.NoError(t, err)
			queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { return nil })
			require.NoError(t, d.RunUntilIdle(t.Context()))
			return next
		}, queue.KindCrashed},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, db queue.DB) {
				q := queueOn(t, db)
				first := enqueue(t, q, coalesce)
				s := subscribe(t, q, queue.EventFilter{JobIDs: []string{first}})
				var out bytes.Buffer
				next := end.run(t, q, slog.New(slog.NewTextHandler(&out, nil)))

				require.Equal(t, queue.StateCanceled, job(t, q, first).State)
				events := taken(t, s)
				require.Equal(t, []string{"started", "canceled"}, kinds(events))
				require.Equal(t, "superseded by "+next, events[1].Error)
				require.Equal(t, end.ended, events[1].Ended)
				require.Equal(t, 1, events[1].Attempt)
				require.Zero(t, events[1].NotBefore)
				require.NotContains(t, out.String(), "job will run again")
				if name == "a handler fails" {
					require.Contains(t, out.String(), `msg="job is canceled: another waits that does the same" job_id=`+first)
					require.Contains(t, out.String(), `error=broken reason="superseded by `+next+`"`)
				}
			})
		})
	}
}

func TestWaitHearsThatAJobWasSuperseded(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		coalesce := &queue.Options{Key: queue.Coalesce("k")}
		first := enqueue(t, q, coalesce)
		jobs, err := q.Claim(t.Context(), "w", []string{string(ping)}, 1)
		require.NoError(t, err)
		enqueue(t, q, coalesce)
		began := time.Now()
		go func() {
			time.Sleep(10 * time.Second)
			_ = jobs[0].Fail(t.Context(), errBroken)
		}()
		ended, err := q.Wait(t.Context(), first)
		require.NoError(t, err)
		require.Equal(t, queue.StateCanceled, ended.State)
		require.Equal(t, 10*time.Second, time.Since(began), "at once")
	})
}
