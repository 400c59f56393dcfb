package queue_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// A set driver's database has a clock that is set.
type setDriver struct {
	driver.Driver
	driver.Auditor
	off atomic.Int64
}

func setting(d driver.Driver) *setDriver { return &setDriver{Driver: d, Auditor: auditorOf(d)} }

func (s *setDriver) set(off time.Duration) { s.off.Store(int64(off)) }

func (s *setDriver) Now() time.Time { return driver.Now(s.Driver).Add(time.Duration(s.off.Load())) }

func (s *setDriver) Write(ctx context.Context, fn func(ctx context.Context, tx driver.Tx) error) error {
	return driver.Write(ctx, s.Driver, func(ctx context.Context, tx *driver.WriteTx) error {
		wrong := driver.NewWriteTx(tx.Tx, tx.Dialect(), tx.Now().Add(time.Duration(s.off.Load())))
		tx.OnCommit(wrong.Committed)
		tx.OnRollback(wrong.RolledBack)
		return fn(ctx, wrong)
	})
}

// A logBook keeps what is logged.
type logBook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logBook) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

const (
	saidFuture  = "rows of the future"
	saidRevived = "a schedule was fired or set while a clock was ahead"
	saidDiffers = "this machine's clock was set, or is wrong"
	saidAgrees  = "this machine's clock agrees"
)

// A schedule that has fired a day ahead does not stand still until that day has come.
func TestSchedulesGoOnAfterAClockWasAhead(t *testing.T) {
	for name, restarts := range map[string]bool{"of a dispatcher that goes on": false, "of the next dispatcher": true} {
		for catchUp, cron := range map[queue.CatchUp]string{"": "0 * * * *", queue.CatchUpSkip: "0 * * * *",
			queue.CatchUpAll: "@every 1h"} {
			t.Run(name+" "+string(catchUp), func(t *testing.T) {
				bubble(t, func(t *testing.T, q *queue.Queue) {
					book := &logBook{}
					db := setting(q.DB().Driver())
					wrong := on(t, db, &queue.Config{Logger: slog.New(slog.NewTextHandler(book, nil))})
					require.NoError(t, wrong.SetSchedule(t.Context(), queue.Schedule{
						Name: "hourly", Cron: cron, CatchUp: catchUp, Job: ping.New(1, nil),
					}))
					require.NoError(t, wrong.SetSchedule(t.Context(), queue.Schedule{Name: "broken", Cron: "@every 1h",
						Job: ping.New(1, nil)}))
					require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
						_, err := tx.ExecContext(ctx,
							`UPDATE job_schedules SET zone = 'Nowhere/Nowhen' WHERE name = 'broken'`)
						return err
					}))
					var mu sync.Mutex
					var ran []time.Time
					runs := func() func() error {
						return start(t, wrong, calm, func(_ context.Context, w *queue.Work[int]) error {
							firing, _ := w.Job.Firing()
							mu.Lock()
							defer mu.Unlock()
							ran = append(ran, firing.At)
							return nil
						})
					}
					began := time.Now()
					stop := runs()
					time.Sleep(time.Minute)
					db.set(24 * time.Hour)
					time.Sleep(2 * time.Minute)
					synctest.Wait()
					mu.Lock()
					early := len(ran)
					mu.Unlock()
					if restarts {
						require.NoError(t, stop())
					}
					db.set(0)
					if restarts {
						stop = runs()
					}
					time.Sleep(4*time.Hour + 10*time.Minute)
					synctest.Wait()
					require.NoError(t, stop())
					var hours []time.Duration
					for _, at := range ran[early:] {
						hours = append(hours, at.Sub(began).Round(time.Hour))
					}
					require.Equal(t, []time.Duration{time.Hour, 2 * time.Hour, 3 * time.Hour, 4 * time.Hour}, hours)
					require.Equal(t, min(early, 1), book.count(saidFuture), "unless it skipped them")
					require.Equal(t, 1, book.count(saidRevived))
					require.Equal(t, 1, book.count(saidDiffers))
				})
			})
		}
	}
}

