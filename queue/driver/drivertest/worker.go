package drivertest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

func (s *suite) beat(worker string, first bool) bool {
	s.Helper()
	alive, err := s.d.Heartbeat(s.Context(), driver.HeartbeatRequest{WorkerID: worker, First: first, Now: s.now()})
	require.NoError(s, err)
	return alive
}

// worker returns the registered worker "w", or nil.
func (s *suite) worker() *driver.Worker {
	s.Helper()
	workers, err := s.d.Workers(s.Context())
	require.NoError(s, err)
	for _, w := range workers {
		if w.ID == "w" {
			return &w
		}
	}
	return nil
}

func (s *suite) removeDead(seen driver.Worker) []driver.Job {
	s.Helper()
	var jobs []driver.Job
	s.write(func(ctx context.Context, tx *driver.WriteTx) (err error) {
		jobs, err = s.d.RemoveDeadWorker(ctx, tx, seen)
		return err
	})
	return jobs
}

var workerCases = []conformanceCase{
	{
		name:        "Beat/registers, counts and is seen",
		explanation: "others judge by the beat's changing, so each beat must change it",
		run: func(s *suite) {
			require.Nil(s, s.worker())
			require.True(s, s.beat("w", true))
			first := s.worker()
			require.NotNil(s, first)
			require.WithinDuration(s, s.now(), first.BeatAt, time.Minute)
			require.True(s, s.beat("w", false))
			require.Greater(s, s.worker().Beat, first.Beat)
		},
	},
	{
		name:        "Beat/is refused for a worker that nobody knows",
		explanation: "a worker that was removed as dead must learn of it, and must not come back by beating",
		run: func(s *suite) {
			require.False(s, s.beat("w", false))
			require.Nil(s, s.worker())
		},
	},
	{
		name:        "Heartbeat/keeps the version of the program",
		explanation: "a beat that names none leaves the one that is stored",
		run: func(s *suite) {
			for _, version := range []string{"", "v1.2.3", ""} {
				_, err := s.d.Heartbeat(s.Context(), driver.HeartbeatRequest{WorkerID: "w", First: true, Version: version,
					Now: s.now()})
				require.NoError(s, err)
				if version != "" {
					require.Equal(s, version, s.worker().Version)
				}
			}
			require.Equal(s, "v1.2.3", s.worker().Version)
		},
	},
	{
		name:        "Held/is what runs under the worker's name",
		explanation: "a worker finds there what it does not know of, because the answer of a claim was lost",
		run: func(s *suite) {
			mine, other := s.started(), newJob()
			s.insert(other)
			require.Len(s, s.claimAt(s.now(), "other", 1).Jobs, 1)
			held, err := s.d.WorkerJobs(s.Context(), "w")
			require.NoError(s, err)
			require.Equal(s, []string{mine.ID}, ids(held))
			require.Equal(s, mine.Lease(), held[0].Lease())
			require.NoError(s, s.finish(completed(mine.Lease())))
			held, err = s.d.WorkerJobs(s.Context(), "w")
			require.NoError(s, err)
			require.Empty(s, held)
		},
	},
	{
		name:        "MarkBegun/marks what runs, once, and nothing else",
		explanation: "when a process dies, only the jobs that had begun are charged with its death",
		run: func(s *suite) {
			begun, waits, ended := s.started(), s.started(), s.started()
			require.NoError(s, s.finish(completed(ended.Lease())))
			require.False(s, begun.Begun())
			mark := func(now time.Time) {
				require.NoError(s, s.d.MarkBegun(s.Context(), []driver.Lease{
					begun.Lease(), ended.Lease(), {JobID: waits.ID, Attempt: 7}, {JobID: "none", Attempt: 1},
				}, now))
			}
			at := begun.StartedAt.Add(time.Microsecond)
			before := s.job(ended.ID)
			mark(at)
			mark(at.Add(time.Second))
			got := s.job(begun.ID)
			require.True(s, got.Begun())
			require.True(s, got.UpdatedAt.Equal(at))
			require.False(s, s.job(waits.ID).Begun())
			require.Equal(s, before, s.job(ended.ID))
			require.NoError(s, s.finish(completed(begun.Lease())))
		},
	},
	{
		name:        "RemoveDeadWorker/takes the jobs of a worker whose beat stood still",
		explanation: "its running jobs are returned, still running, so that their outcome can be written in the same transaction",
		run: func(s *suite) {
			mine, other := s.started(), newJob()
			s.insert(other)
			require.Len(s, s.claimAt(s.now(), "other", 1).Jobs, 1)
			done := s.started()
			require.NoError(s, s.finish(completed(done.Lease())))

			held := s.removeDead(*s.worker())
			require.Equal(s, []string{mine.ID}, ids(held))
			require.Equal(s, driver.StateRunning, held[0].State)
			require.Equal(s, mine.Attempt, held[0].Attempt)
			require.False(s, s.beat("w", false), "once removed, a beat is refused")
			require.True(s, s.beat("other", false))
		},
	},
	{
		name:        "RemoveDeadWorker/spares a worker that has beaten since",
		explanation: "a sign of life between looking and burying saves the worker, or two would hold its jobs",
		run: func(s *suite) {
			s.started()
			seen := *s.worker()
			require.True(s, s.beat("w", false))
			require.Empty(s, s.removeDead(seen))
			require.True(s, s.beat("w", false))
		},
	},
	{
		name:        "RemoveDeadWorker/happens once",
		explanation: "of two rescuers that saw the same, the second finds nothing to do",
		run: func(s *suite) {
			s.started()
			seen := *s.worker()
			require.Len(s, s.removeDead(seen), 1)
			require.Empty(s, s.removeDead(seen))
		},
	},
	{
		name:        "Workers/finds holders that are not registered",
		explanation: "a worker that stopped, or died after it was removed, may have left a running job: its beat is −1",
		run: func(s *suite) {
			job := s.started()
			require.NoError(s, s.d.RemoveWorker(s.Context(), "w"))
			seen := s.worker()
			require.NotNil(s, seen)
			require.EqualValues(s, -1, seen.Beat)
			require.Equal(s, []string{job.ID}, ids(s.removeDead(*seen)))

			require.True(s, s.beat("w", true))
			require.Empty(s, s.removeDead(*seen), "it has registered since")
		},
	},
	{
		name:        "Workers/come by id",
		explanation: "whoever sees to all workers does so in the same order everywhere, and a list that people watch stands still",
		run: func(s *suite) {
			s.insertMany(2)
			for _, worker := range []string{"c", "B"} {
				require.Len(s, s.claimAt(s.now(), worker, 1).Jobs, 1)
			}
			for _, worker := range []string{"d", "a"} {
				require.True(s, s.beat(worker, true))
			}
			require.NoError(s, s.d.RemoveWorker(s.Context(), "c"))
			workers, err := s.d.Workers(s.Context())
			require.NoError(s, err)
			var got []string
			for _, w := range workers {
				got = append(got, w.ID)
			}
			require.Equal(s, []string{"B", "a", "c", "d"}, got)
		},
	},
	{
		name:        "Retire/removes a worker that holds nothing",
		explanation: "a worker that stopped in good order is no more to be looked after",
		run: func(s *suite) {
			require.True(s, s.beat("w", true))
			require.NoError(s, s.d.RemoveWorker(s.Context(), "w"))
			require.Nil(s, s.worker())
			require.NoError(s, s.d.RemoveWorker(s.Context(), "never"))
		},
	},
}
