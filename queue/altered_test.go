package queue_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// A job whose row somebody has altered keeps no other from being claimed, ended and listed, and Doctor names it.
func TestAnAlteredRowBlocksNoOther(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := queueOn(t, db)
		for _, column := range []string{"attempt", "failures", "interruptions", "crashes"} {
			for _, value := range countersBeyond(db) {
				t.Run(column+" "+value, func(t *testing.T) { blocksNoOther(t, q, column, value, "") })
			}
		}
		for _, column := range []string{"not_before", "expires_at", "created_at", "updated_at", "started_at"} {
			for _, value := range noInstants(db) {
				t.Run(column+" "+value, func(t *testing.T) { blocksNoOther(t, q, column, value, column) })
			}
		}
		if db.Driver().Dialect() == driver.SQLite {
			for _, column := range []string{"user_id", "limit_key", "idempotency_key"} {
				t.Run(column+" x'7f'", func(t *testing.T) { blocksNoOther(t, q, column, "x'7f'", column) })
			}
		}
		for _, value := range noTags(db) {
			t.Run("tags "+value, func(t *testing.T) { blocksNoOther(t, q, "tags_json", value, "tags_json") })
		}
	})
}

func countersBeyond(db queue.DB) []string {
	if db.Driver().Dialect() == driver.SQLite {
		return []string{"2147483647", "9223372036854775807", "'x'"}
	}
	return []string{"2147483647"}
}

func noInstants(db queue.DB) []string {
	if db.Driver().Dialect() == driver.SQLite {
		return []string{"'no time'", "''", "5", "x'00'", "'2026-02-30T00:00:00.000000Z'", "'2026-01-02T00:00:00Z'"}
	}
	return []string{"'infinity'", "'-infinity'", "'0100-01-01 BC'", "'20000-01-01'"}
}

func noTags(db queue.DB) []string {
	if db.Driver().Dialect() == driver.SQLite {
		return []string{"'no JSON'", `'{"a":1}'`, `'["red",1]'`, "5"}
	}
	return []string{`'{"a":1}'`, `'["red",1]'`}
}

// workSoon is work that fails when it has to wait: an altered row may make a job that comes due in a thousand years.
func workSoon(t *testing.T, q *queue.Queue, fn pingHandler) {
	t.Helper()
	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{PollInterval: time.Second, Lease: time.Hour})
	require.NoError(t, err)
	queue.Handle(d, ping, fn)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	require.NoError(t, d.RunUntilIdle(ctx))
	require.NoError(t, ctx.Err(), "jobs are left that nobody runs")
}

// blocksNoOther alters the job that claims take first, and has those after it end in every way.
func blocksNoOther(t *testing.T, q *queue.Queue, column, value, named string) {
	t.Helper()
	_, err := q.Redrive(t.Context(), queue.Filter{All: true, States: []queue.State{queue.StateFailed}})
	require.NoError(t, err)
	altered := enqueue(t, q, &queue.Options{Priority: 1, MaxAttempts: 1, Tags: []string{"red"}})
	good := enqueue(t, q, &queue.Options{Tags: []string{"red"}})
	bad := enqueue(t, q, &queue.Options{MaxAttempts: 1, Tags: []string{"red"}})
	execute(t, q, fmt.Sprintf("UPDATE jobs SET %s = %s WHERE id = '%s'", column, value, altered))

	lists := func() {
		t.Helper()
		for _, filter := range []queue.Filter{{Limit: 1000}, {Limit: 1000, Tags: []string{"red"}}} {
			jobs, err := q.Jobs(t.Context(), filter)
			require.NoError(t, err)
			var ids []string
			for i := range jobs {
				ids = append(ids, jobs[i].ID)
			}
			require.Subset(t, ids, []string{good, bad})
			if filter.Tags == nil {
				require.Contains(t, ids, altered)
			}
		}
		_, err = queueadmin.ReadStats(t.Context(), q, nil)
		require.NoError(t, err)
		require.Contains(t, doctor(t, q), altered)
		if named != "" {
			require.Contains(t, doctor(t, q), altered+": "+named+": what stands in a column of jobs can be read")
		}
	}
	lists()
	workSoon(t, q, func(_ context.Context, w *queue.Work[int]) error {
		if w.Job.ID != good {
			return errors.New("no")
		}
		return nil
	})
	require.Equal(t, queue.StateCompleted, job(t, q, good).State)
	require.Equal(t, queue.StateFailed, job(t, q, bad).State)
	if column == "attempt" {
		got := job(t, q, altered)
		require.Equal(t, queue.StateFailed, got.State)
		require.Contains(t, got.LastError,
			"attempt 2147483647 cannot be told from the next: something else than the queue has altered the row")
		require.NoError(t, q.Retry(t.Context(), altered)) // without putting it right
		again := enqueue(t, q, nil)
		workSoon(t, q, func(context.Context, *queue.Work[int]) error { return nil })
		require.Equal(t, queue.StateFailed, job(t, q, altered).State)
		require.Equal(t, queue.StateCompleted, job(t, q, again).State)
	}
	if value != "x'00'" { // what is no text is what no statement writes
		execute(t, q, fmt.Sprintf("DELETE FROM jobs WHERE id = '%s'", altered))
	}
}

