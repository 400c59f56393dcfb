// Package jobrow reads the queue's rows, which are the same on every engine.
package jobrow

import (
	"database/sql"
	"encoding/json"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// Rows are several rows: *sqlx.Rows, or those of an engine.
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

// A Scanner is a row: *sqlx.Row or *sqlx.Rows.
type Scanner interface{ Scan(dest ...any) error }

// Job reads [Columns].
func Job(row Scanner) (queue.Job, error) {
	var r jobReader
	return r.read(row)
}

// Jobs reads rows of [Columns], about as many as expected, and closes them.
func Jobs(rows Rows, err error, expected int) ([]queue.Job, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var r jobReader
	jobs := make([]queue.Job, 0, expected)
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
	job                                                        queue.Job
	worker, key, scope, limitKey, user, tags, trace, lastError sql.NullString
	notBefore, expires, created, updated, started, finished    dbtime.Time
	payload, result                                            []byte
	dest                                                       []any
}

func (r *jobReader) read(row Scanner) (queue.Job, error) {
	j := &r.job
	*j = queue.Job{}
	if r.dest == nil {
		r.dest = []any{
			&j.ID, &j.Type, &r.payload, &j.Priority, &j.State, &r.notBefore,
			&j.Attempt, &j.Failures, &j.Interruptions, &j.Crashes, &j.MaxAttempts, &r.worker,
			&r.key, &r.scope, &r.limitKey, &r.user, &r.tags, &r.expires, &r.trace, &r.result, &r.lastError,
			&r.created, &r.updated, &r.started, &r.finished,
		}
	}
	if err := row.Scan(r.dest...); err != nil {
		return queue.Job{}, err
	}
	if r.tags.Valid {
		if err := json.Unmarshal([]byte(r.tags.String), &j.Tags); err != nil {
			return queue.Job{}, err
		}
	}
	j.Payload, j.Result = r.payload, r.result
	j.WorkerID, j.Key, j.KeyScope, j.LastError = r.worker.String, r.key.String, queue.KeyScope(r.scope.String), r.lastError.String
	j.LimitKey, j.UserID, j.TraceParent = r.limitKey.String, r.user.String, r.trace.String
	j.NotBefore, j.ExpiresAt, j.CreatedAt, j.UpdatedAt = r.notBefore.Time, r.expires.Time, r.created.Time, r.updated.Time
	j.StartedAt, j.FinishedAt = r.started.Time, r.finished.Time
	return *j, nil
}

// Step reads job_id, name, attempt, started_at, finished_at, result_json.
func Step(row Scanner) (queue.StepRecord, error) {
	var s queue.StepRecord
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

// FinishedType reads type, finished_at.
func FinishedType(row Scanner) (queue.FinishedType, error) {
	var t queue.FinishedType
	var first dbtime.Time
	err := row.Scan(&t.Type, &first)
	t.First = first.Time
	return t, err
}

// Attempt reads job_id, attempt, worker_id, kind, error, stack, started_at, finished_at.
func Attempt(row Scanner) (queue.AttemptRecord, error) {
	var a queue.AttemptRecord
	var started, finished dbtime.Time
	err := row.Scan(&a.JobID, &a.Attempt, &a.WorkerID, &a.Kind, &a.Error, &a.Stack, &started, &finished)
	a.StartedAt, a.FinishedAt = started.Time, finished.Time
	return a, err
}

// Worker reads id, beat, beat_at, types_json.
func Worker(row Scanner) (queue.Worker, error) {
	var w queue.Worker
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

// Counts reads state, count.
func Counts(rows Rows, err error) (map[queue.State]int, error) {
	type line struct {
		state queue.State
		n     int
	}
	lines, err := Collect(rows, err, func(row Scanner) (l line, err error) {
		err = row.Scan(&l.state, &l.n)
		return l, err
	})
	counts := make(map[queue.State]int, len(lines))
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

// Lease tells what holds instead of a lease: nil when it is held by the job in that state and attempt.
func Lease(lease queue.Lease, state queue.State, attempt int) error {
	switch {
	case state != queue.StateRunning:
		return queue.ErrNotRunning
	case attempt != lease.Attempt:
		return queue.ErrLeaseLost
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
