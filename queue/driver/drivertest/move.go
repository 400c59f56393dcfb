package drivertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

// A movable is a driver that jobs can be moved from and to.
type movable interface {
	driver.MoveSource
	driver.MoveTarget
}

// movable skips the test if the driver does not support moves.
func (s *suite) movable() movable {
	s.Helper()
	m, ok := driver.As[movable](s.d)
	if !ok {
		s.Skip("the driver implements no driver.MoveSource and driver.MoveTarget: queueadmin.Move refuses it")
	}
	return m
}

// held inserts a job and has a move hold it.
func (s *suite) held(mods ...func(*driver.InsertJob)) driver.InsertJob {
	s.Helper()
	job := newJob(mods...)
	s.insert(job)
	require.Contains(s, s.hold(100), job.ID)
	return job
}

func (s *suite) hold(limit int) (ids []string) {
	s.Helper()
	s.write(func(ctx context.Context, tx *driver.WriteTx) (err error) {
		ids, err = s.movable().HoldJobs(ctx, tx, limit)
		return err
	})
	return ids
}

func (s *suite) removeHeld(ids ...string) (moved []string) {
	s.Helper()
	s.write(func(ctx context.Context, tx *driver.WriteTx) (err error) {
		moved, err = s.movable().RemoveHeld(ctx, tx, ids)
		return err
	})
	return moved
}

func (s *suite) release(ids ...string) {
	s.Helper()
	s.write(func(ctx context.Context, tx *driver.WriteTx) error { return s.movable().ReleaseHeld(ctx, tx, ids) })
}

