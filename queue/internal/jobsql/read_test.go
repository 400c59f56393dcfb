package jobsql_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// whole is a job with something in every field.
var whole = driver.Job{
	ID: "01", Type: "t", Payload: []byte(`{"n":1}`), Priority: -3, State: driver.StateFailed, NotBefore: instantAt(1),
	Attempt: 6, Failures: 3, Interruptions: 2, Crashes: 1, MaxAttempts: 7, WorkerID: "w", Key: "k", KeyScope: driver.KeyForever,
	LimitKey: "l", UserID: "ada", Tags: []string{"x", "ü"}, ExpiresAt: instantAt(2), TraceParent: "00-1", Result: []byte(`"r"`),
	LastError: "broken", CreatedAt: instantAt(3), UpdatedAt: instantAt(4), StartedAt: instantAt(5), FinishedAt: instantAt(6),
}

func instantAt(minute int) time.Time {
	return time.Date(2026, 1, 2, 3, minute, 5, 678_000, time.UTC)
}

const insertWhole = `
INSERT INTO jobs (hold, id, type, payload_json, priority, state, not_before, attempt, failures, interruptions, crashes, max_attempts,
  worker_id, idempotency_key, key_scope, limit_key, user_id, tags_json, expires_at, trace, result_json, last_error,
  created_at, updated_at, started_at, finished_at)
VALUES (0, '01', 't', '{"n":1}', -3, 'failed', '2026-01-02T03:01:05.000678Z', 6, 3, 2, 1, 7,
  'w', 'k', 'forever', 'l', 'ada', '["x","ü"]', '2026-01-02T03:02:05.000678Z', '00-1', '"r"', 'broken',
  '2026-01-02T03:03:05.000678Z', '2026-01-02T03:04:05.000678Z', '2026-01-02T03:05:05.000678Z', '2026-01-02T03:06:05.000678Z')`

const insertBare = `
INSERT INTO jobs (hold, id, type, payload_json, priority, state, not_before, max_attempts, created_at, updated_at)
VALUES (0, '02', 't', 'null', 0, 'queued', '2026-01-02T03:01:05.000678Z', 5, '2026-01-02T03:03:05.000678Z', '2026-01-02T03:04:05.000678Z')`

var bare = driver.Job{
	ID: "02", Type: "t", Payload: []byte("null"), State: driver.StateQueued, NotBefore: instantAt(1), MaxAttempts: 5,
	CreatedAt: instantAt(3), UpdatedAt: instantAt(4),
}

func TestRowsAreReadByTheNamesOfTheirColumns(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		migrated(t, db, insertWhole, insertBare)
		rows, err := db.Reader().QueryContext(t.Context(), "SELECT "+jobsql.Columns+" FROM jobs ORDER BY id")
		jobs, err := jobsql.ScanJobs(rows, err, 1)
		require.NoError(t, err)
		require.Equal(t, []driver.Job{whole, bare}, jobs, "nothing of a row is left for the next")
		one, err := jobsql.ScanJob(db.Reader().QueryRowContext(t.Context(), "SELECT "+jobsql.Columns+" FROM jobs WHERE id = '01'"))
		require.NoError(t, err)
		require.Equal(t, whole, one)
	})
}

// A claim on SQLite reads what few jobs have as one column, and not what it is about to write.
func TestClaimedRowsAreReadByTheNamesOfTheirColumns(t *testing.T) {
	db := dbtest.SQLite(t)
	migrated(t, db, insertWhole, insertBare)
	rows, err := db.Reader().QueryContext(t.Context(), "SELECT "+jobsql.ClaimColumns+" FROM jobs ORDER BY id")
	jobs, numbers, err := jobsql.ScanClaimed(rows, err, 2)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2}, numbers)
	want := []driver.Job{whole, bare}
	for i := range want {
		j := &want[i]
		j.State, j.WorkerID, j.UpdatedAt, j.StartedAt, j.FinishedAt = "", "", time.Time{}, time.Time{}, time.Time{}
	}
	require.Equal(t, want, jobs)
}

func TestRowsThatCannotBeReadAreErrors(t *testing.T) {
	db := dbtest.SQLite(t)
	migrated(t, db, insertWhole)
	for _, damage := range []string{"tags_json = '{'", "expires_at = 'soon'"} {
		exec(t, db, "UPDATE jobs SET "+damage)
		rows, err := db.Reader().QueryContext(t.Context(), "SELECT "+jobsql.Columns+" FROM jobs")
		_, err = jobsql.ScanJobs(rows, err, 1)
		require.Error(t, err, damage)
		rows, err = db.Reader().QueryContext(t.Context(), "SELECT "+jobsql.ClaimColumns+" FROM jobs")
		_, _, err = jobsql.ScanClaimed(rows, err, 1)
		require.Error(t, err, damage)
		exec(t, db, "UPDATE jobs SET tags_json = NULL")
	}
}
