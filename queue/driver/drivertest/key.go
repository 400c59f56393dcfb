package drivertest

import (
	"context"
	"strconv"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

// insertAt inserts the job by a clock that stands at now.
func (s *suite) insertAt(now time.Time, job driver.InsertJob) driver.InsertResult {
	s.Helper()
	var results []driver.InsertResult
	s.write(func(ctx context.Context, tx *driver.WriteTx) (err error) {
		results, err = s.d.Insert(ctx, driver.NewWriteTx(tx, tx.Dialect(), now), []driver.InsertJob{job})
		return err
	})
	require.Len(s, results, 1)
	return results[0]
}

var keyCases = []conformanceCase{
	{
		name:        "Key/period is taken for its time, whatever becomes of the job",
		explanation: "a key of scope period keeps others out until its time is over, also when its row is still there then",
		run: func(s *suite) {
			now := s.now().Add(-24 * time.Hour)
			for _, end := range ends {
				key := withKey(forPeriod(end.name, time.Hour))
				first, second, third := newJob(key), newJob(key), newJob(key, withPayload(`{"n":3}`))
				require.Equal(s, driver.InsertResult{ID: first.ID}, s.insertAt(now, first))
				end.end(s, s.claim(1)[0])
				require.Equal(s, driver.InsertResult{ID: first.ID, Duplicate: true},
					s.insertAt(now.Add(time.Hour-time.Millisecond), second), end.name)
				require.Equal(s, driver.InsertResult{ID: third.ID}, s.insertAt(now.Add(time.Hour), third),
					"another payload is another job then")
				require.True(s, s.insertAt(now.Add(time.Hour+time.Minute),
					newJob(key, withPayload(`{"n":3}`))).Duplicate, "the time begins anew")
				require.NoError(s, s.cancel(third.ID))
			}
		},
	},
	{
		name:        "Key/a period that is over belongs to one",
		explanation: "of several jobs that find the key expired, one takes it over",
		run: func(s *suite) {
			key := withKey(forPeriod("k", time.Minute))
			s.insertAt(s.now().Add(-time.Hour), newJob(key))
			const n = 8
			results := make(chan driver.InsertResult, n)
			for range n {
				go func() {
					var got []driver.InsertResult
					err := driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) (err error) {
						got, err = s.d.Insert(ctx, tx, []driver.InsertJob{newJob(key)})
						return err
					})
					if err != nil {
						got = []driver.InsertResult{{ID: err.Error()}}
					}
					results <- got[0]
				}()
			}
			fresh, holders := 0, map[string]bool{}
			for range n {
				r := <-results
				holders[r.ID] = true
				if !r.Duplicate {
					fresh++
				}
			}
			require.Equal(s, 1, fresh)
			require.Len(s, holders, 1, "all name the one that took it")
		},
	},
	{
		name:        "Key/coalesce lets one run and one wait",
		explanation: "the key is free once its job has begun; the next begins when that has ended, and stands for all others",
		run: func(s *suite) {
			for _, end := range ends {
				key := withKey(coalesce(end.name))
				first := s.started(key)
				second := newJob(key)
				require.Equal(s, driver.InsertResult{ID: second.ID}, s.insert(second)[0], "the first runs")
				require.Equal(s, driver.InsertResult{ID: second.ID, Duplicate: true}, s.insert(newJob(key))[0],
					"the second waits")
				require.Empty(s, s.claim(10), "not before the first has ended")
				end.end(s, first)
				require.Equal(s, []string{second.ID}, ids(s.claim(10)), end.name)
				third := newJob(key, withPayload(`{"n":3}`))
				require.Equal(s, driver.InsertResult{ID: third.ID}, s.insert(third)[0],
					"another payload, for nothing waits")
				require.NoError(s, s.cancel(second.ID))
				require.NoError(s, s.cancel(third.ID))
			}
			require.False(s, s.insert(newJob(withKey(coalesce("completed"))))[0].Duplicate,
				"canceled jobs hold nothing")
		},
	},
	{
		name:        "Key/coalesce meets in one batch",
		explanation: "the second job of a batch with the same key is a duplicate of the first",
		run: func(s *suite) {
			key := withKey(coalesce("k"))
			first, second := newJob(key), newJob(key)
			require.Equal(s, []driver.InsertResult{{ID: first.ID}, {ID: first.ID, Duplicate: true}},
				s.insert(first, second))
		},
	},
	{
		name:        "Key/the first of a batch has it",
		explanation: "of many jobs of a batch with the same key the first takes it, so that whose job it is does not hang on chance",
		run: func(s *suite) {
			var batch []driver.InsertJob
			var want []driver.InsertResult
			for i := range 40 {
				batch = append(batch, newJob(withKey(forever(strconv.Itoa(i%2)))))
				want = append(want, driver.InsertResult{ID: batch[i%2].ID, Duplicate: i > 1})
			}
			require.Equal(s, want, s.insert(batch...))
		},
	},
	{
		name:        "Key/coalesce keeps a job that is tried again while none waits",
		explanation: "a job that goes back to the queue waits under its key again",
		run: func(s *suite) {
			key := withKey(coalesce("k"))
			job := s.started(key)
			s.requeue(job)
			require.Equal(s, driver.StateQueued, s.state(job.ID))
			require.Equal(s, driver.InsertResult{ID: job.ID, Duplicate: true}, s.insert(newJob(key))[0])
			require.Equal(s, []string{job.ID}, ids(s.claim(10)))
		},
	},
	{
		name:        "Key/coalesce is taken back by a job that is tried again",
		explanation: "a job that waits again waits under its key, also when another has had it meanwhile: at most one waits",
		run: func(s *suite) {
			key := withKey(coalesce("k"))
			job := s.started(key)
			next := newJob(key, withPayload(`{"n":3}`))
			s.insert(next)
			require.NoError(s, s.cancel(next.ID))
			s.requeue(job)
			require.Equal(s, driver.StateQueued, s.state(job.ID))
			require.Equal(s, driver.InsertResult{ID: job.ID, Duplicate: true}, s.insert(newJob(key))[0])
			require.Equal(s, []string{job.ID}, ids(s.claim(10)))
		},
	},
	{
		name:        "Key/coalesce supersedes a job that would wait beside another",
		explanation: "of two that would wait the one that already does stays, and the other ends canceled and says why",
		run: func(s *suite) {
			key := withKey(coalesce("k"))
			job := s.started(key)
			next := newJob(key)
			s.insert(next)
			s.requeue(job)
			got := s.job(job.ID)
			require.Equal(s, driver.StateCanceled, got.State)
			require.Equal(s, "superseded by "+next.ID, got.LastError)
			require.NotZero(s, got.FinishedAt)
			attempts, err := s.d.Attempts(s.Context(), job.ID)
			require.NoError(s, err)
			require.Len(s, attempts, 1, "how the attempt ended is kept")
			require.Equal(s, []string{next.ID}, ids(s.claim(10)))
		},
	},
	{
		name:        "Key/coalesce is taken again by a retry",
		explanation: "a job that is retried by hand waits under its key, and is refused while another does",
		run: func(s *suite) {
			key := withKey(coalesce("k"))
			id := s.inState(driver.StateFailed, key)
			require.NoError(s, s.retry(id))
			require.Equal(s, driver.InsertResult{ID: id, Duplicate: true}, s.insert(newJob(key))[0])
			require.NoError(s, s.cancel(id))
			next := s.started(key)
			require.NoError(s, s.retry(id), "the other runs: this one waits for it")
			require.Empty(s, s.claim(10))
			require.NoError(s, s.finish(completed(next.Lease())))
			require.Equal(s, []string{id}, ids(s.claim(10)))
			require.NoError(s, s.cancel(id))
			s.insert(newJob(key))
			require.ErrorIs(s, s.retry(id), driver.ErrKeyConflict)
		},
	},
	{
		name:        "Key/coalesce is freed by expiry",
		explanation: "a job that expires while it waits holds nothing",
		run: func(s *suite) {
			key := withKey(coalesce("k"))
			job := newJob(key, func(j *driver.InsertJob) { j.ExpiresAt = s.now().Add(time.Minute) })
			s.insert(job)
			require.Empty(s, s.claimAt(s.now().Add(time.Hour), "w", 1).Jobs)
			require.Equal(s, driver.StateCanceled, s.state(job.ID))
			require.False(s, s.insert(newJob(key))[0].Duplicate)
		},
	},
}
