package queue_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
)

// calm is a dispatcher that does little while nothing happens, for tests in which weeks go by.
var calm = &queue.DispatcherConfig{PollInterval: time.Hour, Lease: time.Hour, Grace: time.Hour}

// forWeeks is bubble with a queue that forgets no job.
func forWeeks(t *testing.T, fn func(t *testing.T, q *queue.Queue)) {
	t.Helper()
	bubble(t, func(t *testing.T, q *queue.Queue) {
		fn(t, on(t, q.DB().Driver(), &queue.Config{Retention: queue.Retention{Keep: queue.Keep{Completed: -1}}}))
	})
}

func daily(catchUp queue.CatchUp) queue.Schedule {
	return queue.Schedule{Name: "daily", Cron: "0 7 * * *", Job: ping.New(1, nil), CatchUp: catchUp}
}

func set(t *testing.T, q *queue.Queue, s queue.Schedule) {
	t.Helper()
	require.NoError(t, q.SetSchedule(t.Context(), s))
}

func schedule(t *testing.T, q *queue.Queue, name string) queue.StoredSchedule {
	t.Helper()
	all, err := q.Schedules(t.Context())
	require.NoError(t, err)
	for _, s := range all {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("there is no schedule %q", name)
	return queue.StoredSchedule{}
}

// fired are the instants that the jobs of a schedule are for, oldest job first.
func fired(t *testing.T, q *queue.Queue, name string) []string {
	t.Helper()
	jobs, err := q.Jobs(t.Context(), queue.Filter{Limit: 1000})
	require.NoError(t, err)
	instants := []string{}
	for i := len(jobs) - 1; i >= 0; i-- {
		if f, ok := jobs[i].Firing(); ok && f.Schedule == name {
			instants = append(instants, f.At.Format("01-02 15:04:05"))
		}
	}
	return instants
}

// up has a dispatcher run for a time.
func up(t *testing.T, q *queue.Queue, d time.Duration) {
	t.Helper()
	stop := start(t, q, calm, func(context.Context, *queue.Work[int]) error { return nil })
	time.Sleep(d)
	synctest.Wait()
	require.NoError(t, stop())
}

func TestSettingAScheduleAgain(t *testing.T) {
	for name, c := range map[string]struct {
		change         func(s *queue.Schedule)
		changed, moved bool
	}{
		"the same":           {func(*queue.Schedule) {}, false, false},
		"defaults spelt out": {func(s *queue.Schedule) { s.Zone, s.CatchUp = "UTC", queue.CatchUpOnce }, false, false},
		"payload":            {func(s *queue.Schedule) { s.Job.Payload = 2 }, true, false},
		"options":            {func(s *queue.Schedule) { s.Job.Priority = 1 }, true, false},
		"type":               {func(s *queue.Schedule) { s.Job.Type = "other" }, true, false},
		"catch-up":           {func(s *queue.Schedule) { s.CatchUp = queue.CatchUpAll }, true, false},
		"cron":               {func(s *queue.Schedule) { s.Cron = "@every 1h" }, true, true},
		"zone":               {func(s *queue.Schedule) { s.Zone = "Asia/Tokyo" }, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			forWeeks(t, func(t *testing.T, q *queue.Queue) {
				s := queue.Schedule{Name: "s", Cron: "@every 30h",
					Job: ping.New(1, &queue.Options{Tags: []string{"a"}, Key: queue.WhileUnfinished("k")})}
				set(t, q, s)
				before := schedule(t, q, "s")
				time.Sleep(time.Hour)
				c.change(&s)
				set(t, q, s)
				after := schedule(t, q, "s")
				require.Equal(t, c.changed, !after.UpdatedAt.Equal(before.UpdatedAt))
				require.Equal(t, c.moved, !after.NextAt.Equal(before.NextAt))
				require.Equal(t, before.CreatedAt, after.CreatedAt)
				require.Equal(t, s.Cron, after.Cron)
			})
		})
	}
}

