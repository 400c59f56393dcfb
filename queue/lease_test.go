package queue_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

const lease = 30 * time.Second

// claimAs takes all pings for a worker that is never heard of again.
func claimAs(t *testing.T, q *queue.Queue, worker string) []*queue.Attempt {
	t.Helper()
	jobs, err := q.Claim(t.Context(), worker, []string{string(ping)}, 100)
	require.NoError(t, err)
	return jobs
}

func TestJobsOfADeadWorkerAreRescuedWithinTwoLeases(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		require.Len(t, claimAs(t, q, "dead"), 1)
		ran := make(chan *queue.Work[int], 1)
		began := time.Now()
		stop := start(t, q, &queue.DispatcherConfig{Lease: lease}, func(_ context.Context, w *queue.Work[int]) error {
			ran <- w
			return nil
		})
		w := <-ran
		require.WithinRange(t, time.Now(), began.Add(lease), began.Add(2*lease))
		require.NoError(t, stop())
		require.Equal(t, 2, w.Job.Attempt)
		require.Equal(t, []int{0, 0, 1}, []int{w.Job.Failures, w.Job.Interruptions, w.Job.Crashes})
		require.Equal(t, queue.StateCompleted, job(t, q, id).State)
		records := attempts(t, q, id)
		require.Equal(t, queue.KindCrashed, records[0].Kind)
		require.Equal(t, "worker dead died", records[0].Error)
	})
}

func TestJobsOfALivingWorkerAreLeftAlone(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		release := make(chan struct{})
		var ran atomic.Int64
		slow := func(context.Context, *queue.Work[int]) error {
			ran.Add(1)
			<-release
			return nil
		}
		first := start(t, q, &queue.DispatcherConfig{Lease: lease}, slow)
		synctest.Wait()
		second := start(t, on(t, q.DB().Driver(), nil), &queue.DispatcherConfig{Lease: lease}, slow)
		time.Sleep(20 * lease)
		close(release)
		require.NoError(t, first())
		require.NoError(t, second())
		require.EqualValues(t, 1, ran.Load())
		require.Equal(t, 1, job(t, q, id).Attempt)
	})
}

func TestExclusiveDispatcherTakesOverAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		enqueue(t, q, nil)
		enqueue(t, q, nil)
		require.Len(t, claimAs(t, q, "dead"), 2)
		ran := make(chan struct{}, 2)
		began := time.Now()
		stop := start(t, q, &queue.DispatcherConfig{Exclusive: true}, func(context.Context, *queue.Work[int]) error {
			ran <- struct{}{}
			return nil
		})
		<-ran
		<-ran
		require.Zero(t, time.Since(began))
		require.NoError(t, stop())
	})
}

// A worker is declared dead while it runs a job, and claims that same job again before it learns of it: two attempts of
// one job are in one process.
func TestProcessClaimsItsOwnLostJob(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		paused := &faulty{Driver: q.DB().Driver()}
		causes := make(chan error, 2)
		release := make(chan struct{})
		stop := start(t, on(t, paused, nil), &queue.DispatcherConfig{Lease: lease},
			func(ctx context.Context, w *queue.Work[int]) error {
				if w.Job.Attempt == 1 {
					causes <- untilCanceled(ctx)
					return context.Cause(ctx)
				}
				<-release
				causes <- ctx.Err()
				return nil
			})
		synctest.Wait()
		workers, err := q.DB().Driver().Workers(t.Context())
		require.NoError(t, err)
		require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			jobs, err := q.DB().Driver().RemoveDeadWorker(ctx, tx.(*driver.WriteTx), workers[0])
			require.NoError(t, err)
			_, err = q.DB().Driver().Finish(ctx, tx.(*driver.WriteTx),
				[]driver.Outcome{{Lease: jobs[0].Lease(), State: queue.StateQueued, Kind: queue.KindCrashed,
					NotBefore: queue.Now(tx), At: queue.Now(tx)}})
			return err
		}))
		require.ErrorIs(t, <-causes, queue.ErrLeaseLost)
		require.Equal(t, 2, job(t, q, id).Attempt)
		close(release)
		require.NoError(t, <-causes, "the attempt that holds the job is not disturbed")
		require.NoError(t, stop())
		require.Equal(t, queue.StateCompleted, job(t, q, id).State)
	})
}

// A worker is declared dead, and registers again by claiming another job before its next beat. The job it has lost
// waits for its next attempt: nobody has canceled it.
func TestALostJobThatWaitsIsNotTakenForCanceled(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		causes := make(chan error, 1)
		stop := start(t, q, &queue.DispatcherConfig{Lease: lease}, func(ctx context.Context, w *queue.Work[int]) error {
			if w.Job.ID != id {
				return nil
			}
			causes <- untilCanceled(ctx)
			return context.Cause(ctx)
		})
		synctest.Wait()
		workers, err := q.DB().Driver().Workers(t.Context())
		require.NoError(t, err)
		require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			jobs, err := q.DB().Driver().RemoveDeadWorker(ctx, tx.(*driver.WriteTx), workers[0])
			require.NoError(t, err)
			_, err = q.DB().Driver().Finish(ctx, tx.(*driver.WriteTx), []driver.Outcome{{
				Lease: jobs[0].Lease(), State: queue.StateQueued, Kind: queue.KindCrashed,
				NotBefore: queue.Now(tx).Add(time.Hour), At: queue.Now(tx),
			}})
			return err
		}))
		_, err = q.Wait(t.Context(), enqueue(t, q, nil))
		require.NoError(t, err)
		require.ErrorIs(t, <-causes, queue.ErrLeaseLost)
		require.NoError(t, stop())
		require.Equal(t, queue.StateQueued, job(t, q, id).State)
	})
}

