package queueadmin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// MoveConfig configures [Move]. The zero MoveConfig uses the defaults.
type MoveConfig struct {
	// Batch is the number of jobs that move at a time. Default 500; bounds 1 to 10,000.
	Batch int
	// Wait is how long Move waits, without progress, for jobs that are running in the old database. Default 10 min. If
	// it is negative, Move does not wait.
	Wait time.Duration
}

// A MoveReport counts the moved rows.
type MoveReport struct {
	Jobs      int
	Keys      int
	Schedules int
	// KeysTaken are keys that another job has in the new database. The jobs that had them in the old one were moved
	// without their keys, and run.
	KeysTaken []string
}

// ErrStillRunning reports that jobs are running in the old database.
var ErrStillRunning = errors.New("jobs still run in the old database")

// Move moves a live queue from one database to another, usually from SQLite to PostgreSQL: jobs in all states with
// their ids, keys, steps, attempts and log lines, flows, schedules and limits. Both databases must have the queue's
// tables (see [queue.Migrate]), and drivers that implement [driver.MoveSource] and [driver.MoveTarget], such as
// queue/sqlite and queue/postgres.
//
// Dispatchers may run on both. Move first holds a job in the old database, then writes it into the new one. The job can
// be claimed there only after it is deleted in the old one, so that it never runs twice. If the process dies, call Move
// again, and it continues. Until then the held jobs do not run; [Doctor] reports them. Move waits for running jobs, and
// moves them when they have ended. It also moves jobs that are enqueued in the old database meanwhile, until none is
// left. Then let all programs enqueue into the new database, and call Move once more for the last jobs. A program that
// sets its schedules in the old database again creates them there a second time, so deploy those programs first. Until
// Move has ended, cancel, retry and signal jobs in the old database, where they are found until they have moved.
//
// Move from one database at a time into the new one, to the end: what the new database holds and the old one does not
// have is taken for a leftover, and deleted. While another call moves from the same database, a call returns
// [ErrMoving] after about a second; of two calls that begin at the same instant, both may. After one whose process has
// died, the next begins 10 s later.
//
// The jobs of a flow may run in both databases meanwhile, but none of its nodes opens or ends until the last job has
// moved. A handler that reads results or counts of the flow is deferred until then.
//
// The jobs of a sequence ([queue.Options].Sequence) must not run in the old database meanwhile: while it has some, Move
// returns [ErrStillRunning] until its dispatchers are stopped. In the new one they begin when the last job has moved.
//
// Keys of scope forever and period also stay in the old database, so that their jobs are not enqueued again there. Keys
// of scope unfinished and coalesce move with their jobs. If a job is enqueued under such a key in the old database
// after the key's job has moved, it is a new job, which moves, too. If the key is taken in the new database by then,
// the job runs without it, and the key is one of [MoveReport].KeysTaken.
func Move(ctx context.Context, from, to queue.DB, cfg *MoveConfig) (MoveReport, error) {
	c, err := cfg.withDefaults()
	if err != nil {
		return MoveReport{}, moveError(err)
	}
	m := &mover{cfg: c}
	if m.from, err = sourceOf(from); err != nil {
		return MoveReport{}, moveError(err)
	}
	if m.to, err = targetOf(to); err != nil {
		return MoveReport{}, moveError(err)
	}
	err = m.run(ctx)
	return m.report, moveError(err)
}

func moveError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("queueadmin: move: %w", err)
}

func (c *MoveConfig) withDefaults() (MoveConfig, error) {
	cfg := MoveConfig{Batch: 500, Wait: 10 * time.Minute}
	if c != nil && c.Batch != 0 {
		cfg.Batch = c.Batch
	}
	if c != nil && c.Wait != 0 {
		cfg.Wait = max(0, c.Wait)
	}
	if cfg.Batch < 1 || cfg.Batch > 10_000 {
		return cfg, fmt.Errorf("MoveConfig.Batch is %d; it must be within 1 and 10000", cfg.Batch)
	}
	return cfg, nil
}

type mover struct {
	id     string
	from   source
	to     target
	cfg    MoveConfig
	report MoveReport
	copied bool // the flows that an earlier call has frozen
}

func (m *mover) run(ctx context.Context) error {
	if err := m.check(ctx); err != nil {
		return err
	}
	working, leave, err := m.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	err = m.move(working)
	if cause := context.Cause(working); err != nil && errors.Is(cause, ErrMoving) {
		return cause
	}
	return err
}