// A dispatcher that runs, and one of another process, hear of a change in time.
func TestScheduleIsEditedWhileDispatchersRun(t *testing.T) {
	forWeeks(t, func(t *testing.T, q *queue.Queue) {
		set(t, q, daily(""))
		stop := start(t, q, calm, func(context.Context, *queue.Work[int]) error { return nil })
		synctest.Wait()
		s := daily("")
		s.Cron = "@every 5s"
		set(t, q, s)
		time.Sleep(11 * time.Second)
		require.Equal(t, []string{"01-01 00:00:05", "01-01 00:00:10"}, fired(t, q, "daily"))

		s.Cron = "*/40 * * * * *"
		set(t, on(t, q.DB().Driver(), nil), s)
		time.Sleep(40 * time.Second)
		require.Equal(t, []string{"01-01 00:00:05", "01-01 00:00:10", "01-01 00:00:40"}, fired(t, q, "daily"))
		require.NoError(t, q.RemoveSchedule(t.Context(), "daily"))
		time.Sleep(time.Hour)
		require.Len(t, fired(t, q, "daily"), 3)
		require.ErrorIs(t, q.RemoveSchedule(t.Context(), "daily"), queue.ErrScheduleNotFound)
		require.NoError(t, stop())
	})
}

func TestPausedScheduleRests(t *testing.T) {
	forWeeks(t, func(t *testing.T, q *queue.Queue) {
		set(t, q, daily(queue.CatchUpAll))
		require.NoError(t, q.PauseSchedule(t.Context(), "daily"))
		require.NoError(t, q.PauseSchedule(t.Context(), "daily"))
		up(t, q, 8*time.Hour)
		s := daily(queue.CatchUpAll)
		s.Cron = "0 9 * * *"
		set(t, q, s)
		up(t, q, 2*time.Hour)
		require.Empty(t, fired(t, q, "daily"))
		stored := schedule(t, q, "daily")
		require.True(t, stored.Paused)
		require.Zero(t, stored.NextAt)

		require.NoError(t, q.ResumeSchedule(t.Context(), "daily"))
		require.NoError(t, q.ResumeSchedule(t.Context(), "daily"))
		up(t, q, day)
		require.Equal(t, []string{"01-02 09:00:00"}, fired(t, q, "daily"),
			"what fell into the pause is not caught up with")
		for _, err := range []error{q.PauseSchedule(t.Context(), "none"), q.ResumeSchedule(t.Context(), "none")} {
			require.ErrorIs(t, err, queue.ErrScheduleNotFound)
			require.ErrorContains(t, err, `schedule "none"`)
		}
	})
}

func TestScheduleIsFiredByHand(t *testing.T) {
	forWeeks(t, func(t *testing.T, q *queue.Queue) {
		set(t, q, daily(""))
		next := schedule(t, q, "daily").NextAt
		require.NoError(t, q.PauseSchedule(t.Context(), "daily"))
		time.Sleep(1500 * time.Millisecond)
		enqueued, err := q.FireSchedule(t.Context(), "daily")
		require.NoError(t, err)
		firing, ok := job(t, q, enqueued.ID).Firing()
		require.True(t, ok)
		require.Equal(t, queue.Firing{Schedule: "daily", At: time.Now().UTC()}, firing)
		require.Equal(t, firing.At, schedule(t, q, "daily").LastAt)
		require.NoError(t, q.ResumeSchedule(t.Context(), "daily"))
		require.Equal(t, next, schedule(t, q, "daily").NextAt)
		_, err = q.FireSchedule(t.Context(), "none")
		require.ErrorIs(t, err, queue.ErrScheduleNotFound)
	})
}

func TestJobThatNoScheduleEnqueuedIsNoFiring(t *testing.T) {
	forWeeks(t, func(t *testing.T, q *queue.Queue) {
		_, ok := job(t, q, enqueue(t, q, &queue.Options{Tags: []string{"schedule", "fires:soon"}})).Firing()
		require.False(t, ok)
	})
}

func TestSetScheduleTx(t *testing.T) {
	forWeeks(t, func(t *testing.T, q *queue.Queue) {
		set(t, q, queue.Schedule{Name: "kept", Cron: "@daily", Job: ping.New(1, nil)})
		undone := errors.New("undone")
		err := q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			require.NoError(t, q.SetScheduleTx(ctx, tx, daily("")))
			require.NoError(t, q.RemoveScheduleTx(ctx, tx, "kept"))
			_, err := q.FireScheduleTx(ctx, tx, "daily")
			require.NoError(t, err)
			return undone
		})
		require.ErrorIs(t, err, undone)
		all, err := q.Schedules(t.Context())
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.Equal(t, "kept", all[0].Name)
		require.Empty(t, fired(t, q, "daily"))
	})
}

