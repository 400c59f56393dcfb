package queue_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// In a bubble the time is 2000-01-01 00:00 UTC, a Saturday, at first.
func TestScheduleFiresAtItsInstants(t *testing.T) {
	forWeeks(t, func(t *testing.T, q *queue.Queue) {
		set(t, q, queue.Schedule{Name: "weekly", Cron: "0 7 * * MON", Zone: "Europe/Berlin",
			Job: ping.New(1, &queue.Options{Priority: 4, Tags: []string{"mine"}})})
		require.Equal(t, "2000-01-03 06:00:00 +0000 UTC", schedule(t, q, "weekly").NextAt.String())
		var ran []queue.Firing
		stop := start(t, q, calm, func(_ context.Context, w *queue.Work[int]) error {
			firing, ok := w.Job.Firing()
			require.True(t, ok)
			require.WithinDuration(t, firing.At, time.Now(), time.Millisecond)
			require.Equal(t, 4, w.Job.Priority)
			require.Equal(t, []string{"schedule:weekly", "fires:" + firing.At.Format(time.RFC3339), "mine"}, w.Job.Tags)
			ran = append(ran, firing)
			return nil
		})
		time.Sleep(3 * day)
		require.NoError(t, stop())
		require.Equal(t, []queue.Firing{{Schedule: "weekly", At: time.Date(2000, 1, 3, 6, 0, 0, 0, time.UTC)}}, ran)
		require.Equal(t, ran[0].At, schedule(t, q, "weekly").LastAt)
		require.Equal(t, "2000-01-10 06:00:00 +0000 UTC", schedule(t, q, "weekly").NextAt.String())
	})
}

// The process is started anew more often than the schedule fires, and sets it each time.
func TestScheduleFiresDespiteRestarts(t *testing.T) {
	for cron, want := range map[string][]string{
		"0 7 * * MON": {"01-03 07:00:00", "01-10 07:00:00", "01-17 07:00:00"},
		"@every 168h": {"01-08 00:00:00", "01-15 00:00:00"},
	} {
		t.Run(cron, func(t *testing.T) {
			forWeeks(t, func(t *testing.T, q *queue.Queue) {
				for range 20 {
					set(t, q, queue.Schedule{Name: "weekly", Cron: cron, Job: ping.New(1, nil)})
					time.Sleep(6 * time.Hour)
					up(t, q, 2*time.Hour)
					time.Sleep(16 * time.Hour)
				}
				require.Equal(t, want, fired(t, q, "weekly"))
			})
		})
	}
}

func TestScheduleCatchesUpAsItIsTold(t *testing.T) {
	for catchUp, want := range map[queue.CatchUp][]string{
		"":                {"01-15 07:00:00"},
		queue.CatchUpOnce: {"01-15 07:00:00"},
		queue.CatchUpSkip: {},
		queue.CatchUpAll: {
			"01-02 07:00:00", "01-03 07:00:00", "01-04 07:00:00", "01-05 07:00:00", "01-06 07:00:00", "01-07 07:00:00",
			"01-08 07:00:00",
			"01-09 07:00:00", "01-10 07:00:00", "01-11 07:00:00", "01-12 07:00:00", "01-13 07:00:00", "01-14 07:00:00",
			"01-15 07:00:00",
		},
	} {
		t.Run(string("policy "+catchUp), func(t *testing.T) {
			forWeeks(t, func(t *testing.T, q *queue.Queue) {
				set(t, q, daily(catchUp))
				up(t, q, 8*time.Hour)
				require.Equal(t, []string{"01-01 07:00:00"}, fired(t, q, "daily"))
				time.Sleep(14 * day)
				up(t, q, time.Hour)
				want := append([]string{"01-01 07:00:00"}, want...)
				require.Equal(t, want, fired(t, q, "daily"))
				time.Sleep(21 * time.Hour)
				up(t, q, 2*time.Hour)
				require.Equal(t, append(want, "01-16 07:00:00"), fired(t, q, "daily"), "it goes on as ever")
			})
		})
	}
}

func TestCatchingUpOnAllIsBounded(t *testing.T) {
	forWeeks(t, func(t *testing.T, q *queue.Queue) {
		set(t, q, queue.Schedule{Name: "often", Cron: "* * * * *", Job: ping.New(1, nil), CatchUp: queue.CatchUpAll})
		time.Sleep(14*day + time.Second)
		up(t, q, time.Second)
		all := fired(t, q, "often")
		require.Len(t, all, 1000)
		require.Equal(t, []string{"01-14 07:21:00", "01-15 00:00:00"}, []string{all[0], all[999]})
	})
}

func TestWhatIsLateByLessThanAMinuteIsNotMissed(t *testing.T) {
	for late, want := range map[time.Duration]int{time.Minute: 1, time.Minute + time.Second: 0} {
		forWeeks(t, func(t *testing.T, q *queue.Queue) {
			set(t, q, daily(queue.CatchUpSkip))
			time.Sleep(7*time.Hour + late)
			up(t, q, time.Second)
			require.Len(t, fired(t, q, "daily"), want, "%v late", late)
		})
	}
}

