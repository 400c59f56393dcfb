package jobsql

import (
	"context"
	"encoding/json"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// A Store implements the methods of a [driver.Driver] that are the same on every engine: [driver.Scheduler], most of
// [driver.Inspector], [driver.Limiter], and the interfaces for operators ([driver.Auditor], [driver.MoveSource],
// [driver.MoveTarget], …).
type Store struct {
	Engine driver.Dialect
	// Query runs a statement outside of transactions.
	Query func(ctx context.Context, query string, args ...any) (Rows, error)
	// MarkKeys makes claims examine limit keys under which jobs have started to wait, regardless of existing marks. If
	// one of them is a coalescing key, it also ensures that the limit of such keys exists.
	MarkKeys func(ctx context.Context, tx *driver.WriteTx, keys []string) error
	// HoldClaims blocks claims until the transaction ends, so that each sees a limit before or after the change; nil if
	// writes do so anyway.
	HoldClaims func(ctx context.Context, tx *driver.WriteTx) error
	// OpenKeys makes the next claims examine the limit keys of the target, whose limit has changed.
	OpenKeys func(ctx context.Context, tx *driver.WriteTx, target driver.Target) error
	// CancelJobs and RetryJob are the methods of the engine's [driver.Finisher].
	CancelJobs func(ctx context.Context, tx *driver.WriteTx, req driver.CancelRequest) ([]string, error)
	RetryJob   func(ctx context.Context, tx *driver.WriteTx, jobID string) error
	// CountEnds has the ends of jobs counted from now on, before the first flow or sequence is stored; nil if they always
	// are.
	CountEnds func(ctx context.Context, tx *driver.WriteTx) error
	// GiveTurns examines marked sequences where several claims do so at a time; nil if each has the database alone.
	GiveTurns func(ctx context.Context, tx *driver.WriteTx) (more bool, err error)
	// KeyIsOpen is the condition that claims know the jobs that wait for the limit key waiting.limit_key, although the
	// key is not in job_limit_marks.
	KeyIsOpen string
	// SelectUnfound selects the jobs that wait for a limit key that claims know, and that no claim would find.
	SelectUnfound string
}

var (
	_ driver.Limiter      = (*Store)(nil)
	_ driver.TableChecker = (*Store)(nil)
	_ driver.Promoter     = (*Store)(nil)
	_ driver.Auditor      = (*Store)(nil)
	_ driver.MoveSource   = (*Store)(nil)
	_ driver.MoveTarget   = (*Store)(nil)
)

const (
	selectSteps = `
SELECT job_id, name, attempt, started_at, finished_at, result_json
FROM /*q.*/job_steps
WHERE job_id = $1
ORDER BY started_at, name`

	selectAttempts = `
SELECT job_id, attempt, worker_id, kind, error, stack, started_at, finished_at
FROM /*q.*/job_attempts
WHERE job_id = $1
UNION ALL
SELECT id, attempt, worker_id, state, '', '', started_at, finished_at
FROM /*q.*/jobs
WHERE id = $1
  AND state IN ('running', 'completed')
ORDER BY attempt`

	selectLogs = `
SELECT job_id, attempt, line, at, level, message, attrs_json
FROM /*q.*/job_logs
WHERE job_id = $1
ORDER BY attempt, line`

	selectFirstKeyExpiry = `
SELECT MIN(expires_at)
FROM /*q.*/job_keys
WHERE expires_at IS NOT NULL`

	selectFirstRate = `
SELECT MIN(arrival)
FROM /*q.*/job_rates`
)

var selectJob = `
SELECT ` + Columns + `
FROM /*q.*/jobs
WHERE id = $1`

const updateResult = `
UPDATE /*q.*/jobs
SET result_json = $2
WHERE id = $1
  AND state = 'completed'`

// SetResult implements [driver.Finisher].
func (s *Store) SetResult(ctx context.Context, tx *driver.WriteTx, jobID string, result json.RawMessage) error {
	_, err := tx.ExecContext(ctx, updateResult, jobID, NullJSON(result))
	return err
}

// SelectWorkerJobs selects the running jobs of the worker $1, with [Columns].
var SelectWorkerJobs = `
SELECT ` + Columns + `
FROM /*q.*/jobs
WHERE state = 'running'
  AND worker_id = $1
ORDER BY id`

// Job implements [driver.Inspector].
func (s *Store) Job(ctx context.Context, jobID string) (*driver.Job, error) {
	jobs, err := s.jobs(ctx, selectJob, jobID)
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, driver.ErrJobNotFound
	}
	return &jobs[0], nil
}