func (m *mover) move(ctx context.Context) error {
	if err := m.apart(ctx); err != nil {
		return err
	}
	for _, t := range []driver.Table{driver.TableLimits, driver.TableRates} {
		if _, err := m.copyAll(ctx, t); err != nil {
			return err
		}
	}
	if err := m.moveSchedules(ctx); err != nil {
		return err
	}
	if err := m.moveJobs(ctx); err != nil {
		return err
	}
	// Those of jobs that were pruned long ago.
	n, err := m.copyAll(ctx, driver.TableKeys)
	m.report.Keys += n
	return err
}

func (m *mover) moveJobs(ctx context.Context) error {
	if err := m.settleEarlier(ctx); err != nil {
		return err
	}
	deadline := time.Now().Add(m.cfg.Wait)
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		if err := errors.Join(m.refuseSequences(ctx), m.copyFlows(ctx)); err != nil {
			return err
		}
		moved, err := m.moveBatch(ctx)
		if err != nil {
			return err
		}
		if moved > 0 {
			deadline, pause = time.Now().Add(m.cfg.Wait), 5*time.Millisecond
			continue
		}
		left, err := m.left(ctx)
		if err != nil {
			return err
		}
		if left == 0 {
			return errors.Join(m.mergeFlows(ctx), m.dropCopies(ctx), m.thawTurns(ctx))
		}
		if !time.Now().Before(deadline) {
			return fmt.Errorf("%w: %d jobs; call Move again when they have ended", ErrStillRunning, left)
		}
		if !sleep(ctx, pause) {
			return ctx.Err()
		}
	}
}

func (m *mover) left(ctx context.Context) (jobs int, err error) {
	counts, err := m.from.Counts(ctx, driver.Filter{})
	for _, n := range counts {
		jobs += n
	}
	return jobs, err
}

// moveBatch moves some jobs that do not run. The process may die after each commit: a job that can be claimed is in one
// database only, and the next call finds the held ones.
func (m *mover) moveBatch(ctx context.Context) (int, error) {
	ids, err := m.hold(ctx)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	if ids, err = m.insert(ctx, ids); err != nil {
		return 0, err
	}
	moved, err := m.settle(ctx, ids)
	m.report.Jobs += moved
	return moved, err
}

func (m *mover) hold(ctx context.Context) (ids []string, err error) {
	err = driver.Write(ctx, m.from, func(ctx context.Context, tx *driver.WriteTx) (err error) {
		ids, err = m.from.HoldJobs(ctx, tx, m.cfg.Batch)
		return err
	})
	return ids, err
}

// errOldCopy: a copy of an earlier call was committed after the transaction had looked for it.
var errOldCopy = errors.New("the new database has a copy of a job already")

// insert writes the jobs into the new database, where they are held as well, and returns them without those that are no
// longer held in the old one: they were canceled or retried there, and may run.
func (m *mover) insert(ctx context.Context, ids []string) ([]string, error) {
	// A row of the other tables names one of jobs.
	tables := []driver.Table{driver.TableJobs, driver.TableTurns, driver.TableSteps, driver.TableSignals,
		driver.TableAttempts, driver.TableLogs, driver.TableKeys}
	rows := make([]driver.Rows, len(tables))
	for i, t := range tables {
		var err error
		if rows[i], err = m.from.JobRows(ctx, t, ids); err != nil {
			return nil, err
		}
		switch t {
		case driver.TableJobs:
			rows[i].Values = stillHeld(rows[i])
			ids = column(rows[i], "id")
		case driver.TableTurns:
			moveTurns(rows[i])
		}
	}
	var keys int
	var taken []string
	write := func(ctx context.Context, tx *driver.WriteTx, again bool) error {
		// A copy of an earlier call is older than the rows: the jobs may have been canceled, or run, here since.
		if err := m.to.DropHeld(ctx, tx, ids); err != nil {
			return err
		}
		for i, t := range tables {
			n, err := m.to.InsertRows(ctx, tx, t, rows[i])
			if err != nil {
				return err
			}
			if t == driver.TableJobs && n < len(rows[i].Values) && !again {
				return errOldCopy
			}
			if t == driver.TableKeys {
				keys = n
			}
		}
		var err error
		taken, err = m.to.SettleKeys(ctx, tx, ids)
		return err
	}
	err := driver.Write(ctx, m.to, func(ctx context.Context, tx *driver.WriteTx) error { return write(ctx, tx, false) })
	if errors.Is(err, errOldCopy) {
		err = driver.Write(ctx, m.to, func(ctx context.Context, tx *driver.WriteTx) error { return write(ctx, tx, true) })
	}
	if err != nil {
		return nil, errors.Join(err, notUTF8(rows[0]))
	}
	m.report.Keys += keys
	m.report.KeysTaken = append(m.report.KeysTaken, taken...)
	return ids, nil
}

