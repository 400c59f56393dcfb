package queueadmin

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// A sourceRow is a row as [Mapping].selectRows reads it.
type sourceRow struct {
	id, jobType, state, payload, result, key, limitKey, userID, lastError sql.NullString
	priority, attempts, retries, maxAttempts, maxRetries                  sourceNumber
	notBefore, expiresAt, createdAt, updatedAt, startedAt, finishedAt     sourceTime
}

func (r *sourceRow) dest() []any {
	return []any{
		&r.id, &r.jobType, &r.state, &r.payload, &r.result, &r.priority, &r.attempts, &r.retries, &r.maxAttempts,
		&r.maxRetries, &r.notBefore, &r.expiresAt, &r.key, &r.limitKey, &r.userID, &r.lastError, &r.createdAt,
		&r.updatedAt, &r.startedAt, &r.finishedAt,
	}
}

// A sourceNumber is a number of another queue. A value that is none is an error of its row, not of the whole import.
type sourceNumber struct {
	sql.NullInt64
	fault error
}

// Scan implements sql.Scanner.
func (n *sourceNumber) Scan(src any) error {
	if err := n.NullInt64.Scan(src); err != nil {
		if text, ok := src.([]byte); ok {
			src = string(text)
		}
		n.fault = fmt.Errorf("%.100q is no whole number", fmt.Sprint(src))
	}
	return nil
}

// A sourceTime is a time of another queue. A value that is none is an error of its row, not of the whole import.
type sourceTime struct {
	time.Time
	fault error
}

// layouts are those of texts. Without a zone they are UTC.
var layouts = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999Z07", "2006-01-02 15:04:05",
	"2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02", "2006-01-02 15:04:05.999999999 -0700 MST",
}

// Scan implements sql.Scanner.
func (t *sourceTime) Scan(src any) error {
	switch v := src.(type) {
	case nil:
	case time.Time:
		t.Time = v.UTC()
	case int64:
		t.since1970(float64(v))
	case float64:
		t.since1970(v)
	case []byte:
		t.parse(string(v))
	case string:
		t.parse(v)
	default:
		t.fault = fmt.Errorf("a %T is no time", src)
	}
	if y := t.Year(); t.fault == nil && (y < 1 || y > 9999) {
		t.fault = fmt.Errorf("%v is not within the years 1 and 9999", src)
	}
	return nil
}

// Seconds since 1970 in the years 1 and 9999.
const (
	firstSecond = -62135596800
	lastSecond  = 253402300799
)

func (t *sourceTime) since1970(v float64) {
	if !(v >= firstSecond && v <= lastSecond) { // not NaN either
		t.fault = fmt.Errorf("%v is no number of seconds since 1970 in the years 1 and 9999", v)
		return
	}
	seconds, part := math.Modf(v)
	t.Time = time.Unix(int64(seconds), int64(part*1e9)).UTC()
}

func (t *sourceTime) parse(text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil {
			t.Time = at.UTC()
			return
		}
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		t.since1970(seconds)
		return
	}
	t.fault = fmt.Errorf("%q is no time", text)
}

// maxImportedID is the most bytes of an id.
const maxImportedID = 100

// job makes a job of the row, in one of the states of this queue or [StateSkip].
func (r *sourceRow) job(m *Mapping, now time.Time) (queue.Job, error) {
	job := queue.Job{ID: r.id.String, Type: r.jobType.String, State: m.States[r.state.String]}
	if job.State == StateSkip {
		return job, nil
	}
	if err := r.fault(); err != nil {
		return job, err
	}
	job.Payload = json.RawMessage("null")
	if r.payload.Valid {
		job.Payload = json.RawMessage(r.payload.String)
	}
	if r.result.Valid && job.State == queue.StateCompleted {
		job.Result = json.RawMessage(r.result.String)
	}
	job.Priority, job.LastError = int(r.priority.Int64), r.lastError.String
	job.LimitKey, job.UserID = r.limitKey.String, r.userID.String
	if r.key.String != "" {
		job.Key.Name, job.Key.Scope = r.key.String, m.scope()
	}
	r.count(&job)
	r.times(&job, now)
	return job, nil
}

