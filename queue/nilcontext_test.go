package queue_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// A nil context is refused. Package database/sql would panic on it with a pool's lock held, and whoever recovered from that would
// wait for ever at the next call.
func TestNilContextIsRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q := queueOn(t, db)
		id := enqueue(t, q, nil)
		held := queue.AttemptOf(q, *job(t, q, id))
		var none context.Context
		some := queue.Filter{States: []queue.State{queue.StateQueued}, All: true}
		target := queue.ForKey("k")
		for name, call := range map[string]func() error{
			"Migrate": func() error { return queue.Migrate(none, db) },
			"Write":   func() error { return db.Write(none, func(context.Context, queue.Tx) error { return nil }) },
			"Enqueue": func() error { _, err := q.Enqueue(none, ping.New(1, nil)); return err },
			"Enqueue with a key": func() error {
				_, err := q.Enqueue(none, ping.New(1, &queue.Options{Key: queue.WhileUnfinished("k")}))
				return err
			},
			"Cancel":    func() error { return q.Cancel(none, id) },
			"CancelAll": func() error { _, err := q.CancelAll(none, some); return err },
			"Claim":     func() error { _, err := q.Claim(none, "w", []string{string(ping)}, 1); return err },
			"Heartbeat": func() error { return q.Heartbeat(none, "w") },
			"Complete":  func() error { return held.Complete(none, nil) },
			"StartStep": func() error { return held.StartStep(none, "s") },
			"SetLimit":  func() error { return q.SetLimit(none, target, queue.Limit{MaxRunning: 1}) },
			"Limits":    func() error { _, err := q.Limits(none); return err },
			"SetSchedule": func() error {
				return q.SetSchedule(none, queue.Schedule{Name: "s", Cron: "@daily", Job: ping.New(1, nil)})
			},
			"Schedules": func() error { _, err := q.Schedules(none); return err },
			"Prune":     func() error { _, err := q.Prune(none); return err },
			"Job":       func() error { _, err := q.Job(none, id); return err },
			"Jobs":      func() error { _, err := q.Jobs(none, some); return err },
			"Counts":    func() error { _, err := q.Counts(none, some); return err },
			"Attempts":  func() error { _, err := q.Attempts(none, id); return err },
			"Stats":     func() error { _, err := queueadmin.ReadStats(none, q, nil); return err },
			"Wait":      func() error { _, err := q.Wait(none, id); return err },
			"Next": func() error {
				events, err := q.Subscribe(queue.EventFilter{})
				require.NoError(t, err)
				defer events.Close()
				_, err = events.Next(none)
				return err
			},
			"Redrive": func() error { _, err := q.Redrive(none, queue.Filter{All: true}); return err },
			"Retry":   func() error { return q.Retry(none, id) },
			"Steps":   func() error { _, err := q.Steps(none, id); return err },
			"Logs":    func() error { _, err := q.Logs(none, id); return err },
			"Fail":    func() error { return held.Fail(none, driver.ErrNotRunning) },
			"Cursor":  func() error { _, _, err := queue.Cursor[int](none, held, "s"); return err },
			"Doctor":  func() error { _, err := queueadmin.Doctor(none, q); return err },
			"Explain": func() error { _, err := queueadmin.Explain(none, q, id); return err },
			"Pause":   func() error { return q.Pause(none, target) },
			"Run": func() error {
				d, err := queue.NewDispatcher(q, nil)
				require.NoError(t, err)
				queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { return nil })
				return d.Run(none)
			},
		} {
			require.NotPanics(t, func() { require.ErrorIs(t, call(), driver.ErrNilContext, name) }, name)
		}
		require.ErrorIs(t, db.Write(t.Context(), func(_ context.Context, tx queue.Tx) error {
			_, err := q.EnqueueTx(none, tx, ping.New(1, nil))
			return err
		}), driver.ErrNilContext)
		counts, err := q.Counts(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Equal(t, map[queue.State]int{queue.StateQueued: 1}, counts)
		work(t, q, func(context.Context, *queue.Work[int]) error { return nil })
	})
}