func TestFiringsOfAKeyDoNotOverlap(t *testing.T) {
	forWeeks(t, func(t *testing.T, q *queue.Queue) {
		s := queue.Schedule{Name: "slow", Cron: "@every 1m",
			Job: ping.New(1, &queue.Options{Key: queue.WhileUnfinished("slow")}), CatchUp: queue.CatchUpAll}
		set(t, q, s)
		time.Sleep(5 * time.Minute)
		var running, ran atomic.Int64
		stop := start(t, q, calm, func(context.Context, *queue.Work[int]) error {
			require.EqualValues(t, 1, running.Add(1))
			time.Sleep(150 * time.Second)
			running.Add(-1)
			ran.Add(1)
			return nil
		})
		time.Sleep(90 * time.Second)
		s.Job.Payload = 2 // its next firings come while the job of the old payload has the key
		set(t, q, s)
		time.Sleep(10*time.Minute + 15*time.Second)
		require.NoError(t, stop())
		require.EqualValues(t, 4, ran.Load())
		require.Equal(t, []string{"01-01 00:01:00", "01-01 00:08:00", "01-01 00:11:00", "01-01 00:14:00"},
			fired(t, q, "slow"))
	})
}

// unlucky fails inserts, once the transaction has moved the schedule.
type unlucky struct {
	driver.Driver
	fails atomic.Int64
}

func (u *unlucky) Insert(
	ctx context.Context, tx *driver.WriteTx, jobs []driver.InsertJob,
) ([]driver.InsertResult, error) {
	if u.fails.Add(-1) >= 0 {
		return nil, errDatabase
	}
	return u.Driver.Insert(ctx, tx, jobs)
}

func TestFiringThatDidNotCommitHappensLater(t *testing.T) {
	forWeeks(t, func(t *testing.T, q *queue.Queue) {
		set(t, q, daily(""))
		due := schedule(t, q, "daily").NextAt
		time.Sleep(time.Until(due) - time.Second)
		driver := &unlucky{Driver: q.DB().Driver()}
		driver.fails.Store(3)
		stop := start(t, on(t, driver, nil), &queue.DispatcherConfig{PollInterval: time.Second, Lease: time.Hour},
			func(context.Context, *queue.Work[int]) error { return nil })
		time.Sleep(3500 * time.Millisecond)
		require.Empty(t, fired(t, q, "daily"))
		require.Equal(t, due, schedule(t, q, "daily").NextAt)
		time.Sleep(time.Minute)
		require.Equal(t, []string{"01-01 07:00:00"}, fired(t, q, "daily"))
		require.NoError(t, stop())
	})
}

// skewed is a machine whose clock is wrong, for its schedules.
type skewed struct {
	driver.Driver
	by time.Duration
}

func (s *skewed) DueSchedules(ctx context.Context, now time.Time) ([]driver.Schedule, time.Time, error) {
	due, _, err := s.Driver.DueSchedules(ctx, now.Add(s.by))
	return due, time.Time{}, err
}

func (s *skewed) Write(ctx context.Context, fn func(context.Context, driver.Tx) error) error {
	return driver.Write(ctx, s.Driver, func(ctx context.Context, tx *driver.WriteTx) error {
		return fn(ctx, driver.NewWriteTx(tx, tx.Dialect(), tx.Now().Add(s.by)))
	})
}

func TestClockThatIsSetBackFiresNothingTwice(t *testing.T) {
	forWeeks(t, func(t *testing.T, q *queue.Queue) {
		set(t, q, daily(queue.CatchUpAll))
		ahead := on(t, &skewed{Driver: q.DB().Driver(), by: 32 * time.Hour}, nil)
		d, err := queue.NewDispatcher(ahead, nil)
		require.NoError(t, err)
		queue.Handle(d, queue.Type[int]("none"), func(context.Context, *queue.Work[int]) error { return nil })
		require.NoError(t, d.RunUntilIdle(t.Context()))
		want := []string{"01-01 07:00:00", "01-02 07:00:00"}
		require.Equal(t, want, fired(t, q, "daily"))
		up(t, q, 54*time.Hour)
		require.Equal(t, want, fired(t, q, "daily"))
		up(t, q, 2*time.Hour)
		require.Equal(t, append(want, "01-03 07:00:00"), fired(t, q, "daily"))
	})
}