// The same of a program that claims by itself.
func TestAClaimByHandPassesOverAnAlteredRow(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := queueOn(t, db)
		altered, good := enqueue(t, q, &queue.Options{Priority: 1}), enqueue(t, q, nil)
		execute(t, q, "UPDATE jobs SET attempt = 2147483647 WHERE id = '"+altered+"'")
		claimed, err := q.Claim(t.Context(), "w", []string{string(ping)}, 10)
		require.NoError(t, err)
		require.Len(t, claimed, 1)
		require.Equal(t, good, claimed[0].Job.ID)
		require.Equal(t, queue.StateFailed, job(t, q, altered).State)
	})
}

// Whatever else a job has left behind can be listed, too.
func TestAnAlteredRowOfAnotherTableIsShownAndNamed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := queueOn(t, db)
		require.NoError(t, q.SetSchedule(t.Context(), queue.Schedule{Name: "daily", Cron: "@daily",
			Job: ping.New(1, nil)}))
		id := enqueue(t, q, &queue.Options{MaxAttempts: 1})
		workSoon(t, q, func(ctx context.Context, w *queue.Work[int]) error {
			w.Logger().InfoContext(ctx, "line")
			_, err := queue.Step(ctx, w, "step", func(context.Context) (int, error) { return 1, nil })
			return errors.Join(err, errors.New("no"))
		})
		require.NoError(t, q.Heartbeat(t.Context(), "w"))
		for table, columns := range map[string][]string{
			"job_attempts": {"started_at", "finished_at"}, "job_steps": {"started_at", "finished_at"},
			"job_logs":      {"at"},
			"job_schedules": {"next_at", "last_at", "created_at", "updated_at"}, "job_workers": {"beat_at"},
		} {
			for _, column := range columns {
				for _, value := range noInstants(db) {
					execute(t, q, fmt.Sprintf("UPDATE %s SET %s = %s", table, column, value))
					require.Contains(t, doctor(t, q), column+": what stands in a column of "+table+" can be read",
						"%s %s", column, value)
				}
				execute(t, q, fmt.Sprintf("UPDATE %s SET %s = '2026-01-02T00:00:00.000000Z'", table, column))
			}
		}
		for _, column := range []string{"started_at", "finished_at"} {
			execute(t, q, fmt.Sprintf("UPDATE job_attempts SET %s = %s", column, noInstants(db)[0]))
			execute(t, q, fmt.Sprintf("UPDATE job_steps SET %s = %s", column, noInstants(db)[0]))
		}
		execute(t, q, "UPDATE job_logs SET at = "+noInstants(db)[0])
		execute(t, q, "UPDATE job_schedules SET next_at = "+noInstants(db)[0])
		for name, call := range listsOfJob(t.Context(), q, id) {
			n, err := call()
			require.NoError(t, err, name)
			require.Equal(t, 1, n, name)
		}
		schedules, err := q.Schedules(t.Context())
		require.NoError(t, err)
		require.Len(t, schedules, 1)
		good := enqueue(t, q, nil)
		workSoon(t, q, func(context.Context, *queue.Work[int]) error { return nil })
		require.Equal(t, queue.StateCompleted, job(t, q, good).State)
	})
}
