package drivertest

import (
	"context"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

// A line is a stored sequence, whose jobs are of type "t" and known by their numbers.
type line struct {
	*suite
	store driver.SequenceStore
	ids   []string
}

func (s *suite) line(n int, mods ...func(*driver.InsertJob)) *line {
	s.Helper()
	store, ok := driver.As[driver.SequenceStore](s.d)
	if !ok {
		s.Skip("the driver implements no driver.SequenceStore")
	}
	l := &line{suite: s, store: store}
	for range n {
		l.add(mods...)
	}
	return l
}

func inSequence(name string) func(*driver.InsertJob) {
	return func(j *driver.InsertJob) { j.Sequence = name }
}

func goingOn(j *driver.InsertJob) { j.SequenceGoesOn = true }

func (l *line) add(mods ...func(*driver.InsertJob)) {
	l.Helper()
	job := newJob(append([]func(*driver.InsertJob){inSequence("s")}, mods...)...)
	l.write(func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := l.d.Insert(ctx, tx, []driver.InsertJob{job})
		return err
	})
	l.ids = append(l.ids, job.ID)
}

// start claims what can be claimed, and requires it to be these jobs.
func (l *line) start(numbers ...int) []driver.Job {
	l.Helper()
	jobs := l.claimAt(l.now(), "w", 100, "t").Jobs
	l.are(jobs, numbers...)
	l.sound()
	return jobs
}

func (l *line) are(jobs []driver.Job, numbers ...int) {
	l.Helper()
	want, got := []string{}, []string{}
	for _, n := range numbers {
		want = append(want, l.ids[n])
	}
	for i := range jobs {
		got = append(got, jobs[i].ID)
	}
	require.Equal(l, want, got)
}

func (l *line) sound() {
	l.Helper()
	if a, ok := driver.As[driver.Auditor](l.d); ok {
		found, err := a.Violations(l.Context())
		require.NoError(l, err)
		require.Empty(l, found)
	}
}

func (l *line) end(job driver.Job, state driver.State, kind string, again time.Time) {
	l.Helper()
	out := driver.Outcome{Lease: job.Lease(), State: state, Kind: kind, At: l.now(), NotBefore: again}
	if state == driver.StateFailed {
		out.Error = "broken"
	}
	l.write(func(ctx context.Context, tx *driver.WriteTx) error {
		answers, err := l.d.Finish(ctx, tx, []driver.Outcome{out})
		require.Equal(l, []error{nil}, answers)
		return err
	})
	l.sound()
}

func (l *line) complete(jobs []driver.Job) {
	l.Helper()
	for _, job := range jobs {
		l.end(job, driver.StateCompleted, driver.KindCompleted, time.Time{})
	}
}

var sequenceCases = []conformanceCase{
	{
		name:        "Sequence/its jobs run one after the other",
		explanation: "a job of a sequence begins when all ahead of it have ended, whatever their priority and id",
		run: func(s *suite) {
			l := s.line(3)
			l.add(withPriority(9))
			other := s.line(1, inSequence("other"))
			jobs := s.claimAt(s.now(), "w", 100, "t").Jobs
			require.Len(s, jobs, 2, "one of each sequence")
			require.ElementsMatch(s, []string{l.ids[0], other.ids[0]}, []string{jobs[0].ID, jobs[1].ID})
			l.start()
			l.complete(jobs)
			for i := 1; i < 4; i++ {
				jobs := l.start(i)
				require.Equal(s, "s", jobs[0].Sequence)
				l.start()
				l.complete(jobs)
			}
			l.add()
			l.complete(l.start(4))
		},
	},
	{
		name:        "Sequence/it waits for retries, and for what is scheduled",
		explanation: "what is queued again, or due later, keeps its place",
		run:         keepsItsPlace,
	},
	{
		name:        "Sequence/a failed job stops it, until it is retried",
		explanation: "what comes after a failed job must not run before a person has seen to it",
		run: func(s *suite) {
			l := s.line(3)
			l.end(l.start(0)[0], driver.StateFailed, driver.KindFailed, time.Time{})
			l.start()
			stopped, err := l.store.Stopped(s.Context(), 10)
			require.NoError(s, err)
			require.Equal(s, []driver.StoppedSequence{{Name: "s", JobID: l.ids[0], Waiting: 2}}, stopped)
			first, ahead, err := l.store.Place(s.Context(), l.ids[2], 10)
			require.NoError(s, err)
			require.Equal(s, l.ids[0], first)
			require.Equal(s, 2, ahead)
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				n, err := s.d.Prune(ctx, tx, driver.PruneRequest{State: driver.StateFailed, Type: "t",
					FinishedBefore: s.now().Add(time.Hour), Limit: 10})
				require.Zero(s, n, "the sequence would go on")
				return err
			})
			s.write(func(ctx context.Context, tx *driver.WriteTx) error { return s.d.Retry(ctx, tx, l.ids[0]) })
			l.complete(l.start(0))
			l.complete(l.start(1))
			stopped, err = l.store.Stopped(s.Context(), 10)
			require.NoError(s, err)
			require.Empty(s, stopped)
		},
	},
	{
		name:        "Sequence/it goes on after a failed job that says so, and one that is canceled or deleted",
		explanation: "an end that stops nothing lets the next job go",
		run:         lineGoesOn,
	},
	{
		name:        "Sequence/a job that is retried when its line has gone on joins its end",
		explanation: "two jobs of a sequence never run at the same time",
		run:         joinsTheEnd,
	},
	{
		name:        "Sequence/a job with a limit key waits for both",
		explanation: "a job that has its turn is limited like others, and takes no capacity before",
		run:         waitsForBoth,
	},
	{
		name:        "Sequence/many sequences and jobs of one transaction keep their order",
		explanation: "jobs of one call are in the order of the call",
		run: func(s *suite) {
			var jobs []driver.InsertJob
			for i := range 120 {
				jobs = append(jobs, newJob(inSequence(fmt.Sprintf("line %q %d", "ä\n", i%40)), withPriority(i)))
			}
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				_, err := s.d.Insert(ctx, tx, jobs)
				return err
			})
			l := s.line(0)
			for round := range 3 {
				claimed := s.claimAt(s.now(), "w", 1000, "t").Jobs
				require.Len(s, claimed, 40)
				for i := range claimed {
					place := 0
					for jobs[place].ID != claimed[i].ID {
						place++
					}
					require.Equal(s, round, place/40)
				}
				l.complete(claimed)
			}
		},
	},
}

