package queue_test

import (
	"context"
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

// A clocked driver belongs to a machine whose clock shows what at makes of the right time: all that it writes and asks for
// is of then.
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
	j.clocked = clocked{Driver: driver, Auditor: auditorOf(driver), at: func(now time.Time) time.Time { return now.Add(time.Duration(j.off.Load())) }}
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
var jumps = []time.Duration{6 * time.Hour, -6 * time.Hour, time.Hour, -time.Hour, 24 * 365 * time.Hour, -24 * 365 * time.Hour, 0}

func livingUnderAJumpingClock(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		wrong := newJumping(q.DB().Driver())
		id := enqueue(t, q, nil)
		release := make(chan struct{})
		var canceled error
		stop := start(t, on(t, wrong, nil), &queue.DispatcherConfig{Lease: lease}, func(ctx context.Context, _ *queue.Work[int]) error {
			<-release
			canceled = ctx.Err()
			return nil
		})
		synctest.Wait()
		neighbour := newJumping(q.DB().Driver())
		others := start(t, on(t, neighbour, nil), &queue.DispatcherConfig{Lease: lease}, func(context.Context, *queue.Work[int]) error {
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
				stop := start(t, on(t, rescuer, nil), &queue.DispatcherConfig{Lease: lease}, func(context.Context, *queue.Work[int]) error { return nil })
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
