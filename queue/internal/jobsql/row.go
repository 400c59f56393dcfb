package jobsql

import (
	"database/sql"
	"encoding/json"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

// Rows are several rows: *sql.Rows, or those of an engine.
type Rows interface {
	Scanner
	Next() bool
	Err() error
	Close() error
}

// Columns are those of the table jobs in the order of [Job].
const Columns = `id, type, payload_json, priority, state, not_before,
  attempt, failures, interruptions, crashes, max_attempts, worker_id,
  idempotency_key, key_scope, limit_key, user_id, tags_json, expires_at, trace, result_json, last_error,
  created_at, updated_at, started_at, finished_at`

// A Scanner is a row: *sql.Row or *sql.Rows.
type Scanner interface{ Scan(dest ...any) error }

// ScanJob reads [Columns].
func ScanJob(row Scanner) (driver.Job, error) {
	var r jobReader
	return r.read(row)
}

// ScanJobs reads rows of [Columns], about as many as expected, and closes them.
func ScanJobs(rows Rows, err error, expected int) ([]driver.Job, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var r jobReader
	jobs := make([]driver.Job, 0, expected)
	for rows.Next() {
		job, err := r.read(rows)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, job)
	}
	return jobs, rows.Err()
}

// A jobReader is where the columns of one row after the other are put.
type jobReader struct {
	job                                                        driver.Job
	worker, key, scope, limitKey, user, tags, trace, lastError sql.NullString
	notBefore, expires, created, updated, started, finished    dbtime.Time
	payload, result                                            []byte
	dest                                                       []any
}

func (r *jobReader) read(row Scanner) (driver.Job, error) {
	j := &r.job
	*j = driver.Job{}
	if r.dest == nil {
		r.dest = []any{
			&j.ID, &j.Type, &r.payload, &j.Priority, &j.State, &r.notBefore,
			&j.Attempt, &j.Failures, &j.Interruptions, &j.Crashes, &j.MaxAttempts, &r.worker,
			&r.key, &r.scope, &r.limitKey, &r.user, &r.tags, &r.expires, &r.trace, &r.result, &r.lastError,
			&r.created, &r.updated, &r.started, &r.finished,
		}
	}
	if err := row.Scan(r.dest...); err != nil {
		return driver.Job{}, err
	}
	if r.tags.Valid {
		if err := json.Unmarshal([]byte(r.tags.String), &j.Tags); err != nil {
			return driver.Job{}, err
		}
	}
	j.Payload, j.Result = r.payload, r.result
	j.WorkerID, j.Key, j.KeyScope, j.LastError = r.worker.String, r.key.String, driver.KeyScope(r.scope.String), r.lastError.String
	j.LimitKey, j.UserID, j.TraceParent = r.limitKey.String, r.user.String, r.trace.String
	j.NotBefore, j.ExpiresAt, j.CreatedAt, j.UpdatedAt = r.notBefore.Time, r.expires.Time, r.created.Time, r.updated.Time
	j.StartedAt, j.FinishedAt = r.started.Time, r.finished.Time
	return *j, nil
}

// ScanStep reads job_id, name, attempt, started_at, finished_at, result_json.
func ScanStep(row Scanner) (driver.StepRecord, error) {
	var s driver.StepRecord
	var started, finished dbtime.Time
	var result []byte
	err := row.Scan(&s.JobID, &s.Name, &s.Attempt, &started, &finished, &result)
	s.StartedAt, s.FinishedAt = started.Time, finished.Time
	if finished.IsZero() {
		s.Cursor = result
	} else {
		s.Result = result
	}
	return s, err
}

// ScanFinishedType reads type, finished_at.
func ScanFinishedType(row Scanner) (driver.FinishedType, error) {
	var t driver.FinishedType
	var first dbtime.Time
	err := row.Scan(&t.Type, &first)
	t.First = first.Time
	return t, err
}

// ScanAttempt reads job_id, attempt, worker_id, kind, error, stack, started_at, finished_at.
func ScanAttempt(row Scanner) (driver.AttemptRecord, error) {
	var a driver.AttemptRecord
	var started, finished dbtime.Time
	err := row.Scan(&a.JobID, &a.Attempt, &a.WorkerID, &a.Kind, &a.Error, &a.Stack, &started, &finished)
	a.StartedAt, a.FinishedAt = started.Time, finished.Time
	return a, err
}

// ScanWorker reads id, beat, beat_at, types_json.
func ScanWorker(row Scanner) (driver.Worker, error) {
	var w driver.Worker
	var at dbtime.Time
	var types sql.NullString
	err := row.Scan(&w.ID, &w.Beat, &at, &types)
	if err == nil && types.Valid {
		err = json.Unmarshal([]byte(types.String), &w.Types)
	}
	w.BeatAt = at.Time
	return w, err
}

// Collect reads all rows and closes them, so that the next statement of a transaction finds the connection free.
func Collect[T any](rows Rows, err error, scan func(Scanner) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// ScanCounts reads state, count.
func ScanCounts(rows Rows, err error) (map[driver.State]int, error) {
	type line struct {
		state driver.State
		n     int
	}
	lines, err := Collect(rows, err, func(row Scanner) (l line, err error) {
		err = row.Scan(&l.state, &l.n)
		return l, err
	})
	counts := make(map[driver.State]int, len(lines))
	for _, l := range lines {
		counts[l.state] = l.n
	}
	return counts, err
}

// NullText is NULL for the empty string.
func NullText(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

// NullJSON is NULL for nil.
func NullJSON(b json.RawMessage) sql.NullString {
	return sql.NullString{String: string(b), Valid: b != nil}
}

// LeaseError tells what holds instead of a lease: nil when it is held by the job in that state and attempt.
func LeaseError(lease driver.Lease, state driver.State, attempt int) error {
	switch {
	case state != driver.StateRunning:
		return driver.ErrNotRunning
	case attempt != lease.Attempt:
		return driver.ErrLeaseLost
	}
	return nil
}

// NullTags is NULL for none, else a JSON array.
func NullTags(tags []string) sql.NullString {
	if len(tags) == 0 {
		return sql.NullString{}
	}
	b, err := json.Marshal(tags)
	return sql.NullString{String: string(b), Valid: err == nil}
}

// Hold is why a queued job may not be claimed.
type Hold int

// The holds; the order of the migrations' comment.
const (
	HoldNone      Hold = 0
	HoldScheduled Hold = 1
	HoldLimited   Hold = 2
)

// HoldFor is the hold of a job that becomes queued.
func HoldFor(notBefore, now time.Time, limitKey string) Hold {
	switch {
	case notBefore.After(now):
		return HoldScheduled
	case limitKey != "":
		return HoldLimited
	}
	return HoldNone
}

// ScanText reads one column of text.
func ScanText(row Scanner) (text string, err error) {
	err = row.Scan(&text)
	return text, err
}

// ScanInstant reads one column that holds an instant, or NULL.
func ScanInstant(row Scanner) (t time.Time, err error) {
	var at dbtime.Time
	err = row.Scan(&at)
	return at.Time, err
}