// Jobs implements [driver.Inspector].
func (s *Store) Jobs(ctx context.Context, f driver.Filter) ([]driver.Job, error) {
	if err := driver.CheckStates(f.States); err != nil {
		return nil, err
	}
	if (&statement{dialect: s.Engine}).byState(f) {
		query, args := listNewest(s.Engine, f)
		if jobs, err := s.jobs(ctx, query, args...); err != nil || len(jobs) == f.Limit {
			return jobs, err
		}
	}
	query, args := ListJobs(s.Engine, f)
	return s.jobs(ctx, query, args...)
}

// JobIDs implements [driver.Inspector].
func (s *Store) JobIDs(ctx context.Context, f driver.Filter) ([]string, error) {
	if err := driver.CheckStates(f.States); err != nil {
		return nil, err
	}
	query, args := ListJobIDs(s.Engine, f)
	return read(ctx, s, ScanText, query, args...)
}

// Counts implements [driver.Inspector].
func (s *Store) Counts(ctx context.Context, f driver.Filter) (map[driver.State]int, error) {
	if err := driver.CheckStates(f.States); err != nil {
		return nil, err
	}
	query, args := CountJobs(s.Engine, f)
	return ScanCounts(s.Query(ctx, query, args...))
}

// Attempts implements [driver.Inspector].
func (s *Store) Attempts(ctx context.Context, jobID string) ([]driver.AttemptRecord, error) {
	return read(ctx, s, ScanAttempt, selectAttempts, jobID)
}

// Logs implements [driver.Inspector].
func (s *Store) Logs(ctx context.Context, jobID string) ([]driver.LogLine, error) {
	return read(ctx, s, ScanLogLine, selectLogs, jobID)
}

// Steps implements [driver.Stepper].
func (s *Store) Steps(ctx context.Context, jobID string) ([]driver.StepRecord, error) {
	return read(ctx, s, ScanStep, selectSteps, jobID)
}

// WorkerJobs implements [driver.Claimer].
func (s *Store) WorkerJobs(ctx context.Context, workerID string) ([]driver.Job, error) {
	return s.jobs(ctx, SelectWorkerJobs, workerID)
}

// FirstKeyExpiry implements [driver.Pruner].
func (s *Store) FirstKeyExpiry(ctx context.Context) (time.Time, error) {
	return s.instant(ctx, selectFirstKeyExpiry)
}

// FirstRate implements [driver.Pruner].
func (s *Store) FirstRate(ctx context.Context) (time.Time, error) {
	return s.instant(ctx, selectFirstRate)
}

func (s *Store) jobs(ctx context.Context, query string, args ...any) ([]driver.Job, error) {
	rows, err := s.Query(ctx, query, args...)
	return ScanJobs(rows, err, 0)
}

func (s *Store) instant(ctx context.Context, query string, args ...any) (time.Time, error) {
	found, err := read(ctx, s, ScanInstant, query, args...)
	if err != nil || len(found) == 0 {
		return time.Time{}, err
	}
	return found[0], nil
}

func read[T any](ctx context.Context, s *Store, scan func(Scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := s.Query(ctx, query, args...)
	return Collect(rows, err, scan)
}

// ReadSteps implements [driver.Stepper].
func (s *Store) ReadSteps(ctx context.Context, tx *driver.WriteTx, jobID string) ([]driver.StepRecord, error) {
	rows, err := tx.QueryContext(ctx, selectSteps, jobID)
	return Collect(rows, err, ScanStep)
}

// ReadJobs implements [driver.Finisher].
func (s *Store) ReadJobs(ctx context.Context, tx *driver.WriteTx, jobIDs []string) ([]driver.Job, error) {
	if len(jobIDs) == 0 {
		return nil, nil
	}
	list := s.about("SELECT "+Columns+"\nFROM /*q.*/jobs\nWHERE ", "id", jobIDs)
	rows, err := tx.QueryContext(ctx, list.text.String(), list.args...)
	return ScanJobs(rows, err, len(jobIDs))
}
