package jobsql

import (
	"database/sql"
	"encoding/json"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

// ClaimColumns are those of a queued job that a claim cannot know, in the order of [Claimable], and the row's number. What
// few jobs have is one column, so that the others do not pay for it.
const ClaimColumns = `rowid, id, type, payload_json, priority, not_before, attempt, failures, interruptions, crashes, max_attempts,
  created_at, CASE
    WHEN COALESCE(idempotency_key, limit_key, user_id, tags_json, expires_at, trace, result_json, last_error) IS NOT NULL
    THEN json_array(idempotency_key, key_scope, limit_key, user_id, tags_json, expires_at, trace, result_json, last_error)
  END`

// ScanClaimed reads rows of [ClaimColumns], about as many as expected, and closes them.
func ScanClaimed(rows Rows, err error, expected int) (jobs []driver.Job, numbers []int64, _ error) {
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	var (
		job                driver.Job
		payload            []byte
		notBefore, created dbtime.Time
		rare               sql.RawBytes
		number             int64
		dest               = []any{
			&number, &job.ID, &job.Type, &payload, &job.Priority, &notBefore,
			&job.Attempt, &job.Failures, &job.Interruptions, &job.Crashes, &job.MaxAttempts, &created, &rare,
		}
	)
	jobs, numbers = make([]driver.Job, 0, expected), make([]int64, 0, expected)
	for rows.Next() {
		job = driver.Job{}
		if err := rows.Scan(dest...); err != nil {
			return nil, nil, err
		}
		job.Payload, job.NotBefore, job.CreatedAt = payload, notBefore.Time, created.Time
		if err := addRare(&job, rare); err != nil {
			return nil, nil, err
		}
		jobs, numbers = append(jobs, job), append(numbers, number)
	}
	return jobs, numbers, rows.Err()
}

func addRare(job *driver.Job, columns []byte) error {
	if columns == nil {
		return nil
	}
	var values []*string
	if err := json.Unmarshal(columns, &values); err != nil {
		return err
	}
	var scope, tags, expires, result string
	for i, to := range []*string{
		&job.Key, &scope, &job.LimitKey, &job.UserID, &tags, &expires, &job.TraceParent, &result, &job.LastError,
	} {
		if values[i] != nil {
			*to = *values[i]
		}
	}
	job.KeyScope = driver.KeyScope(scope)
	if result != "" {
		job.Result = json.RawMessage(result)
	}
	if tags != "" {
		if err := json.Unmarshal([]byte(tags), &job.Tags); err != nil {
			return err
		}
	}
	if expires == "" {
		return nil
	}
	var at dbtime.Time
	err := at.Scan(expires)
	job.ExpiresAt = at.Time
	return err
}