// What was fired too early is not fired again, and what comes after it is fired on time.
func TestSchedulesFireNothingAgainAfterAClockWasAhead(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		db := setting(q.DB().Driver())
		wrong := on(t, db, nil)
		require.NoError(t, wrong.SetSchedule(t.Context(), queue.Schedule{
			Name: "hourly", Cron: "0 * * * *", CatchUp: queue.CatchUpAll, Job: ping.New(1, nil),
		}))
		ran := make(map[time.Time]int)
		stop := start(t, wrong, &queue.DispatcherConfig{PollInterval: time.Hour, Lease: time.Hour, Workers: 1},
			func(_ context.Context, w *queue.Work[int]) error {
				firing, _ := w.Job.Firing()
				ran[firing.At.UTC()]++
				return nil
			})
		time.Sleep(time.Minute)
		db.set(24 * time.Hour)
		time.Sleep(2 * time.Minute)
		db.set(0)
		time.Sleep(30 * time.Hour)
		require.NoError(t, stop())
		require.Len(t, ran, 30, "each hour")
		for at, n := range ran {
			require.Equal(t, 1, n, at)
		}
	})
}

// Less than three hours are waited for: nothing fires twice because a clock was put back by one.
func TestSchedulesStandStillWhenAClockIsPutBackALittle(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		db := setting(q.DB().Driver())
		wrong := on(t, db, nil)
		require.NoError(t, wrong.SetSchedule(t.Context(), queue.Schedule{Name: "hourly", Cron: "@every 1h",
			Job: ping.New(1, nil)}))
		var ran atomic.Int64
		stop := start(t, wrong, calm, func(context.Context, *queue.Work[int]) error {
			ran.Add(1)
			return nil
		})
		time.Sleep(2*time.Hour + time.Minute)
		db.set(-2 * time.Hour)
		time.Sleep(3*time.Hour + time.Minute)
		require.NoError(t, stop())
		require.EqualValues(t, 3, ran.Load(), "the hours 1, 2 and 3, once each")
	})
}

// A clock that disagrees is told of once, and again when it disagrees anew.
func TestAClockThatDisagreesIsTold(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		book := &logBook{}
		db := setting(q.DB().Driver())
		wrong := on(t, db, &queue.Config{Logger: slog.New(slog.NewTextHandler(book, nil))})
		stop := start(t, wrong, nil, func(context.Context, *queue.Work[int]) error { return nil })
		for episode := range 2 {
			db.set(-time.Hour)
			time.Sleep(20 * time.Minute)
			require.Equal(t, episode+1, book.count(saidDiffers))
			db.set(30 * time.Second)
			time.Sleep(20 * time.Minute)
			require.Equal(t, episode+1, book.count(saidAgrees))
		}
		require.NoError(t, stop())
	})
}

func TestDoctorTellsOfRowsOfTheFuture(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		wrong := setting(db.Driver())
		q := on(t, wrong, nil)
		require.NotContains(t, doctor(t, q), "future")
		wrong.set(24 * time.Hour)
		require.NoError(t, q.SetSchedule(t.Context(), queue.Schedule{Name: "hourly", Cron: "@every 1h",
			Job: ping.New(1, nil)}))
		enqueue(t, q, nil)
		claimAs(t, q, "worker")
		said := doctor(t, q)
		require.Contains(t, said, "this machine's clock")
		require.NotContains(t, said, "future", "by that clock all is well")
		wrong.set(0)
		said = doctor(t, q)
		for _, row := range []string{"the newest job", "worker worker", "schedule hourly"} {
			require.Regexp(t, row+`.* in the future`, said)
		}
	})
}

// A clocked driver belongs to a machine whose clock shows what at makes of the right time: all that it writes and asks
// for is of then.
type clocked struct {
	driver.Driver
	driver.Auditor
	at func(now time.Time) time.Time
}

func (c *clocked) tx(tx *driver.WriteTx) *driver.WriteTx {
	return driver.NewWriteTx(tx.Tx, tx.Dialect(), c.at(tx.Now()))
}

func (c *clocked) Heartbeat(ctx context.Context, req driver.HeartbeatRequest) (bool, error) {
	req.Now = c.at(req.Now)
	return c.Driver.Heartbeat(ctx, req)
}

func (c *clocked) Claim(ctx context.Context, req driver.ClaimRequest) (driver.ClaimResult, error) {
	req.Now = c.at(req.Now)
	return c.Driver.Claim(ctx, req)
}

func (c *clocked) Write(ctx context.Context, fn func(ctx context.Context, tx driver.Tx) error) error {
	var wrong *driver.WriteTx
	err := driver.Write(ctx, c.Driver, func(ctx context.Context, tx *driver.WriteTx) error {
		wrong = c.tx(tx)
		tx.OnCommit(wrong.Committed)
		return fn(ctx, wrong)
	})
	if err != nil && wrong != nil {
		wrong.RolledBack()
	}
	return err
}

// A jumping driver belongs to a machine whose clock is wrong by so much.
type jumping struct {
	clocked
	off atomic.Int64
}