// heldClaim stops a claim before it reaches the database.
type heldClaim struct {
	driver.Driver
	hold, entered chan struct{}
}

func (h *heldClaim) Claim(ctx context.Context, req driver.ClaimRequest) (driver.ClaimResult, error) {
	select {
	case h.entered <- struct{}{}:
		<-h.hold
	default:
	}
	return h.Driver.Claim(ctx, req)
}

// The process learns that it was declared dead while a claim under its old name is on the way: nobody keeps alive what
// that claim gets.
func TestClaimUnderANameThatIsDeadIsGivenBack(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		held := &heldClaim{Driver: q.DB().Driver(), hold: make(chan struct{}), entered: make(chan struct{})}
		stop := start(t, on(t, held, nil), &queue.DispatcherConfig{Lease: lease},
			func(ctx context.Context, w *queue.Work[int]) error {
				if w.Job.Attempt > 1 {
					return nil
				}
				return untilCanceled(ctx)
			})
		<-held.entered
		workers, err := q.DB().Driver().Workers(t.Context())
		require.NoError(t, err)
		require.NoError(t, q.DB().Driver().RemoveWorker(t.Context(), workers[0].ID))
		time.Sleep(lease) // its beat is refused, and it takes a new name
		id := enqueue(t, q, nil)
		began := time.Now()
		close(held.hold)
		time.Sleep(time.Second)
		require.Equal(t, queue.StateCompleted, job(t, q, id).State, "after %v", time.Since(began))
		require.NoError(t, stop())
		require.Equal(t, queue.ErrLeaseLost.Error(), attempts(t, q, id)[0].Error)
		require.Equal(t, 1, job(t, q, id).Interruptions)
	})
}

// While nothing can be written, heartbeats and the ends of jobs included, nothing is forgotten.
func TestDispatcherOutlivesADatabaseThatIsAway(t *testing.T) {
	for name, away := range map[string]time.Duration{"briefly": lease / 2, "for long": 20 * lease} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, q *queue.Queue) {
				flaky := &faulty{Driver: q.DB().Driver()}
				ids := []string{enqueue(t, q, nil), enqueue(t, q, nil), enqueue(t, q, nil)}
				release := make(chan struct{})
				stop := start(t, on(t, flaky, nil), &queue.DispatcherConfig{Lease: lease, Workers: 2},
					func(_ context.Context, w *queue.Work[int]) error {
						<-release
						if w.Job.ID == ids[1] && w.Job.Attempt == 1 {
							return errBroken
						}
						return nil
					})
				synctest.Wait()
				flaky.writes.Store(true)
				close(release)
				time.Sleep(away)
				require.Equal(t, queue.StateRunning, job(t, q, ids[0]).State)
				flaky.writes.Store(false)
				time.Sleep(2 * lease)
				for _, id := range ids {
					require.Equal(t, queue.StateCompleted, job(t, q, id).State)
				}
				require.Equal(t, 1, job(t, q, ids[0]).Attempt)
				require.NoError(t, stop())
			})
		})
	}
}

func TestHandlersAreToldWhenTheLeaseCannotBeKept(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		flaky := &faulty{Driver: q.DB().Driver()}
		id := enqueue(t, q, nil)
		causes := make(chan error, 1)
		stop := start(t, on(t, flaky, nil), &queue.DispatcherConfig{Lease: lease},
			func(ctx context.Context, w *queue.Work[int]) error {
				if w.Job.Attempt > 1 {
					return nil
				}
				causes <- untilCanceled(ctx)
				return ctx.Err()
			})
		synctest.Wait()
		began := time.Now()
		flaky.writes.Store(true)
		require.ErrorIs(t, <-causes, queue.ErrLeaseLost)
		require.WithinRange(t, time.Now(), began.Add(lease), began.Add(2*lease))
		flaky.writes.Store(false)
		time.Sleep(2 * lease)
		require.NoError(t, stop())
		got := job(t, q, id)
		require.Equal(t, queue.StateCompleted, got.State)
		require.Equal(t, []int{0, 1, 0}, []int{got.Failures, got.Interruptions, got.Crashes},
			"that is nobody's failure")
	})
}