// fault is why the row is no job.
func (r *sourceRow) fault() error {
	for _, t := range []struct {
		name string
		sourceTime
	}{
		{"NotBefore", r.notBefore}, {"ExpiresAt", r.expiresAt}, {"CreatedAt", r.createdAt}, {"UpdatedAt", r.updatedAt},
		{"StartedAt", r.startedAt}, {"FinishedAt", r.finishedAt},
	} {
		if t.fault != nil {
			return fmt.Errorf("%s: %w", t.name, t.fault)
		}
	}
	for _, n := range []struct {
		name string
		sourceNumber
	}{
		{"Priority", r.priority}, {"Attempts", r.attempts}, {"Retries", r.retries}, {"MaxAttempts", r.maxAttempts},
		{"MaxRetries", r.maxRetries},
	} {
		if n.fault != nil {
			return fmt.Errorf("%s: %w", n.name, n.fault)
		}
	}
	switch {
	case !isText(r.id.String):
		return errors.New("its id holds bytes that are no text")
	case r.id.String == "" || len(r.id.String) > maxImportedID:
		return fmt.Errorf("its id has %d bytes; it must have 1 to %d", len(r.id.String), maxImportedID)
	case r.payload.Valid && !json.Valid([]byte(r.payload.String)):
		return errors.New("its payload is not JSON")
	case r.result.Valid && !json.Valid([]byte(r.result.String)):
		return errors.New("its result is not JSON")
	}
	return nil
}

func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// count sets the attempts and failures. A queued job has at least one attempt left.
func (r *sourceRow) count(job *queue.Job) {
	bounded := func(n int64) int { return int(max(0, min(n, driver.LastAttempt/2))) }
	job.MaxAttempts = 5
	switch {
	case r.maxAttempts.Valid:
		job.MaxAttempts = bounded(r.maxAttempts.Int64)
	case r.maxRetries.Valid:
		job.MaxAttempts = bounded(r.maxRetries.Int64) + 1
	}
	job.MaxAttempts = max(1, min(job.MaxAttempts, 1000))
	job.Failures = bounded(r.retries.Int64)
	job.Attempt = job.Failures
	if r.attempts.Valid {
		job.Attempt = bounded(r.attempts.Int64)
		job.Failures = job.Attempt
	}
	switch job.State {
	case queue.StateCompleted:
		if r.attempts.Valid {
			job.Failures = max(0, job.Attempt-1)
		}
		job.Attempt = max(job.Attempt, job.Failures+1)
	case queue.StateFailed:
		job.Failures = max(1, job.Failures)
		job.Attempt = max(job.Attempt, job.Failures)
	case queue.StateQueued:
		job.Failures = min(job.Failures, job.MaxAttempts-1)
	}
}

func (r *sourceRow) times(job *queue.Job, now time.Time) {
	or := func(t sourceTime, others ...time.Time) time.Time {
		at := t.Time
		for _, other := range others {
			if at.IsZero() {
				at = other
			}
		}
		return dbtime.Truncate(at)
	}
	now = dbtime.Truncate(now)
	job.CreatedAt = or(r.createdAt, r.notBefore.Time, now)
	job.UpdatedAt = or(r.updatedAt, r.finishedAt.Time, job.CreatedAt)
	job.NotBefore = or(r.notBefore, job.CreatedAt)
	job.ExpiresAt = or(r.expiresAt)
	if job.State == queue.StateCompleted || job.Attempt > 0 {
		job.StartedAt = or(r.startedAt, job.UpdatedAt)
	}
	if job.State.Finished() {
		job.FinishedAt = or(r.finishedAt, r.updatedAt.Time, now)
	}
}

// jobRow is a job as a row of the table of jobs, held like one that moves if it is queued.
func jobRow(job *driver.InsertJob) driver.Rows {
	hold := int64(driver.HoldNone)
	if job.State == driver.StateQueued {
		hold = int64(driver.HoldMoving)
	}
	return rowOf(
		"id", job.ID, "type", job.Type, "payload_json", string(job.Payload), "priority", int64(job.Priority),
		"state", string(job.State), "hold", hold, "not_before", job.NotBefore, "attempt", int64(job.Attempt),
		"failures", int64(job.Failures), "interruptions", int64(0), "crashes", int64(0),
		"max_attempts", int64(job.MaxAttempts), "idempotency_key", null(job.Key.Name),
		"key_scope", null(string(job.Key.Scope)), "limit_key", null(job.LimitKey), "user_id", null(job.UserID),
		"expires_at", nullTime(job.ExpiresAt), "result_json", null(string(job.Result)), "last_error", null(job.LastError),
		"created_at", job.CreatedAt, "updated_at", job.UpdatedAt, "started_at", nullTime(job.StartedAt),
		"finished_at", nullTime(job.FinishedAt))
}

func keyRow(job *driver.InsertJob) driver.Rows {
	return rowOf("key", job.Key.Name, "job_id", job.ID, "scope", string(job.Key.Scope), "fingerprint", job.Fingerprint,
		"type", job.Type)
}

// rowOf is a row of names and values in turn.
func rowOf(pairs ...any) driver.Rows {
	rows := driver.Rows{Values: [][]any{nil}}
	for pair := range slices.Chunk(pairs, 2) {
		name, _ := pair[0].(string)
		rows.Columns = append(rows.Columns, name)
		rows.Values[0] = append(rows.Values[0], pair[1])
	}
	return rows
}

func null(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func nullTime(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t
}
