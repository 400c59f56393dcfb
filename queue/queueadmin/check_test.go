package queueadmin_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

func TestCheckFindsWhatTheProgramDoesNotKnow(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		ctx := t.Context()
		require.NoError(t, queue.Migrate(ctx, db))
		q := on(t, db, nil)
		d, err := queue.NewDispatcher(q, nil)
		require.NoError(t, err)
		queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { return nil },
			queue.WithSteps("fetch", "send"))
		enqueue(t, q, nil)
		found, err := queueadmin.CheckProgram(ctx, d)
		require.NoError(t, err)
		require.Empty(t, found)

		jobs, err := q.Claim(ctx, "w", []string{string(ping)}, 1)
		require.NoError(t, err)
		require.NoError(t, finishStep(ctx, jobs[0], "fetch", 1))
		require.NoError(t, finishStep(ctx, jobs[0], "fetched", 1))
		_, err = q.EnqueueMany(ctx, []queue.NewJob{
			{Type: "ping", Payload: "seven"},
			{Type: "ping", Payload: "eight", Options: queue.Options{NotBefore: time.Now().Add(time.Hour)}},
			{Type: "gone"},
			{Type: "gone", Options: queue.Options{LimitKey: "l"}},
			{Type: "done"},
		})
		require.NoError(t, err)
		done, err := q.Claim(ctx, "w", []string{"done"}, 1)
		require.NoError(t, err)
		require.NoError(t, done[0].Complete(ctx, nil))

		found, err = queueadmin.CheckProgram(ctx, d)
		require.NoError(t, err)
		texts := make(map[string]int)
		for _, m := range found {
			texts[m.Text] = m.Jobs
			require.NotEmpty(t, m.JobID)
		}
		require.Equal(t, map[string]int{
			"no handler for type gone": 2,
			"ping: payload does not fit int: json: cannot unmarshal string into Go value of type int": 2,
			`ping: the handler does not name the stored step "fetched"`:                               1,
		}, texts)
	})
}

func TestCheckFindsSchedulesThatTheProgramDoesNotKnow(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		ctx := t.Context()
		require.NoError(t, queue.Migrate(ctx, db))
		q := on(t, db, nil)
		for name, job := range map[string]queue.NewJob{"fine": ping.New(1, nil), "unfit": {Type: "ping", Payload: "x"},
			"unknown": {Type: "gone"}, "broken": ping.New(1, nil)} {
			require.NoError(t, q.SetSchedule(ctx, queue.Schedule{Name: name, Cron: "0 7 * * *", Job: job}))
		}
		execute(t, q, "UPDATE job_schedules SET zone = 'Nowhere/Land' WHERE name = 'broken'")
		d, err := queue.NewDispatcher(q, nil)
		require.NoError(t, err)
		queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error { return nil })
		found, err := queueadmin.CheckProgram(ctx, d)
		require.NoError(t, err)
		texts := make(map[string]string)
		for _, m := range found {
			texts[m.Schedule] = m.String()
		}
		require.Len(t, texts, 3)
		require.Equal(t, "no handler for type gone (schedule unknown)", texts["unknown"])
		require.Equal(t,
			"ping: payload does not fit int: json: cannot unmarshal string into Go value of type int (schedule unfit)",
			texts["unfit"])
		require.Contains(t, texts["broken"], "it cannot fire: ")
		require.Contains(t, texts["broken"], "Nowhere/Land")
	})
}