func TestShutdownWithADatabaseThatIsAwayReturns(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		flaky := &faulty{Driver: q.DB().Driver()}
		id := enqueue(t, q, nil)
		release := make(chan struct{})
		stop := start(t, on(t, flaky, nil), &queue.DispatcherConfig{Lease: lease},
			func(context.Context, *queue.Work[int]) error {
				<-release
				return nil
			})
		synctest.Wait()
		flaky.writes.Store(true)
		close(release)
		began := time.Now()
		require.ErrorContains(t, stop(), "could not be written")
		require.LessOrEqual(t, time.Since(began), lease+time.Second)
		flaky.writes.Store(false)
		work(t, q, func(context.Context, *queue.Work[int]) error { return nil })
		require.Equal(t, queue.StateCompleted, job(t, q, id).State, "its job was found without its worker")
	})
}

// A machine that sleeps stops all of its processes; the first to wake up must not declare the others dead.
func TestRescuerThatStoodStillJudgesNobodyByThatTime(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		stuck := &stuckWorkers{Driver: q.DB().Driver(), release: make(chan struct{})}
		id := enqueue(t, q, nil)
		require.Len(t, claimAs(t, q, "neighbour"), 1)
		stop := start(t, on(t, stuck, nil), &queue.DispatcherConfig{Lease: lease},
			func(context.Context, *queue.Work[int]) error { return nil })
		time.Sleep(lease / 2)
		stuck.on.Store(true)
		time.Sleep(10 * lease)
		stuck.on.Store(false)
		close(stuck.release)
		synctest.Wait()
		require.NoError(t, q.Heartbeat(t.Context(), "neighbour", queue.AttemptOf(q, queue.Job{ID: id, Attempt: 1})))
		require.Equal(t, 1, job(t, q, id).Attempt)
		require.NoError(t, stop())
	})
}

// stuckWorkers stops the rescuer in its look at the workers.
type stuckWorkers struct {
	driver.Driver
	on      atomic.Bool
	release chan struct{}
}

func (s *stuckWorkers) Workers(ctx context.Context) ([]driver.Worker, error) {
	workers, err := s.Driver.Workers(ctx)
	if s.on.Load() {
		<-s.release
	}
	return workers, err
}

// A claim commits and its answer is lost with the connection: the worker lives, so nobody will rescue its jobs.
func TestJobsClaimedUnseenAreGivenBack(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		lossy := &faulty{Driver: q.DB().Driver()}
		lossy.unseen.Store(true)
		stop := start(t, on(t, lossy, nil), &queue.DispatcherConfig{Lease: lease},
			func(context.Context, *queue.Work[int]) error { return nil })
		time.Sleep(2 * lease)
		got := job(t, q, id)
		require.Equal(t, queue.StateCompleted, got.State)
		require.Equal(t, 2, got.Attempt)
		require.Equal(t, 1, got.Interruptions)
		require.Zero(t, got.Failures)
		require.NoError(t, stop())
	})
}

// A job that runs longer than many heartbeats is nobody's stray.
func TestLongJobsAreLeftAlone(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		id := enqueue(t, q, nil)
		work(t, q, func(context.Context, *queue.Work[int]) error {
			time.Sleep(time.Hour)
			return nil
		})
		require.Equal(t, 1, job(t, q, id).Attempt)
		require.Equal(t, queue.StateCompleted, job(t, q, id).State)
	})
}

// A database that answers nothing at all is no better than one that refuses.
func TestHandlersAreToldWhenAHeartbeatHangs(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		enqueue(t, q, nil)
		hanging := &faulty{Driver: q.DB().Driver()}
		entered, told := make(chan struct{}), make(chan error, 1)
		stop := start(t, on(t, hanging, nil), &queue.DispatcherConfig{Lease: lease},
			func(ctx context.Context, _ *queue.Work[int]) error {
				close(entered)
				<-ctx.Done()
				told <- context.Cause(ctx)
				return nil
			})
		<-entered
		hanging.hangs.Store(true)
		began := time.Now()
		require.ErrorIs(t, <-told, queue.ErrLeaseLost)
		require.LessOrEqual(t, time.Since(began), lease)
		require.NoError(t, stop())
	})
}

// One end that the database does not take holds up no other.
func TestAnEndThatCannotBeWrittenHoldsUpNoOther(t *testing.T) {
	bubble(t, func(t *testing.T, q *queue.Queue) {
		var ids []string
		for range 5 {
			ids = append(ids, enqueue(t, q, nil))
		}
		picky := &faulty{Driver: q.DB().Driver(), poison: `"poison"`}
		begun := make(chan struct{}, len(ids))
		release := make(chan struct{})
		stop := start(t, on(t, picky, nil), &queue.DispatcherConfig{Lease: lease},
			func(_ context.Context, w *queue.Work[int]) error {
				begun <- struct{}{}
				<-release
				if w.Job.ID == ids[0] {
					w.SetResult("poison")
				}
				return nil
			})
		for range ids {
			<-begun
		}
		close(release)
		time.Sleep(lease)
		for _, id := range ids[1:] {
			require.Equal(t, queue.StateCompleted, job(t, q, id).State)
		}
		next := enqueue(t, q, nil)
		time.Sleep(lease)
		require.Equal(t, queue.StateCompleted, job(t, q, next).State)
		require.Equal(t, queue.StateRunning, job(t, q, ids[0]).State)
		require.ErrorContains(t, stop(), "could not be written")
	})
}
