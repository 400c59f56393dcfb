package queue_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// What no database takes as text.
var noTexts = []string{"a\x00", "\xff"}

func TestIDsThatAreNoTextAreThoseOfNoJob(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), nil)
		for _, id := range noTexts {
			for name, call := range callsOnJobs(t.Context(), q, id) {
				require.ErrorIs(t, call(), queue.ErrJobNotFound, "%s %q", name, id)
			}
			for name, call := range callsOnSchedules(t.Context(), q, id) {
				require.ErrorIs(t, call(), queue.ErrScheduleNotFound, "%s %q", name, id)
			}
			for name, call := range listsOfJob(t.Context(), q, id) {
				n, err := call()
				require.NoError(t, err, "%s %q", name, id)
				require.Zero(t, n, "%s %q", name, id)
			}
		}
	})
}

func callsOnJobs(ctx context.Context, q *queue.Queue, id string) map[string]func() error {
	return map[string]func() error{
		"job":     func() error { _, err := q.Job(ctx, id); return err },
		"wait":    func() error { _, err := q.Wait(ctx, id); return err },
		"explain": func() error { _, err := queueadmin.Explain(ctx, q, id); return err },
		"cancel":  func() error { return q.Cancel(ctx, id) },
		"retry":   func() error { return q.Retry(ctx, id) },
	}
}

func callsOnSchedules(ctx context.Context, q *queue.Queue, name string) map[string]func() error {
	return map[string]func() error{
		"pause":  func() error { return q.PauseSchedule(ctx, name) },
		"resume": func() error { return q.ResumeSchedule(ctx, name) },
		"remove": func() error { return q.RemoveSchedule(ctx, name) },
		"fire":   func() error { _, err := q.FireSchedule(ctx, name); return err },
	}
}

func listsOfJob(ctx context.Context, q *queue.Queue, id string) map[string]func() (int, error) {
	return map[string]func() (int, error){
		"steps":    func() (int, error) { list, err := q.Steps(ctx, id); return len(list), err },
		"attempts": func() (int, error) { list, err := q.Attempts(ctx, id); return len(list), err },
		"logs":     func() (int, error) { list, err := q.Logs(ctx, id); return len(list), err },
	}
}

func TestHeartbeatTellsOfGoodLeasesBesideABadOne(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), nil)
		enqueue(t, q, nil)
		jobs, err := q.Claim(t.Context(), "w", []string{string(ping)}, 1)
		require.NoError(t, err)
		require.NoError(t, q.Heartbeat(t.Context(), "w", jobs[0]))
		none := queue.AttemptOf(q, queue.Job{ID: "none", Attempt: 1})
		err = q.Heartbeat(t.Context(), "w", jobs[0], none)
		require.EqualError(t, err, "queue: heartbeat none: job not found")
	})
}

func TestNamesThatAreNoTextAreRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), nil)
		id := enqueue(t, q, nil)
		_, err := q.Claim(t.Context(), "a\x00", []string{string(ping)}, 1)
		require.EqualError(t, err, `queue: claim: invalid worker: its id "a\x00" holds bytes that are no text`)
		_, err = q.Claim(t.Context(), "w", []string{string(ping), "\xff"}, 1)
		require.EqualError(t, err, `queue: claim: invalid job: Type "\xff" holds bytes that are no text`)
		require.EqualError(t, q.Heartbeat(t.Context(), "\xff"),
			`queue: heartbeat: invalid worker: its id "\xff" holds bytes that are no text`)
		require.Equal(t, queue.StateQueued, job(t, q, id).State)

		refusesFilter(t, q, queue.Filter{UserID: "\xff"}, `invalid filter: UserID "\xff" holds bytes that are no text`)
		for text, filter := range map[string]queue.Filter{
			`States "a\x00"`:  {States: []queue.State{"a\x00"}},
			`Types "\xff"`:    {Types: []string{"t", "\xff"}},
			`UserID "\xff"`:   {UserID: "\xff"},
			`Key "\xff"`:      {Key: "\xff"},
			`LimitKey "\x00"`: {LimitKey: "\x00"},
			`Tags "\x00"`:     {Tags: []string{"\x00"}},
			`Before "\x00"`:   {Before: "\x00"},
		} {
			_, err := q.Jobs(t.Context(), filter)
			require.EqualError(t, err, "queue: jobs: invalid filter: "+text+" holds bytes that are no text")
			_, err = q.Counts(t.Context(), filter)
			require.EqualError(t, err, "queue: counts: invalid filter: "+text+" holds bytes that are no text")
		}
	})
}

func TestAHandlerOfATypeThatIsNoTextIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		d, err := queue.NewDispatcher(q, nil)
		require.NoError(t, err)
		queue.Handle(d, queue.Type[int]("a\x00"), func(context.Context, *queue.Work[int]) error { return nil })
		require.ErrorContains(t, d.Run(t.Context()),
			`queue: handler "a\x00": invalid job: Type "a\x00" holds bytes that are no text`)
	})
}