func keepsItsPlace(s *suite) {
	l := s.line(2)
	now := s.now()
	l.end(l.start(0)[0], driver.StateQueued, driver.KindFailed, now.Add(time.Hour))
	l.start()
	jobs := s.claimAt(now.Add(time.Hour), "w", 100, "t").Jobs
	l.are(jobs, 0)
	l.end(jobs[0], driver.StateQueued, driver.KindInterrupted, now)
	l.complete(l.start(0))
	l.complete(l.start(1))

	l.add(dueAt(now.Add(2 * time.Hour)))
	l.add()
	l.start()
	jobs = s.claimAt(now.Add(2*time.Hour), "w", 100, "t").Jobs
	l.are(jobs, 2)
	l.complete(jobs)
	l.complete(l.start(3))
}

func lineGoesOn(s *suite) {
	l := s.line(2, goingOn)
	l.end(l.start(0)[0], driver.StateFailed, driver.KindFailed, time.Time{})
	running := l.start(1)
	l.add()
	l.add()
	l.add()
	cancel := func(id string) {
		s.write(func(ctx context.Context, tx *driver.WriteTx) error {
			_, err := s.d.CancelJobs(ctx, tx, driver.CancelRequest{JobIDs: []string{id},
				States: []driver.State{driver.StateQueued, driver.StateRunning}})
			return err
		})
	}
	cancel(l.ids[2])
	l.start()
	cancel(running[0].ID)
	l.end(l.start(3)[0], driver.StateFailed, driver.KindFailed, time.Time{})
	l.start()
	require.Equal(s, []string{l.ids[3]}, s.removeFinished(l.ids[3]))
	l.complete(l.start(4))
}

func joinsTheEnd(s *suite) {
	l := s.line(3, goingOn)
	l.end(l.start(0)[0], driver.StateFailed, driver.KindFailed, time.Time{})
	running := l.start(1)
	s.write(func(ctx context.Context, tx *driver.WriteTx) error { return s.d.Retry(ctx, tx, l.ids[0]) })
	l.start()
	l.complete(running)
	l.complete(l.start(2))
	l.complete(l.start(0))
}

func waitsForBoth(s *suite) {
	s.setLimit(driver.Target{Kind: driver.TargetKey, Name: "k"}, driver.Limit{MaxRunning: 1})
	l := s.line(2, withLimitKey("k"))
	free := s.line(1, inSequence(""), withLimitKey("k"))
	jobs := s.claimAt(s.now(), "w", 100, "t").Jobs
	require.Len(s, jobs, 1)
	l.complete(jobs)
	for range 2 {
		jobs := s.claimAt(s.now(), "w", 100, "t").Jobs
		require.Len(s, jobs, 1, fmt.Sprint(l.ids, free.ids))
		l.complete(jobs)
	}
	l.sound()
}
