package drivertest

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

// statsAt is a moment in the last of six buckets of a minute, far enough ahead that all jobs can be due before it.
var statsAt = time.Now().UTC().Truncate(24 * time.Hour).Add(3*24*time.Hour + 12*time.Hour + 5*time.Minute +
	30*time.Second)

var statsCases = []conformanceCase{
	{
		name:        "Stats/counts by type, state and hold",
		explanation: "every state is counted for each type; what is due, what waits for its time and what waits for its limit are apart",
		run: func(s *suite) {
			stats := s.stats(time.Minute, 100)
			require.Empty(s, stats.Types)
			require.Empty(s, stats.Workers)

			s.started()
			s.insert(newJob(dueAt(statsAt.Add(-3*time.Hour))), newJob(dueAt(statsAt.Add(-4*time.Hour)),
				withPriority(-1)),
				newJob(dueAt(statsAt.Add(100*365*24*time.Hour))),
				newJob(ofType("u"), func(j *driver.InsertJob) { j.LimitKey = "k" }))
			for _, state := range []driver.State{driver.StateCompleted, driver.StateFailed, driver.StateFailed,
				driver.StateCanceled} {
				s.inState(state, ofType("v"))
			}
			stats = s.stats(time.Minute, 100)
			require.Len(s, stats.Types, 3)
			t, u, v := stats.Types[0], stats.Types[1], stats.Types[2]
			require.Equal(s, []string{"t", "u", "v"}, []string{t.Type, u.Type, v.Type})
			require.Equal(s, []int{2, 1, 0, 1}, []int{t.Ready, t.Scheduled, t.Limited, t.Running})
			require.Equal(s, statsAt.Add(-4*time.Hour), t.OldestDue, "of whatever priority")
			require.Equal(s, 1, u.Ready+u.Limited, "a job with a limit key waits for its capacity or has it")
			require.Equal(s, []int{1, 2, 1}, []int{v.Completed, v.Failed, v.Canceled})
			require.Zero(s, v.OldestDue)
			require.Len(s, stats.Workers, 1)
			require.Equal(s, "w", stats.Workers[0].ID)
			require.Equal(s, 1, stats.Workers[0].Running)
		},
	},
	{
		name:        "Stats/a scheduled job whose time has come is due",
		explanation: "OldestDue knows of jobs that no claim has taken in yet",
		run: func(s *suite) {
			due := s.now().Add(time.Hour).UTC().Truncate(time.Microsecond)
			s.insert(newJob(dueAt(due)))
			stats, err := s.d.Stats(s.Context(), driver.StatsQuery{Now: due.Add(time.Second), Since: due,
				Bucket: time.Minute, MaxCount: 10})
			require.NoError(s, err)
			require.Equal(s, due, stats.Types[0].OldestDue)
			stats, err = s.d.Stats(s.Context(), driver.StatsQuery{Now: due.Add(-time.Second), Since: due,
				Bucket: time.Minute, MaxCount: 10})
			require.NoError(s, err)
			require.Zero(s, stats.Types[0].OldestDue)
		},
	},
	{
		name:        "Stats/counts what has finished by bucket",
		explanation: "a job belongs to the bucket that its end lies in, whatever the width; what ended before Since to none",
		run: func(s *suite) {
			for _, ago := range []time.Duration{0, 29 * time.Second, 31 * time.Second, 5 * time.Minute, 5*time.Minute +
				31*time.Second} {
				s.ended(driver.StateCompleted, statsAt.Add(-ago), 0, 0)
			}
			s.ended(driver.StateFailed, statsAt.Add(-31*time.Second), 0, 0)
			require.Equal(s, []driver.Throughput{{Completed: 1}, {}, {}, {}, {Completed: 1, Failed: 1}, {Completed: 2}},
				s.stats(time.Minute, 100).Types[0].Finished)
			for _, wide := range []time.Duration{10 * time.Minute, 20 * time.Minute, time.Hour} {
				stats := s.stats(wide, 100)
				require.Equal(s, statsAt.Truncate(wide), stats.Since)
				require.Equal(s, []driver.Throughput{{Completed: 4, Failed: 1}}, stats.Types[0].Finished,
					"since 12:00, in steps of %v", wide)
			}
		},
	},
	{
		name:        "Stats/stops counting at MaxCount",
		explanation: "a count of MaxCount stands for more; buckets that were not counted to their beginning are not reported",
		run: func(s *suite) {
			for i := range 5 {
				s.ended(driver.StateCompleted, statsAt.Add(-time.Duration(i)*time.Minute), 0, 0)
			}
			for _, job := range []driver.InsertJob{newJob(), newJob(), newJob(withPriority(1)),
				newJob(withPriority(2))} {
				s.insert(job)
			}
			stats := s.stats(time.Minute, 3)
			require.Equal(s, 3, stats.MaxCount)
			require.Equal(s, 3, stats.Types[0].Completed)
			require.Equal(s, 3, stats.Types[0].Ready)
			require.Equal(s, statsAt.Truncate(time.Minute).Add(-time.Minute), stats.Since)
			require.Equal(s, []driver.Throughput{{Completed: 1}, {Completed: 1}}, stats.Types[0].Finished)
		},
	},
	{
		name:        "Stats/reports how long jobs waited and ran",
		explanation: "of the jobs that ended last; a clock that goes backwards makes no time negative",
		run: func(s *suite) {
			for i := range 100 {
				s.ended(driver.StateCompleted, statsAt, time.Duration(i+1)*time.Second,
					time.Duration(i+1)*time.Millisecond)
			}
			s.ended(driver.StateCompleted, statsAt.Add(-time.Hour), time.Hour, time.Hour)
			stats := s.stats(time.Minute, 1000)
			require.Equal(s, driver.Latency{Sample: 100, P50: 50 * time.Second, P95: 95 * time.Second,
				P99: 99 * time.Second, Max: 100 * time.Second},
				stats.Types[0].Wait)
			require.Equal(s, 50*time.Millisecond, stats.Types[0].Run.P50)
			require.Equal(s, 100*time.Millisecond, stats.Types[0].Run.Max)

			s.ended(driver.StateFailed, statsAt, 0, -time.Hour, ofType("u"))
			require.Equal(s, driver.Latency{Sample: 1}, s.stats(time.Minute, 1000).Types[1].Run)
		},
	},
	{
		name:        "Stats/many types and priorities",
		explanation: "each type and priority is found, by a step in the index",
		run: func(s *suite) {
			for i := range 30 {
				s.insert(newJob(ofType(fmt.Sprintf("t%02d", i%10)), withPriority(i/10)))
			}
			stats := s.stats(time.Minute, 100)
			require.Len(s, stats.Types, 10)
			for _, t := range stats.Types {
				require.Equal(s, 3, t.Ready)
			}
		},
	},
}

// stats are the figures at statsAt of the six minutes before it, or of the whole bucket that these lie in.
func (s *suite) stats(bucket time.Duration, maxCount int) *driver.Stats {
	s.Helper()
	since := statsAt.Add(-5 * time.Minute).Truncate(bucket)
	stats, err := s.d.Stats(s.Context(), driver.StatsQuery{Now: statsAt, Since: since, Bucket: bucket,
		MaxCount: maxCount})
	require.NoError(s, err)
	require.Equal(s, statsAt, stats.At)
	return stats
}

// ended makes a job that finished at the time, after it had waited and run.
func (s *suite) ended(state driver.State, at time.Time, wait, run time.Duration, mods ...func(*driver.InsertJob)) {
	s.Helper()
	job := newJob(append(mods, dueAt(at.Add(-run-wait)))...)
	s.insert(job)
	claimed := s.claimAt(at.Add(-run), "w", 1, job.Type).Jobs
	require.Equal(s, []string{job.ID}, ids(claimed))
	out := driver.Outcome{Lease: claimed[0].Lease(), State: state, Kind: driver.KindCompleted, At: at}
	if state == driver.StateFailed {
		out.Kind, out.Error = driver.KindFailed, "broken"
	}
	require.NoError(s, s.finish(out))
}
