package jobsql_test

import (
	"math"
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
	ID: "01", Type: "t", Payload: []byte(`{"n":1}`), State: driver.StateFailed,
	Options: driver.Options{
		Priority: -3, NotBefore: instantAt(1), MaxAttempts: 7, Key: driver.Key{Name: "k", Scope: driver.KeyForever},
		LimitKey: "l", UserID: "ada", Tags: []string{"x", "ü"}, ExpiresAt: instantAt(2),
	},
	Attempt: 6, Failures: 3, Interruptions: 2, Crashes: 1, WorkerID: "w", TraceParent: "00-1", Result: []byte(`"r"`),
	LastError: "broken", CreatedAt: instantAt(3), UpdatedAt: instantAt(4), StartedAt: instantAt(5),
	FinishedAt: instantAt(6),
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
	ID: "02", Type: "t", Payload: []byte("null"), State: driver.StateQueued,
	Options:   driver.Options{NotBefore: instantAt(1), MaxAttempts: 5},
	CreatedAt: instantAt(3), UpdatedAt: instantAt(4),
}

func TestRowsAreReadByTheNamesOfTheirColumns(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		migrated(t, db, insertWhole, insertBare)
		rows, err := db.Reader().QueryContext(t.Context(), "SELECT "+jobsql.Columns+" FROM jobs ORDER BY id")
		jobs, err := jobsql.ScanJobs(rows, err, 1)
		require.NoError(t, err)
		require.Equal(t, []driver.Job{whole, bare}, jobs, "nothing of a row is left for the next")
		one, err := jobsql.ScanJob(db.Reader().QueryRowContext(t.Context(), "SELECT "+jobsql.Columns+
			" FROM jobs WHERE id = '01'"))
		require.NoError(t, err)
		require.Equal(t, whole, one)
	})
}

// A claim on SQLite reads what few jobs have as one column, and not what it is about to write.
func TestClaimedRowsAreReadByTheNamesOfTheirColumns(t *testing.T) {
	db := dbtest.SQLite(t)
	migrated(t, db, insertWhole, insertBare)
	rows, err := db.Reader().QueryContext(t.Context(), "SELECT "+jobsql.ClaimColumns+" FROM jobs ORDER BY id")
	jobs, numbers, err := jobsql.ScanClaimed(rows, err, 2, 0)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2}, numbers)
	want := []driver.Job{whole, bare}
	for i := range want {
		j := &want[i]
		j.State, j.WorkerID, j.UpdatedAt, j.StartedAt, j.FinishedAt = "", "", time.Time{}, time.Time{}, time.Time{}
	}
	require.Equal(t, want, jobs)
}

// What somebody has written that cannot be read is left out, and the rest of the row is there.
func TestWhatCannotBeReadIsLeftOut(t *testing.T) {
	db := dbtest.SQLite(t)
	for damage, lost := range map[string]func(*driver.Job){
		"tags_json = '{'":     func(j *driver.Job) { j.Tags = nil },
		"tags_json = '[1]'":   func(j *driver.Job) { j.Tags = nil },
		"expires_at = 'soon'": func(j *driver.Job) { j.ExpiresAt = time.Time{} },
		"not_before = 'soon'": func(j *driver.Job) { j.NotBefore = time.Time{} },
		"crashes = 'many'":    func(j *driver.Job) { j.Crashes = math.MaxInt },
		"user_id = x'4142'":   func(j *driver.Job) { j.UserID = "AB" }, // which JSON cannot hold as it is
	} {
		migrated(t, db, "DELETE FROM jobs", insertWhole, "UPDATE jobs SET "+damage)
		want := whole
		lost(&want)
		rows, err := db.Reader().QueryContext(t.Context(), "SELECT "+jobsql.Columns+" FROM jobs")
		jobs, err := jobsql.ScanJobs(rows, err, 1)
		require.NoError(t, err, damage)
		require.Equal(t, []driver.Job{want}, jobs, damage)
		rows, err = db.Reader().QueryContext(t.Context(), "SELECT "+jobsql.ClaimColumns+" FROM jobs")
		claimed, _, err := jobsql.ScanClaimed(rows, err, 1, 0)
		require.NoError(t, err, damage)
		require.Equal(t, want.Options, claimed[0].Options, damage)
		require.Equal(t, want.Crashes, claimed[0].Crashes, damage)
	}
}
