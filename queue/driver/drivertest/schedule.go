package drivertest

import (
	"context"
	"encoding/json"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

// newSchedule returns a schedule with all fields set.
func newSchedule(name string, next time.Time) driver.Schedule {
	now := dbtime.Truncate(time.Now())
	return driver.Schedule{
		Name: name, Cron: "0 7 * * MON", Zone: "Europe/Berlin", CatchUp: "all", Type: "t",
		Payload: json.RawMessage(`{"n":"ü\u0000"}`), Options: json.RawMessage(`{"Priority":-3,"Tags":["a","b"]}`),
		NextAt: dbtime.Truncate(next), LastAt: now.Add(-time.Hour), CreatedAt: now, UpdatedAt: now,
	}
}

func (s *suite) addSchedule(schedule driver.Schedule) (added bool) {
	s.Helper()
	s.write(func(ctx context.Context, tx *driver.WriteTx) (err error) {
		added, err = s.d.AddSchedule(ctx, tx, schedule)
		return err
	})
	return added
}

func (s *suite) schedules() []driver.Schedule {
	s.Helper()
	all, err := s.d.Schedules(s.Context())
	require.NoError(s, err)
	return all
}

func (s *suite) dueSchedules(now time.Time) ([]string, time.Time) {
	s.Helper()
	due, next, err := s.d.DueSchedules(s.Context(), now)
	require.NoError(s, err)
	names := []string{}
	for _, schedule := range due {
		names = append(names, schedule.Name)
	}
	return names, next
}

var scheduleCases = []conformanceCase{
	{
		name:        "Schedule/is kept whole",
		explanation: "every field comes back as it was stored, the payload byte for byte; absent times are zero",
		run: func(s *suite) {
			full := newSchedule("full", s.now())
			bare := driver.Schedule{
				Name: "bare", Cron: "@daily", Zone: "UTC", CatchUp: "skip", Type: "t", Payload: json.RawMessage("null"),
				Options: json.RawMessage("{}"),
				Paused:  true, CreatedAt: full.CreatedAt, UpdatedAt: full.UpdatedAt,
			}
			require.True(s, s.addSchedule(full))
			require.True(s, s.addSchedule(bare))
			require.Equal(s, []driver.Schedule{bare, full}, s.schedules())
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				locked, err := s.d.LockSchedule(ctx, tx, "full")
				require.NoError(s, err)
				require.Equal(s, &full, locked)
				return nil
			})
		},
	},
	{
		name:        "Schedule/is added once",
		explanation: "of two machines that set a schedule at their start, the second must not move it",
		run: func(s *suite) {
			first := newSchedule("a", s.now())
			require.True(s, s.addSchedule(first))
			second := newSchedule("a", s.now().Add(time.Hour))
			second.Cron = "@daily"
			require.False(s, s.addSchedule(second))
			require.Equal(s, []driver.Schedule{first}, s.schedules())
		},
	},
	{
		name:        "Schedule/is updated whole and alone",
		explanation: "an update stores every field, and touches no other schedule",
		run: func(s *suite) {
			other := newSchedule("other", s.now())
			require.True(s, s.addSchedule(newSchedule("a", s.now())))
			require.True(s, s.addSchedule(other))
			changed := driver.Schedule{
				Name: "a", Cron: "@hourly", Zone: "UTC", CatchUp: "once", Type: "u", Payload: json.RawMessage("1"),
				Options: json.RawMessage(`{"UserID":"u"}`),
				Paused:  true, CreatedAt: other.CreatedAt.Add(time.Second), UpdatedAt: other.UpdatedAt.Add(time.Minute),
			}
			s.write(func(ctx context.Context, tx *driver.WriteTx) error { return s.d.UpdateSchedule(ctx, tx, changed) })
			require.Equal(s, []driver.Schedule{changed, other}, s.schedules())
		},
	},
	{
		name:        "Schedule/is deleted alone",
		explanation: "a deleted schedule is gone, and another stays",
		run: func(s *suite) {
			other := newSchedule("other", s.now())
			require.True(s, s.addSchedule(newSchedule("a", s.now())))
			require.True(s, s.addSchedule(other))
			s.write(func(ctx context.Context, tx *driver.WriteTx) error { return s.d.DeleteSchedule(ctx, tx, "a") })
			require.Equal(s, []driver.Schedule{other}, s.schedules())
		},
	},
	{
		name:        "Schedule/is not found when there is none",
		explanation: "an unknown name is ErrScheduleNotFound, and nothing is written",
		run: func(s *suite) {
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				_, err := s.d.LockSchedule(ctx, tx, "none")
				require.ErrorIs(s, err, driver.ErrScheduleNotFound)
				require.ErrorIs(s, s.d.UpdateSchedule(ctx, tx, newSchedule("none", s.now())),
					driver.ErrScheduleNotFound)
				require.ErrorIs(s, s.d.DeleteSchedule(ctx, tx, "none"), driver.ErrScheduleNotFound)
				return nil
			})
			require.Empty(s, s.schedules())
		},
	},
	{
		name:        "Schedule/due ones, earliest first, and when the next is due",
		explanation: "a dispatcher fires those that are due and sleeps until the next; one that never fires must not be among them",
		run: func(s *suite) {
			now := dbtime.Truncate(s.now())
			due, next := s.dueSchedules(now)
			require.Empty(s, due)
			require.Zero(s, next)
			for name, at := range map[string]time.Time{
				"later": now.Add(2 * time.Hour), "next": now.Add(time.Hour), "next too": now.Add(time.Hour),
				"paused": {},
				"due":    now.Add(-time.Second), "long due": now.Add(-time.Hour), "just due": now,
			} {
				require.True(s, s.addSchedule(newSchedule(name, at)))
			}
			for _, c := range []struct {
				now, next time.Time
				due       []string
			}{
				{now.Add(-24 * time.Hour), now.Add(-time.Hour), []string{}},
				{now, now.Add(time.Hour), []string{"long due", "due", "just due"}},
				{now.Add(time.Hour), now.Add(2 * time.Hour), []string{"long due", "due", "just due", "next",
					"next too"}},
				{now.Add(24 * time.Hour), time.Time{}, []string{"long due", "due", "just due", "next", "next too",
					"later"}},
			} {
				due, next := s.dueSchedules(c.now)
				require.Equal(s, c.due, due)
				require.Equal(s, c.next, next)
			}
		},
	},
	{
		name:        "Schedule/is moved by one at a time",
		explanation: "of machines that look at once, one fires: who locks a schedule sees what the one before has made of it",
		run: func(s *suite) {
			const machines = 8
			require.True(s, s.addSchedule(newSchedule("a", s.now())))
			moved := make(chan bool, machines)
			for range machines {
				go func() {
					fires := false
					err := driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
						schedule, err := s.d.LockSchedule(ctx, tx, "a")
						if err != nil || schedule.NextAt.After(tx.Now()) {
							return err
						}
						fires = true
						schedule.NextAt = tx.Now().Add(time.Hour)
						return s.d.UpdateSchedule(ctx, tx, *schedule)
					})
					moved <- err == nil && fires
				}()
			}
			count := 0
			for range machines {
				if <-moved {
					count++
				}
			}
			require.Equal(s, 1, count)
		},
	},
	{
		name:        "Schedule/nothing of it is kept when the transaction fails",
		explanation: "a firing that is not committed has not happened: the schedule stands where it was",
		run: func(s *suite) {
			schedule := newSchedule("a", s.now())
			require.True(s, s.addSchedule(schedule))
			err := driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
				locked, err := s.d.LockSchedule(ctx, tx, "a")
				require.NoError(s, err)
				locked.NextAt = locked.NextAt.Add(time.Hour)
				require.NoError(s, s.d.UpdateSchedule(ctx, tx, *locked))
				return context.Canceled
			})
			require.ErrorIs(s, err, context.Canceled)
			require.Equal(s, []driver.Schedule{schedule}, s.schedules())
		},
	},
}