func TestScheduleRefuses(t *testing.T) {
	forWeeks(t, func(t *testing.T, q *queue.Queue) {
		tags := make([]string, 19)
		for i := range tags {
			tags[i] = "t"
		}
		for field, change := range map[string]func(s *queue.Schedule){
			"Schedule.Name is empty":             func(s *queue.Schedule) { s.Name = "" },
			"Schedule.Name is \"\\xff\"":         func(s *queue.Schedule) { s.Name = "\xff" },
			"Schedule.Cron is \"often\"":         func(s *queue.Schedule) { s.Cron = "often" },
			"Schedule.Cron is \"0 0 30 2 *\", w": func(s *queue.Schedule) { s.Cron = "0 0 30 2 *" },
			"Schedule.Zone is \"Here\"":          func(s *queue.Schedule) { s.Zone = "Here" },
			"Schedule.CatchUp is \"some\"":       func(s *queue.Schedule) { s.CatchUp = "some" },
			"Schedule.Job.NotBefore":             func(s *queue.Schedule) { s.Job.NotBefore = time.Now() },
			"Schedule.Job.ExpiresAt":             func(s *queue.Schedule) { s.Job.ExpiresAt = time.Now() },
			"Schedule.Job.Key":                   func(s *queue.Schedule) { s.Job.Key = queue.Forever("once") },
			"Schedule.Job.Tags":                  func(s *queue.Schedule) { s.Job.Tags = tags },
			"Schedule.Job: invalid job: Type":    func(s *queue.Schedule) { s.Job.Type = "" },
			"Schedule.Job: payload of ping: ":    func(s *queue.Schedule) { s.Job.Payload = func() {} },
			"Schedule.Job: payload of ping has ": func(s *queue.Schedule) {
				s.Job.Payload = strings.Repeat("x",
					1<<20)
			},
		} {
			s := daily("")
			change(&s)
			err := q.SetSchedule(t.Context(), s)
			require.ErrorIs(t, err, queue.ErrInvalidSchedule)
			require.ErrorContains(t, err, field)
		}
		all, err := q.Schedules(t.Context())
		require.NoError(t, err)
		require.Empty(t, all)
	})
}

func TestPayloadOfAScheduleIsStoredAsTheCodecMakesIt(t *testing.T) {
	forWeeks(t, func(t *testing.T, plain *queue.Queue) {
		q := on(t, plain.DB().Driver(), &queue.Config{Codec: encrypting(t, "a")})
		s := queue.Schedule{Name: "s", Cron: "0 7 * * *", Job: letter.New("secret payload", nil)}
		set(t, q, s)
		var stored string
		require.NoError(t, q.DB().Reader().Get(&stored, "SELECT payload_json FROM job_schedules"))
		require.NotContains(t, stored, "secret")
		require.JSONEq(t, `"secret payload"`, string(schedule(t, q, "s").Job.Payload.(json.RawMessage)))
		set(t, q, s)
		var again string
		require.NoError(t, q.DB().Reader().Get(&again, "SELECT payload_json FROM job_schedules"))
		require.Equal(t, stored, again, "it is still the same schedule")

		// A process without the codec keeps it as it is, and fires it not.
		require.NoError(t, plain.PauseSchedule(t.Context(), "s"))
		require.ErrorContains(t, plain.ResumeSchedule(t.Context(), "s"), queue.ErrNoCodec.Error())
		require.NoError(t, q.ResumeSchedule(t.Context(), "s"))
		time.Sleep(8 * time.Hour)
		up(t, plain, time.Hour)
		require.Empty(t, fired(t, plain, "s"))
		require.Contains(t, schedule(t, plain, "s").Fault, queue.ErrNoCodec.Error())
		up(t, q, time.Hour)
		jobs, err := q.Jobs(t.Context(), queue.Filter{})
		require.NoError(t, err)
		require.Len(t, jobs, 1)
		require.JSONEq(t, `"secret payload"`, string(jobs[0].Payload))
	})
}