// notUTF8 names a job that SQLite has and PostgreSQL refuses, if there is one.
func notUTF8(jobs driver.Rows) error {
	for i, values := range jobs.Values {
		for place, value := range values {
			if text, ok := value.(string); ok && !utf8.ValidString(text) {
				return fmt.Errorf("%s of job %s is not UTF-8: cancel and delete the job in the old database, and call Move again",
					jobs.Columns[place], column(jobs, "id")[i])
			}
		}
	}
	return nil
}

// stillHeld returns the rows of jobs that are held.
func stillHeld(jobs driver.Rows) [][]any {
	hold := slices.Index(jobs.Columns, "hold")
	return slices.DeleteFunc(jobs.Values, func(job []any) bool { return job[hold] != int64(driver.HoldMoving) })
}

// settle ends the move of jobs that are held in the new database, and returns the number of moved jobs. Jobs that the
// old database still holds are deleted there, and the deletion is recorded until they are released in the new one. The
// others were canceled or retried in the old database since they were held, and may have been pruned: they stay there,
// or are moved later in their new state.
func (m *mover) settle(ctx context.Context, ids []string) (int, error) {
	var moved []string
	err := driver.Write(ctx, m.from, func(ctx context.Context, tx *driver.WriteTx) (err error) {
		moved, err = m.from.RemoveHeld(ctx, tx, ids)
		return err
	})
	if err != nil {
		return 0, err
	}
	kept := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return slices.Contains(moved, id) })
	return len(moved), m.release(ctx, moved, kept)
}

// release makes the moved jobs claimable in the new database, deletes the copies of those that were kept in the old
// one, and then the records.
func (m *mover) release(ctx context.Context, moved, kept []string) error {
	err := driver.Write(ctx, m.to, func(ctx context.Context, tx *driver.WriteTx) error {
		if err := m.to.DropHeld(ctx, tx, kept); err != nil {
			return err
		}
		if err := m.to.ReleaseHeld(ctx, tx, moved); err != nil {
			return err
		}
		return m.to.Notify(ctx, tx)
	})
	if err != nil || len(moved) == 0 {
		return err
	}
	return driver.Write(ctx, m.from, func(ctx context.Context, tx *driver.WriteTx) error {
		return m.from.ForgetMoved(ctx, tx, moved)
	})
}

// settleEarlier releases the jobs that an earlier call has removed from the old database, which is on record. A copy
// in the new one without such a record says nothing: the job may have been canceled, or run, in the old one since.
func (m *mover) settleEarlier(ctx context.Context) error {
	for {
		noted, err := m.from.MovedJobs(ctx, m.cfg.Batch)
		if err != nil || len(noted) == 0 {
			return err
		}
		if err := m.release(ctx, noted, nil); err != nil {
			return err
		}
	}
}

// dropCopies deletes the copies of earlier calls whose jobs the old database has deleted since. A job that is held in
// the new database is on record, or is such a copy, or has been enqueued meanwhile and is still in the old one: a call
// beside this one is moving it, or a later call will.
func (m *mover) dropCopies(ctx context.Context) error {
	for {
		copies, err := m.copiesWithoutJobs(ctx)
		if err != nil || len(copies) == 0 {
			return err
		}
		// Jobs that left the old database before it was asked are on record.
		if err := m.settleEarlier(ctx); err != nil {
			return err
		}
		if err := m.release(ctx, nil, copies); err != nil {
			return err
		}
	}
}

// copiesWithoutJobs returns jobs that the new database holds and the old one does not have.
func (m *mover) copiesWithoutJobs(ctx context.Context) ([]string, error) {
	held, err := m.to.HeldJobs(ctx, m.cfg.Batch)
	if err != nil || len(held) == 0 {
		return nil, err
	}
	jobs, err := m.from.JobRows(ctx, driver.TableJobs, held)
	if err != nil {
		return nil, err
	}
	id := slices.Index(jobs.Columns, "id")
	return slices.DeleteFunc(held, func(copied string) bool {
		return slices.ContainsFunc(jobs.Values, func(row []any) bool { return row[id] == copied })
	}), nil
}

// copyAll copies a table in batches, in the order of its key. It leaves existing rows of the new database unchanged.
func (m *mover) copyAll(ctx context.Context, t driver.Table) (copied int, err error) {
	for after := (*driver.Rows)(nil); ; {
		rows, err := m.from.TableRows(ctx, t, after, m.cfg.Batch)
		if err != nil || len(rows.Values) == 0 {
			return copied, err
		}
		after = &rows
		var n int
		err = driver.Write(ctx, m.to, func(ctx context.Context, tx *driver.WriteTx) (err error) {
			n, err = m.to.InsertRows(ctx, tx, t, rows)
			return err
		})
		if err != nil {
			return copied, err
		}
		copied += n
	}
}

// sleep returns false if ctx is done first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
