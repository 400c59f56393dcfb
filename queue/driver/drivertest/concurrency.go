package drivertest

import (
	"context"
	"fmt"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

var concurrencyCases = []conformanceCase{
	{
		name:        "Concurrency/no job is claimed twice",
		explanation: "claims that race must share the jobs out: each to exactly one, none to nobody",
		run: func(s *suite) {
			const total, claimers = 2000, 8
			jobs := make([]driver.InsertJob, total)
			for i := range jobs {
				jobs[i] = newJob(withPriority(i % 3))
			}
			s.insert(jobs...)

			claimed := make([][]driver.Job, claimers)
			var wg sync.WaitGroup
			for i := range claimers {
				wg.Go(func() { claimed[i] = s.drain(fmt.Sprint("worker-", i), 1+i*3) })
			}
			wg.Wait()
			seen := make(map[string]bool)
			for i := range claimed {
				for _, j := range claimed[i] {
					require.False(s, seen[j.ID], "claimed twice")
					seen[j.ID] = true
					require.Equal(s, 1, j.Attempt)
				}
			}
			require.Len(s, seen, total)
		},
	},
	{
		name:        "Concurrency/one of many that enqueue the same key wins",
		explanation: "the key decides, not who looked first",
		run: func(s *suite) {
			const racers = 16
			results := make([]driver.InsertResult, racers)
			var wg sync.WaitGroup
			for i := range racers {
				job := newJob(withKey(whileUnfinished("k")))
				wg.Go(func() {
					err := driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
						r, err := s.d.Insert(ctx, tx, []driver.InsertJob{job})
						if err == nil {
							results[i] = r[0]
						}
						return err
					})
					if err != nil {
						s.Errorf("Insert: %v", err)
					}
				})
			}
			wg.Wait()
			winners := 0
			for _, r := range results {
				require.Equal(s, results[0].ID, r.ID, "all name the same holder")
				if !r.Duplicate {
					winners++
				}
			}
			require.Equal(s, 1, winners)
		},
	},
	{
		name:        "Concurrency/one of many that finish the same lease wins",
		explanation: "a second end of the same attempt finds the job not running",
		run: func(s *suite) {
			job := s.started()
			const racers = 8
			answers := make([]error, racers)
			var wg sync.WaitGroup
			for i := range racers {
				wg.Go(func() { answers[i] = s.finish(completed(job.Lease())) })
			}
			wg.Wait()
			won := 0
			for _, answer := range answers {
				if answer == nil {
					won++
					continue
				}
				require.ErrorIs(s, answer, driver.ErrNotRunning)
			}
			require.Equal(s, 1, won)
		},
	},
	{
		name:        "Concurrency/a failing writer loses its own writes and nobody else's",
		explanation: "writers may share a commit, never each other's errors",
		run: func(s *suite) {
			s.notes()
			const writers = 60
			errs := make([]error, writers)
			var want []string
			var wg sync.WaitGroup
			for i := range writers {
				name := fmt.Sprintf("note-%02d", i)
				if i%3 != 0 {
					want = append(want, name)
				}
				wg.Go(func() {
					errs[i] = driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
						if err := note(ctx, tx, name); err != nil || i%3 != 0 {
							return err
						}
						return errUser
					})
				})
			}
			wg.Wait()
			for i, err := range errs {
				if i%3 == 0 {
					require.ErrorIs(s, err, errUser)
				} else {
					require.NoError(s, err)
				}
			}
			require.Equal(s, want, s.noted())
		},
	},
}

// drain claims until nothing is left. It runs concurrently with others, so it must not end the test by itself.
func (s *suite) drain(worker string, limit int) []driver.Job {
	var all []driver.Job
	for {
		result, err := s.tryClaim(driver.ClaimRequest{WorkerID: worker, Types: capacities([]string{"t"}, 1000),
			Limit: limit, Now: s.now()})
		if err != nil {
			s.Errorf("Claim: %v", err)
			return all
		}
		if len(result.Jobs) == 0 {
			return all
		}
		all = append(all, result.Jobs...)
	}
}
