package drivertest

import (
	"context"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

func (s *suite) rescheduler() driver.Rescheduler {
	s.Helper()
	r, ok := driver.As[driver.Rescheduler](s.d)
	if !ok {
		s.Skip("the driver implements no driver.Rescheduler: queueadmin's RunNow, Reschedule and SetPriority refuse it")
	}
	return r
}

func (s *suite) reschedule(at time.Time, ids ...string) (changed []string) {
	s.Helper()
	s.write(func(ctx context.Context, tx *driver.WriteTx) (err error) {
		changed, err = s.rescheduler().RescheduleJobs(ctx, tx, ids, at)
		return err
	})
	s.sound()
	return changed
}

func (s *suite) setPriority(priority int, ids ...string) (changed []string) {
	s.Helper()
	s.write(func(ctx context.Context, tx *driver.WriteTx) (err error) {
		changed, err = s.rescheduler().SetPriority(ctx, tx, ids, priority)
		return err
	})
	s.sound()
	return changed
}

// sound checks the invariants of the tables: a claim finds each job that waits for a limit key.
func (s *suite) sound() {
	s.Helper()
	violations, err := s.auditor().Violations(s.Context())
	require.NoError(s, err)
	require.Empty(s, violations)
}

// waitFor inserts jobs that wait for a limit key, of which one may run.
func (s *suite) waitFor(key string, n int) (ids []string) {
	s.Helper()
	s.setLimit(ofKey(key), driver.Limit{MaxRunning: 1})
	for range n {
		job := newJob(withLimitKey(key))
		s.insert(job)
		ids = append(ids, job.ID)
	}
	return ids
}

var rescheduleCases = []conformanceCase{
	{
		name:        "RescheduleJobs/leaves a job of a flow waiting",
		explanation: "a job that waits for its node runs when that opens and its time has come",
		run: func(s *suite) {
			g := s.graph("a 1, b 2, a>b cancel")
			require.Len(s, s.reschedule(s.now().Add(time.Hour), g.jobs["b"][0]), 1)
			require.Len(s, s.reschedule(s.now(), g.jobs["b"][1]), 1)
			require.Empty(s, g.start("b"))
			require.Equal(s, 1, g.run("a"))
			require.Equal(s, g.jobs["b"][1], g.start("b")[0].ID)
			require.Empty(s, g.start("b"), "it is due in an hour")
		},
	},
	{
		name:        "RescheduleJobs/moves queued jobs, and no others",
		explanation: "a job runs when it was last told to; running, finished and held ones are left, and are not in the result",
		run: func(s *suite) {
			standing := s.stand()
			all := make([]string, 0, len(standing))
			for _, id := range standing {
				all = append(all, id)
			}
			at := s.now().Add(time.Hour).Truncate(time.Millisecond)
			// A claim opens the node of the waiting one, since nothing comes before it.
			queued := []string{standing["scheduled"], standing["limited"], standing["ready"], standing["waiting"]}
			require.ElementsMatch(s, queued, s.reschedule(at, all...))
			for _, id := range queued {
				require.True(s, at.Equal(s.job(id).NotBefore), id)
			}
			require.Empty(s, s.claim(10), "they wait")
			require.ElementsMatch(s, queued, ids(s.claimAt(at.Add(time.Second), "w", 10).Jobs), "and come")
			require.Empty(s, s.reschedule(at))
		},
	},
	{
		name:        "RescheduleJobs/takes the zero time as now, for those that are to run later",
		explanation: "a due job keeps its place before others that have become due",
		run: func(s *suite) {
			due, later := newJob(), newJob(dueAt(s.now().Add(time.Hour)))
			s.insert(due, later)
			before := s.job(due.ID)
			require.Equal(s, []string{later.ID}, s.reschedule(time.Time{}, due.ID, later.ID, "none"))
			require.Equal(s, before, s.job(due.ID))
			require.Equal(s, []string{due.ID, later.ID}, ids(s.claim(10)))
		},
	},
	{
		name:        "RescheduleJobs/takes a time that has passed as now",
		explanation: "nobody passes those that wait for longer by a time in the past",
		run: func(s *suite) {
			first, second := newJob(), newJob()
			s.insert(first)
			s.insert(second)
			require.Equal(s, []string{second.ID}, s.reschedule(s.now().Add(-time.Hour), second.ID))
			require.Equal(s, []string{first.ID, second.ID}, ids(s.claim(10)))
		},
	},
	{
		name:        "RescheduleJobs/keeps limits",
		explanation: "jobs that come to a limit key wait for it, and those that leave it keep no other from its capacity",
		run: func(s *suite) {
			waiting := s.waitFor("k", 3)
			at := s.now().Add(time.Hour)
			require.Len(s, s.reschedule(at, waiting[0], waiting[1]), 2)
			claimed := s.claim(10)
			require.Equal(s, waiting[2:], ids(claimed), "the last has the capacity")
			require.Len(s, s.reschedule(time.Time{}, waiting[0], waiting[1]), 2)
			require.Empty(s, s.claim(10), "one runs")
			s.endAll(claimed)
			claimed = s.claim(10)
			require.Equal(s, waiting[:1], ids(claimed))
			s.endAll(claimed)
			require.Equal(s, waiting[1:2], ids(s.claim(10)))
		},
	},
	{
		name:        "SetPriority/changes who is claimed first",
		explanation: "the priority of queued jobs orders claims at once, also of those that wait for their time or a limit key",
		run: func(s *suite) {
			first, second, later := newJob(), newJob(), newJob(dueAt(s.now().Add(time.Hour)))
			s.insert(first)
			s.insert(second, later)
			require.ElementsMatch(s, []string{second.ID, later.ID}, s.setPriority(7, second.ID, later.ID, "none"))
			require.Empty(s, s.setPriority(7, second.ID), "it has it")
			require.Equal(s, []string{second.ID, first.ID}, ids(s.claim(10)))
			require.Equal(s, []string{later.ID}, ids(s.claimAt(s.now().Add(2*time.Hour), "w", 10).Jobs))
			require.Equal(s, 7, s.job(later.ID).Priority)
			require.Empty(s, s.setPriority(8, first.ID, s.inState(driver.StateFailed, ofType("f"))), "not queued")
		},
	},
	{
		name:        "SetPriority/reaches the jobs that wait for a limit key",
		explanation: "whatever a claim remembers of the first job of a key, it takes the one that is first now",
		run: func(s *suite) {
			waiting := s.waitFor("k", 3)
			claimed := s.claim(10)
			require.Equal(s, waiting[:1], ids(claimed))
			require.Equal(s, waiting[2:], s.setPriority(5, waiting[2]))
			s.endAll(claimed)
			claimed = s.claim(10)
			require.Equal(s, waiting[2:], ids(claimed), "the last has passed the others")
			require.Equal(s, waiting[1:2], s.setPriority(-5, waiting[1]))
			s.endAll(claimed)
			require.Equal(s, waiting[1:2], ids(s.claim(10)), "none is lost")
		},
	},
	{
		name:        "SetPriority/orders the keys",
		explanation: "claims compare the first jobs of all limit keys with the jobs without one",
		run: func(s *suite) {
			a, b, free := s.waitFor("a", 2), s.waitFor("b", 2), newJob()
			s.insert(free)
			require.Len(s, s.setPriority(3, b[1]), 1)
			require.Len(s, s.setPriority(2, a...), 2)
			require.Equal(s, []string{b[1], a[0], free.ID}, ids(s.claim(10)))
		},
	},
	{
		name:        "JobErrors/returns the errors of jobs that have one",
		explanation: "jobs are found by what they ended with, without reading their payloads",
		run: func(s *suite) {
			r, ok := driver.As[driver.ErrorReader](s.d)
			if !ok {
				s.Skip("the driver implements no driver.ErrorReader: queueadmin.ErrorGroups refuses it")
			}
			bad, good := s.inState(driver.StateFailed), s.inState(driver.StateCompleted)
			found, err := r.JobErrors(s.Context(), []string{bad, good, "none"})
			require.NoError(s, err)
			job := s.job(bad)
			require.Equal(s, []driver.JobError{{JobID: bad, Type: "t", State: driver.StateFailed, Error: job.LastError,
				At: job.UpdatedAt}}, found)
			require.NotEmpty(s, found[0].Error, fmt.Sprint(job))
			found, err = r.JobErrors(s.Context(), nil)
			require.NoError(s, err)
			require.Empty(s, found)
		},
	},
}
