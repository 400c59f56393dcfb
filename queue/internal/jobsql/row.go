package jobsql

import (
	"database/sql"
	"encoding/json"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// Rows are several rows: *sql.Rows, or those of an engine.
type Rows interface {
	Scanner
	Next() bool
	Err() error
	Close() error
}

// A Scanner is a row: *sql.Row or *sql.Rows.
type Scanner interface{ Scan(dest ...any) error }

// ScanJob reads [Columns].
func ScanJob(row Scanner) (driver.Job, error) {
	var r jobReader
	r.add(allColumns)
	err := r.read(row)
	return r.job, err
}

// ScanJobs reads rows of [Columns], about as many as expected, and closes them. It returns nil when there are none.
func ScanJobs(rows Rows, err error, expected int) ([]driver.Job, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var r jobReader
	r.add(allColumns)
	var jobs []driver.Job
	for rows.Next() {
		if err := r.read(rows); err != nil {
			return nil, err
		}
		if jobs == nil {
			jobs = make([]driver.Job, 0, max(1, expected))
		}
		jobs = append(jobs, r.job)
	}
	return jobs, rows.Err()
}

// ScanStep reads job_id, name, attempt, started_at, finished_at, result_json.
func ScanStep(row Scanner) (driver.StepRecord, error) {
	var s driver.StepRecord
	var started, finished Instant
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
	var first Instant
	err := row.Scan(&t.Type, &first)
	t.First = first.Time
	return t, err
}

// ScanAttempt reads job_id, attempt, worker_id, kind, error, stack, started_at, finished_at.
func ScanAttempt(row Scanner) (driver.AttemptRecord, error) {
	var a driver.AttemptRecord
	var started, finished Instant
	err := row.Scan(&a.JobID, &a.Attempt, &a.WorkerID, &a.Kind, &a.Error, &a.Stack, &started, &finished)
	a.StartedAt, a.FinishedAt = started.Time, finished.Time
	return a, err
}

// ScanWorker reads id, beat, beat_at, types_json.
func ScanWorker(row Scanner) (driver.Worker, error) {
	var w driver.Worker
	var at Instant
	var types, version sql.NullString
	err := row.Scan(&w.ID, &w.Beat, &at, &types, &version)
	if types.Valid && json.Unmarshal([]byte(types.String), &w.Types) != nil {
		w.Types = nil // like an invalid [Instant]
	}
	w.BeatAt, w.Version = at.Time, version.String
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

// LeaseError returns the error for a lease on a job in that state and attempt; nil if the lease is held.
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

// ScanText reads one column of text.
func ScanText(row Scanner) (text string, err error) {
	err = row.Scan(&text)
	return text, err
}

// ScanInstant reads one column that holds an instant, or NULL.
func ScanInstant(row Scanner) (t time.Time, err error) {
	var at Instant
	err = row.Scan(&at)
	return at.Time, err
}