// One schedule that cannot fire, told once, keeps no other from firing, and is mended by setting it.
func TestBrokenScheduleIsIsolated(t *testing.T) {
	for name, c := range map[string]struct{ column, value, fault string }{
		"cron":    {"cron", "every now and then", `Cron is "every now and then"`},
		"zone":    {"zone", "Mars/Olympus", `Zone is "Mars/Olympus"`},
		"options": {"options_json", `{"Priority":"high"}`, "options_json"},
	} {
		t.Run(name, func(t *testing.T) {
			forWeeks(t, func(t *testing.T, q *queue.Queue) {
				broken := daily("")
				broken.Name = "broken"
				broken.Cron = "0 6 * * *"
				set(t, q, broken)
				set(t, q, daily(""))
				require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
					_, err := tx.ExecContext(ctx, "UPDATE job_schedules SET "+c.column+" = $1 WHERE name = 'broken'",
						c.value)
					return err
				}))
				var log strings.Builder
				cfg := *calm
				cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
				stop := start(t, q, &cfg, func(context.Context, *queue.Work[int]) error { return nil })
				time.Sleep(8 * time.Hour)
				require.NoError(t, stop())
				require.Equal(t, []string{"01-01 07:00:00"}, fired(t, q, "daily"))
				require.Empty(t, fired(t, q, "broken"))
				require.Equal(t, 1, strings.Count(log.String(), "schedule cannot fire"), log.String())
				require.Contains(t, schedule(t, q, "broken").Fault, c.fault)
				require.Contains(t, doctor(t, q), "problem: schedule broken cannot fire: ")
				set(t, q, broken)
				require.Empty(t, schedule(t, q, "broken").Fault)
				up(t, q, day)
				require.Contains(t, fired(t, q, "broken"), "01-02 06:00:00")
			})
		})
	}
}

// Three processes on one file see every instant, and one of them fires.
func TestThreeProcessesFireEachInstantOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	synctest.Test(t, func(t *testing.T) {
		var stops []func() error
		var first *queue.Queue
		for i := range 3 {
			db, err := sqlite.Open(t.Context(), path, &sqlite.Config{Durability: sqlite.Normal})
			require.NoError(t, err)
			defer db.Close()
			require.NoError(t, queue.Migrate(t.Context(), db))
			q := on(t, &faulty{Driver: db.Driver(), deaf: true}, nil) // what watches a file is outside of the bubble
			set(t, q, queue.Schedule{Name: "often", Cron: "*/10 * * * *", Job: ping.New(1, nil),
				CatchUp: queue.CatchUpAll})
			if i == 0 {
				first = q
			}
			stops = append(stops, start(t, q, calm, func(context.Context, *queue.Work[int]) error { return nil }))
		}
		time.Sleep(10*time.Hour + time.Second)
		for _, stop := range stops {
			require.NoError(t, stop())
		}
		all := fired(t, first, "often")
		require.Len(t, all, 60)
		require.Len(t, unique(all), 60)
	})
}

func unique(all []string) map[string]bool {
	set := make(map[string]bool)
	for _, s := range all {
		set[s] = true
	}
	return set
}

// Machines that begin at the same time find the same schedules due.
func TestMachinesShareDueSchedules(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q := on(t, db.Driver(), nil)
		const schedules, machines = 30, 3
		for i := range schedules {
			set(t, q, queue.Schedule{Name: string(rune('A' + i)), Cron: []string{"@yearly", "@every 8760h"}[i%2],
				Job: ping.New(i, nil)})
		}
		require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			newYear := time.Date(time.Now().Year(), 1, 1, 0, 0, 0, 0, time.UTC)
			_, err := tx.ExecContext(ctx, "UPDATE job_schedules SET next_at = $1", dbtime.Of(newYear))
			return err
		}))
		var wg sync.WaitGroup
		var ran atomic.Int64
		for range machines {
			d, err := queue.NewDispatcher(on(t, db.Driver(), nil), nil)
			require.NoError(t, err)
			queue.Handle(d, ping, func(context.Context, *queue.Work[int]) error {
				ran.Add(1)
				return nil
			})
			wg.Go(func() { require.NoError(t, d.RunUntilIdle(t.Context())) })
		}
		wg.Wait()
		require.EqualValues(t, schedules, ran.Load())
		stored, err := q.Schedules(t.Context())
		require.NoError(t, err)
		for _, s := range stored {
			require.True(t, s.NextAt.After(time.Now()))
			require.Len(t, fired(t, q, s.Name), 1)
		}
	})
}

type blindDriver struct {
	driver.Driver
	looks atomic.Int32
}

func (d *blindDriver) DueSchedules(ctx context.Context, now time.Time) ([]driver.Schedule, time.Time, error) {
	if d.looks.Add(1) <= 3 {
		return nil, time.Time{}, errors.New("the database is away")
	}
	return d.Driver.DueSchedules(ctx, now)
}

func TestLookThatFailedIsRepeatedSoonHoweverRarelyJobsArePolled(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		q = on(t, &blindDriver{Driver: q.DB().Driver()}, nil)
		require.NoError(t, q.SetSchedule(t.Context(), queue.Schedule{Name: "s", Cron: "* * * * *",
			Job: ping.New(1, nil)}))
		began := time.Now()
		fired := make(chan time.Time, 100)
		stop := start(t, q, &queue.DispatcherConfig{PollInterval: time.Hour},
			func(context.Context, *queue.Work[int]) error {
				fired <- time.Now()
				return nil
			})
		require.LessOrEqual(t, (<-fired).Sub(began), time.Minute+time.Second)
		require.NoError(t, stop())
	})
}