func newJumping(driver driver.Driver) *jumping {
	j := &jumping{}
	j.clocked = clocked{Driver: driver, Auditor: auditorOf(driver),
		at: func(now time.Time) time.Time { return now.Add(time.Duration(j.off.Load())) }}
	return j
}

func (j *jumping) jump(off time.Duration) { j.off.Store(int64(off)) }

// "A clock that jumps: leases and schedules survive it".
func TestTrapClockThatJumps(t *testing.T) {
	t.Run("a living worker keeps its jobs", livingUnderAJumpingClock)
	t.Run("a dead worker is rescued", deadUnderAJumpingClock)
	dbtest.Each(t, scheduleUnderAJumpingClock)
}

// jumps are those of a clock that is set by hand, by daylight saving, and by a dead battery.
var jumps = []time.Duration{6 * time.Hour, -6 * time.Hour, time.Hour, -time.Hour, 24 * 365 * time.Hour,
	-24 * 365 * time.Hour, 0}

func livingUnderAJumpingClock(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		wrong := newJumping(q.DB().Driver())
		id := enqueue(t, q, nil)
		release := make(chan struct{})
		var canceled error
		stop := start(t, on(t, wrong, nil), &queue.DispatcherConfig{Lease: lease},
			func(ctx context.Context, _ *queue.Work[int]) error {
				<-release
				canceled = ctx.Err()
				return nil
			})
		synctest.Wait()
		neighbour := newJumping(q.DB().Driver())
		others := start(t, on(t, neighbour, nil), &queue.DispatcherConfig{Lease: lease},
			func(context.Context, *queue.Work[int]) error {
				t.Error("the job was taken from a worker that lives")
				return nil
			})
		for _, jump := range jumps {
			wrong.jump(jump)
			time.Sleep(2 * lease)
			neighbour.jump(jump)
			time.Sleep(2 * lease)
		}
		close(release)
		require.NoError(t, stop())
		require.NoError(t, others())
		require.NoError(t, canceled)
		require.Equal(t, queue.StateCompleted, job(t, q, id).State)
		require.Equal(t, 1, job(t, q, id).Attempt)
	})
}

func deadUnderAJumpingClock(t *testing.T) {
	for _, jump := range jumps {
		t.Run(jump.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T, q *queue.Queue) {
				wrong := newJumping(q.DB().Driver())
				dead := on(t, wrong, nil)
				wrong.jump(jump)
				id := enqueue(t, dead, nil)
				require.Len(t, claimAs(t, dead, "dead"), 1)
				wrong.jump(0)
				rescuer := newJumping(q.DB().Driver())
				stop := start(t, on(t, rescuer, nil), &queue.DispatcherConfig{Lease: lease},
					func(context.Context, *queue.Work[int]) error { return nil })
				time.Sleep(lease / 2)
				rescuer.jump(jump)
				time.Sleep(3 * lease / 2)
				require.Equal(t, queue.StateCompleted, job(t, q, id).State, "within two leases")
				require.Equal(t, 1, job(t, q, id).Crashes)
				require.NoError(t, stop())
			})
		})
	}
}

func scheduleUnderAJumpingClock(t *testing.T, db queue.DB) {
	require.NoError(t, queue.Migrate(t.Context(), db))
	wrong := newJumping(db.Driver())
	q := on(t, wrong, nil)
	claimed := func(off time.Duration) (ids []string) {
		wrong.jump(off)
		for _, j := range claimAs(t, q, "w") {
			ids = append(ids, j.Job.ID)
		}
		return ids
	}
	wrong.jump(6 * time.Hour)
	due := enqueue(t, q, nil)
	require.Equal(t, []string{due}, claimed(-6*time.Hour), "what was due is due, wherever the clock goes")

	wrong.jump(0)
	scheduled := enqueue(t, q, &queue.Options{NotBefore: time.Now().Add(time.Hour)})
	for _, early := range []time.Duration{0, -6 * time.Hour, 59 * time.Minute, -24 * 365 * time.Hour} {
		require.Empty(t, claimed(early), "a schedule is a time on the clock: %v", early)
	}
	require.Equal(t, []string{scheduled}, claimed(time.Hour+time.Minute))

	retried := job(t, q, scheduled)
	wrong.jump(-6 * time.Hour)
	require.NoError(t, queue.AttemptOf(q, *retried).Fail(t.Context(), queue.RetryAfter(errBroken, time.Minute)))
	require.Empty(t, claimed(-6*time.Hour), "not before its wait is over")
	require.Equal(t, []string{scheduled}, claimed(0), "a clock that was behind delays nothing")
	violations, err := queueadmin.Verify(t.Context(), q)
	require.NoError(t, err)
	require.Empty(t, violations)
}
