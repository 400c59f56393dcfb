package sqlite

import (
	"database/sql"
	"encoding/json"

	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// scanner is a row: *sqlx.Row or *sqlx.Rows.
type scanner interface{ Scan(dest ...any) error }

func scanJob(row scanner) (queue.Job, error) {
	var j queue.Job
	var worker, key, scope, lastError sql.NullString
	var payload, result []byte
	var notBefore, created, updated, started, finished dbtime.Time
	err := row.Scan(&j.ID, &j.Type, &payload, &j.Priority, &j.State, &notBefore,
		&j.Attempt, &j.Failures, &j.Interruptions, &j.Crashes, &j.MaxAttempts, &worker,
		&key, &scope, &result, &lastError,
		&created, &updated, &started, &finished)
	j.Payload, j.Result = payload, result
	j.WorkerID, j.Key, j.KeyScope, j.LastError = worker.String, key.String, queue.KeyScope(scope.String), lastError.String
	j.NotBefore, j.CreatedAt, j.UpdatedAt = notBefore.Time, created.Time, updated.Time
	j.StartedAt, j.FinishedAt = started.Time, finished.Time
	return j, err
}

func scanStep(row scanner) (queue.StepRecord, error) {
	var s queue.StepRecord
	var started, finished dbtime.Time
	var result []byte
	err := row.Scan(&s.JobID, &s.Name, &s.Attempt, &started, &finished, &result)
	s.StartedAt, s.FinishedAt, s.Result = started.Time, finished.Time, result
	return s, err
}

func scanAttempt(row scanner) (queue.AttemptRecord, error) {
	var a queue.AttemptRecord
	var started, finished dbtime.Time
	err := row.Scan(&a.JobID, &a.Attempt, &a.WorkerID, &a.Kind, &a.Error, &a.Stack, &started, &finished)
	a.StartedAt, a.FinishedAt = started.Time, finished.Time
	return a, err
}

func scanWorker(row scanner) (queue.Worker, error) {
	var w queue.Worker
	var at dbtime.Time
	err := row.Scan(&w.ID, &w.Beat, &at)
	w.BeatAt = at.Time
	return w, err
}

// collect reads all rows and closes them, so that the next statement of a transaction finds the connection free.
func collect[T any](rows *sqlx.Rows, err error, scan func(scanner) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err below says what there is to say
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

// list is a list of strings as a statement's argument, read there with json_each.
func list[S ~string](values []S) string {
	if len(values) == 0 {
		return "[]"
	}
	b, err := json.Marshal(values)
	if err != nil {
		panic(err) // strings always marshal
	}
	return string(b)
}

func nullText(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

func nullJSON(b json.RawMessage) sql.NullString {
	return sql.NullString{String: string(b), Valid: b != nil}
}