var moveCases = []conformanceCase{
	{
		name:        "HoldJobs/keeps jobs that do not run from being claimed",
		explanation: "jobs of all states but running are held, at most as many as asked, and those first that are held already",
		run: func(s *suite) {
			s.movable()
			running := s.started()
			var all []string
			for _, state := range []driver.State{driver.StateCompleted, driver.StateFailed, driver.StateCanceled} {
				all = append(all, s.inState(state))
			}
			waiting := newJob()
			s.insert(waiting)
			all = append(all, waiting.ID)
			slices.Sort(all)
			require.Equal(s, all[:2], s.hold(2))
			require.Equal(s, all[:2], s.hold(2))
			require.Equal(s, all, s.hold(100))
			require.Equal(s, driver.StateRunning, s.state(running.ID))
			require.Empty(s, s.claim(10))
			held, err := s.movable().HeldJobs(s.Context(), 100)
			require.NoError(s, err)
			require.Equal(s, all, held)
			s.release(all...)
			require.Equal(s, []string{waiting.ID}, ids(s.claim(10)))
		},
	},
	{
		name:        "HoldJobs/jobs that are held are counted, listed and found",
		explanation: "a queued job that a move holds is still queued: in Counts, Jobs, JobIDs and Stats, whatever the filter",
		run: func(s *suite) {
			job := s.held()
			for _, f := range []driver.Filter{{}, {Types: []string{"t"}},
				{States: []driver.State{driver.StateQueued}}} {
				counts, err := s.d.Counts(s.Context(), f)
				require.NoError(s, err)
				require.Equal(s, map[driver.State]int{driver.StateQueued: 1}, counts)
				f.Limit = 10
				jobs, err := s.d.Jobs(s.Context(), f)
				require.NoError(s, err)
				require.Equal(s, []string{job.ID}, ids(jobs))
				listed, err := s.d.JobIDs(s.Context(), f)
				require.NoError(s, err)
				require.Equal(s, []string{job.ID}, listed)
			}
			stats := s.stats(time.Minute, 100)
			require.Equal(s, []int{0, 0, 0, 1}, []int{stats.Types[0].Ready, stats.Types[0].Scheduled,
				stats.Types[0].Limited, stats.Types[0].Moving})
		},
	},
	{
		name:        "HoldJobs/a job that is held can be canceled and retried",
		explanation: "whoever cancels or retries it takes it from the move, which sees that it is no longer held",
		run: func(s *suite) {
			job := s.held()
			require.NoError(s, s.cancel(job.ID))
			held, err := s.movable().HeldJobs(s.Context(), 100)
			require.NoError(s, err)
			require.Empty(s, held)
			require.Empty(s, s.removeHeld(job.ID))
			require.Equal(s, driver.StateCanceled, s.state(job.ID))
		},
	},
	{
		name:        "RemoveHeld/deletes a job with its keys, and notes it",
		explanation: "a key of scope unfinished or coalesce would be answered with a job that is not there; one that outlives its job stays",
		run: func(s *suite) {
			keys := []driver.Key{whileUnfinished("a"), coalesce("b"), forever("c"), forPeriod("d", time.Hour)}
			var all []string
			for _, key := range keys {
				all = append(all, s.held(withKey(key)).ID)
			}
			require.Equal(s, all, s.removeHeld(append(all, "none")...))
			require.Equal(s, all, s.removeHeld(all...), "it is noted until it is forgotten")
			for i, key := range keys {
				_, err := s.d.Job(s.Context(), all[i])
				require.ErrorIs(s, err, driver.ErrJobNotFound)
				require.Equal(s, i >= 2, s.insert(newJob(withKey(key)))[0].Duplicate, key.Name)
			}
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				return s.movable().ForgetMoved(ctx, tx,
					all[:1])
			})
			noted, err := s.movable().MovedJobs(s.Context(), 100)
			require.NoError(s, err)
			require.Equal(s, all[1:], noted)
			require.Equal(s, all[1:], s.removeHeld(all...))
		},
	},
	{
		name:        "InsertRows/rows come back as they were read",
		explanation: "what JobRows reads of a job, InsertRows writes, and once: the job, its steps, attempts, logs and keys",
		run: func(s *suite) {
			m := s.movable()
			at := s.now().Add(time.Hour)
			job := s.started(withKey(whileUnfinished("a")), func(j *driver.InsertJob) {
				j.UserID, j.Tags, j.ExpiresAt, j.TraceParent, j.LimitKey = "ada", []string{"x", "ü"}, at, "trace", "k"
			})
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				if err := s.d.StartStep(ctx, tx, job.Lease(), "one"); err != nil {
					return err
				}
				return s.d.AddLogs(ctx, tx,
					[]driver.LogLine{{JobID: job.ID, Attempt: 1, Line: 1, At: s.now(), Message: "said",
						Attrs: []byte(`{"n":1}`)}})
			})
			s.requeue(job)
			want, steps, logs := s.job(job.ID), s.steps(job.ID), s.logs(job.ID)
			s.hold(10)
			tables := []driver.Table{driver.TableJobs, driver.TableSteps, driver.TableAttempts, driver.TableLogs,
				driver.TableKeys}
			all := make([]driver.Rows, len(tables))
			for i, table := range tables {
				var err error
				all[i], err = m.JobRows(s.Context(), table, []string{job.ID})
				require.NoError(s, err)
				require.Len(s, all[i].Values, 1, table)
			}
			s.removeHeld(job.ID)
			for _, n := range []int{1, 0} {
				s.write(func(ctx context.Context, tx *driver.WriteTx) error {
					for i, table := range tables {
						inserted, err := m.InsertRows(ctx, tx, table, all[i])
						require.NoError(s, err)
						require.Equal(s, n, inserted, table)
					}
					return nil
				})
			}
			require.Empty(s, s.claim(10), "it is held as it was")
			s.release(job.ID)
			require.Equal(s, want, s.job(job.ID))
			require.Equal(s, steps, s.steps(job.ID))
			require.Equal(s, logs, s.logs(job.ID))
			require.True(s, s.insert(newJob(withKey(whileUnfinished("a"))))[0].Duplicate)
			require.Equal(s, []string{job.ID}, ids(s.claim(10)))
		},
	},
	{
		name:        "InsertRows/a job that can stand nowhere is refused",
		explanation: "a state or a hold that has no name, copied from a database that was altered, would be a job that nothing finds",
		run: func(s *suite) {
			m := s.movable()
			job := s.held()
			rows, err := m.JobRows(s.Context(), driver.TableJobs, []string{job.ID})
			require.NoError(s, err)
			s.removeHeld(job.ID)
			state, hold := slices.Index(rows.Columns, "state"), slices.Index(rows.Columns, "hold")
			good := slices.Clone(rows.Values[0])
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				for _, bad := range []struct{ state, hold any }{{"queued", int64(7)}, {"asleep", int64(0)},
					{"running", int64(3)}, {"queued", 7}, {"queued", nil}} {
					rows.Values[0][state], rows.Values[0][hold] = bad.state, bad.hold
					_, err := m.InsertRows(ctx, tx, driver.TableJobs, rows)
					require.ErrorIs(s, err, driver.ErrUnknownStanding, "%v", bad)
				}
				rows.Values[0] = good
				inserted, err := m.InsertRows(ctx, tx, driver.TableJobs, rows)
				require.Equal(s, 1, inserted)
				return err
			})
		},
	},
	{
		name:        "SettleKeys/a key that another job has is its own",
		explanation: "the job goes on without, and the caller reports the key; the keys of jobs that have ended are free",
		run: func(s *suite) {
			m := s.movable()
			job := s.held(withKey(whileUnfinished("a")))
			kept := s.held(withKey(whileUnfinished("b")))
			rows, err := m.JobRows(s.Context(), driver.TableJobs, []string{job.ID})
			require.NoError(s, err)
			s.removeHeld(job.ID)
			other := newJob(withKey(whileUnfinished("a")))
			s.insert(other)
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				_, err := m.InsertRows(ctx, tx, driver.TableJobs, rows)
				require.NoError(s, err)
				taken, err := m.SettleKeys(ctx, tx, []string{job.ID, kept.ID})
				require.Equal(s, []string{"a"}, taken)
				return err
			})
			require.Empty(s, s.job(job.ID).Key.Name)
			require.Equal(s, "b", s.job(kept.ID).Key.Name)
			require.Equal(s, "a", s.job(other.ID).Key.Name)
		},
	},
	{
		name:        "ReleaseHeld/a job goes where its time and its limit allow",
		explanation: "a job whose time has not come waits for it, one with a limit key for its capacity; what was not held stays as it is",
		run: func(s *suite) {
			now := s.now()
			later := s.held(dueAt(now.Add(time.Hour)))
			limited := []string{s.held(withLimitKey("k")).ID, s.held(withLimitKey("k")).ID}
			s.setLimit(ofKey("k"), driver.Limit{MaxRunning: 1})
			s.release(later.ID, limited[0], limited[1])
			require.Equal(s, limited[:1], ids(s.claimAt(now.Add(time.Second), "w", 10).Jobs))
			require.Equal(s, []string{later.ID}, ids(s.claimAt(now.Add(2*time.Hour), "w", 10).Jobs))
			s.release(later.ID, limited[0])
			require.Equal(s, driver.StateRunning, s.state(later.ID))
		},
	},
	{
		name:        "DropHeld/deletes what is held, and nothing else",
		explanation: "a copy of a job that has run elsewhere must go, with its key; a job that was released must stay",
		run: func(s *suite) {
			held := s.held(withKey(whileUnfinished("a")))
			running := newJob()
			s.insert(running)
			require.Len(s, s.claim(1), 1)
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				return s.movable().DropHeld(ctx, tx, []string{held.ID, running.ID})
			})
			_, err := s.d.Job(s.Context(), held.ID)
			require.ErrorIs(s, err, driver.ErrJobNotFound)
			require.Equal(s, driver.StateRunning, s.state(running.ID))
			require.False(s, s.insert(newJob(withKey(whileUnfinished("a"))))[0].Duplicate)
		},
	},
	{
		name:        "TableRows/reads a table page by page",
		explanation: "limits, rates and the keys that outlive their jobs are read in the order of their primary keys, each once",
		run: func(s *suite) {
			m := s.movable()
			for _, name := range []string{"a", "b", "c"} {
				s.setLimit(ofKey(name), driver.Limit{Rate: 2, Per: time.Minute, Burst: 1})
				s.insert(newJob(withKey(forever(name))), newJob(withKey(whileUnfinished("not "+name))))
			}
			for _, table := range []driver.Table{driver.TableLimits, driver.TableKeys} {
				var names []string
				for after := (*driver.Rows)(nil); ; {
					rows, err := m.TableRows(s.Context(), table, after, 2)
					require.NoError(s, err)
					if len(rows.Values) == 0 {
						break
					}
					after = &rows
					column := max(slices.Index(rows.Columns, "name"), slices.Index(rows.Columns, "key"))
					for _, values := range rows.Values {
						names = append(names, fmt.Sprint(values[column]))
					}
				}
				require.Equal(s, "a b c", strings.Join(names, " "), table)
			}
			_, err := m.TableRows(s.Context(), "users", nil, 1)
			require.Error(s, err, "no other tables move")
		},
	},
}
