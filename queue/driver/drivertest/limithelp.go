package drivertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

// waysToEnd makes capacity for another, each in its way.
func (s *suite) waysToEnd() map[string]func(job driver.Job) {
	queued := func(kind string) func(driver.Job) {
		return func(job driver.Job) {
			require.NoError(s, s.finish(driver.Outcome{Lease: job.Lease(), State: driver.StateQueued, Kind: kind,
				Error: "again", At: s.now()}))
		}
	}
	return map[string]func(job driver.Job){
		"completed":   func(job driver.Job) { require.NoError(s, s.finish(completed(job.Lease()))) },
		"failed":      func(job driver.Job) { require.NoError(s, s.finish(failed(job.Lease()))) },
		"canceled":    func(job driver.Job) { require.NoError(s, s.cancel(job.ID)) },
		"retried":     queued(driver.KindFailed),
		"interrupted": queued(driver.KindInterrupted),
		"released":    queued(driver.KindReleased),
		"crashed": func(job driver.Job) {
			seen := *s.worker()
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				held, err := s.d.RemoveDeadWorker(ctx, tx, seen)
				require.NoError(s, err)
				require.Equal(s, []string{job.ID}, ids(held))
				_, err = s.d.Finish(ctx, tx,
					[]driver.Outcome{{Lease: job.Lease(), State: driver.StateQueued, Kind: driver.KindCrashed,
						Error: "died", At: tx.Now()}})
				return err
			})
		},
	}
}

func (s *suite) endAll(jobs []driver.Job) {
	s.Helper()
	for i := range jobs {
		require.NoError(s, s.finish(completed(jobs[i].Lease())))
	}
}

// finishAll is endAll in one transaction.
func (s *suite) finishAll(jobs []driver.Job) {
	s.Helper()
	outcomes := make([]driver.Outcome, len(jobs))
	for i := range jobs {
		outcomes[i] = completed(jobs[i].Lease())
	}
	s.write(func(ctx context.Context, tx *driver.WriteTx) error {
		answers, err := s.d.Finish(ctx, tx, outcomes)
		return errors.Join(append(answers, err)...)
	})
}

func (s *suite) limits() []driver.LimitStatus {
	s.Helper()
	limits, err := s.d.Limits(s.Context())
	require.NoError(s, err)
	return limits
}

func byKey(jobs []driver.Job) map[string]int {
	counts := make(map[string]int)
	for i := range jobs {
		counts[jobs[i].LimitKey]++
	}
	return counts
}

// race lets workers claim and end limited jobs concurrently until all have run.
func (s *suite) race() {
	const keys, each, most, workers = 4, 60, 2, 4
	s.setLimit(ofPrefix("k"), driver.Limit{MaxRunning: most})
	for i := range keys {
		s.insertMany(each, withLimitKey(fmt.Sprint("k", i)))
	}
	var mu sync.Mutex
	running, ran := make(map[string]int), 0
	count := func(key string, n int) int {
		mu.Lock()
		defer mu.Unlock()
		running[key] += n
		if n > 0 {
			ran += n
		}
		return running[key]
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for range 10_000 {
				mu.Lock()
				done := ran == keys*each
				mu.Unlock()
				if done || !s.claimAndEnd(fmt.Sprint("worker-", w), most, count) {
					return
				}
			}
		})
	}
	wg.Wait()
	require.Equal(s, keys*each, ran, "every job ran")
}

// claimAndEnd claims some jobs and ends them. It runs concurrently with others, so it must not end the test by itself.
func (s *suite) claimAndEnd(worker string, most int, count func(key string, n int) int) bool {
	result, err := s.tryClaim(driver.ClaimRequest{WorkerID: worker, Types: capacities([]string{"t"}, 3), Limit: 3,
		Now: s.now()})
	if err != nil {
		s.Errorf("Claim: %v", err)
		return false
	}
	outcomes := make([]driver.Outcome, len(result.Jobs))
	for i, job := range result.Jobs {
		if n := count(job.LimitKey, 1); n > most {
			s.Errorf("%d jobs of %s run at once", n, job.LimitKey)
		}
		outcomes[i] = completed(job.Lease())
	}
	// Counted out before the commit: what runs by the count is never more than by the database.
	for i := range result.Jobs {
		count(result.Jobs[i].LimitKey, -1)
	}
	if err := driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := s.d.Finish(ctx, tx, outcomes)
		return err
	}); err != nil {
		s.Errorf("Finish: %v", err)
		return false
	}
	return true
}

// endAndClaim ends jobs, whose limit keys the outcomes name where they are known, and claims in the same transaction.
func (s *suite) endAndClaim(d driver.FinishClaimer, known bool) {
	s.Helper()
	s.setLimit(keyK, driver.Limit{MaxRunning: 1})
	holder := s.started(withLimitKey("k"))
	low, high, other := newJob(withLimitKey("k")), newJob(withLimitKey("k"), withPriority(5)), newJob(withPriority(1))
	s.insert(low, high, other)
	undone := errors.New("undone")
	end := func(job *driver.Job, answer, end error) (jobs []driver.Job) {
		out := completed(job.Lease())
		if known {
			out.LimitKey = job.LimitKey
		}
		var claimed func() driver.ClaimResult
		err := again(func() error {
			return driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
				answers, result, err := d.FinishAndClaim(ctx, tx, []driver.Outcome{out}, driver.ClaimRequest{
					WorkerID: "w", Types: capacities([]string{"t"}, 2), Limit: 2, Now: s.now(),
				})
				if err != nil {
					return err
				}
				require.Equal(s, []error{answer}, answers)
				claimed = result
				return end
			})
		})
		require.ErrorIs(s, err, end)
		if end != nil {
			return nil
		}
		return claimed().Jobs
	}
	end(&holder, nil, undone)
	require.Equal(s, driver.StateRunning, s.state(holder.ID))
	require.Equal(s, driver.StateQueued, s.state(high.ID))
	got := end(&holder, nil, nil)
	require.Equal(s, high.ID, got[0].ID)
	require.Equal(s, driver.StateCompleted, s.state(holder.ID))
	rest := slices.Concat(got[1:], s.claim(5))
	require.Equal(s, []string{other.ID}, ids(rest),
		"what else may run is claimed with it or next, and the key is full again")
	require.Empty(s, end(&rest[0], nil, nil), "the end of another job frees nothing of the key")
	require.Empty(s, end(&holder, driver.ErrNotRunning, nil), "what has not ended frees nothing")
	require.Equal(s, []string{low.ID}, ids(end(&got[0], nil, nil)))
	s.endAll([]driver.Job{*s.job(low.ID)})
}
