package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// Insert implements [driver.Enqueuer].
func (db *DB) Insert(ctx context.Context, tx *driver.WriteTx, jobs []driver.InsertJob) ([]driver.InsertResult, error) {
	results := make([]driver.InsertResult, len(jobs))
	fresh := make([]*driver.InsertJob, 0, len(jobs))
	keys := newMarks()
	for i := range jobs {
		job := &jobs[i]
		results[i] = driver.InsertResult{ID: job.ID}
		if job.Key.Name != "" {
			holder, err := takeKey(ctx, tx, job.Key, job.ID, job.Fingerprint)
			if err != nil {
				return nil, err
			}
			if results[i] = holder; holder.Duplicate {
				continue
			}
		}
		keys.add(job.LimitKey)
		fresh = append(fresh, job)
	}
	limited, err := keys.limited(ctx, tx)
	if err != nil {
		return nil, err
	}
	for chunk := range slices.Chunk(fresh, maxRows) {
		if err := insert(ctx, tx, chunk, limited); err != nil {
			return nil, err
		}
	}
	return results, keys.write(ctx, tx)
}

// insertRow and insertPlainRow are how many values a job has behind the instant, which all share.
const insertRow, insertPlainRow = 14, 5

var insertStatements = valueStatements(insertJobs, "", 2, func(first int) string {
	var row strings.Builder
	row.WriteString("($1, $1")
	for i := range insertRow {
		if i == 4 {
			row.WriteString(", 'queued'")
		}
		fmt.Fprintf(&row, ", $%d", first+i)
	}
	return row.String() + ")"
}, insertRow)

// Most jobs are due and have nothing but a type and a payload; each value less that is bound makes them cheaper.
var insertPlainStatements = valueStatements(insertPlainJobs, "", 2, func(first int) string {
	return fmt.Sprintf("($1, $1, 'queued', "+jobsql.None+", $1, $%d, $%d, $%d, $%d, $%d)", first, first+1, first+2, first+3, first+4)
}, insertPlainRow)

// insert keeps jobs with a limit key waiting where keys are limited.
func insert(ctx context.Context, tx *driver.WriteTx, jobs []*driver.InsertJob, limited bool) error {
	now := dbtime.Format(tx.Now())
	if !slices.ContainsFunc(jobs, func(job *driver.InsertJob) bool { return !plainJob(job, tx.Now()) }) {
		args := make([]any, 1, len(jobs)*insertPlainRow+1)
		args[0] = now
		for _, job := range jobs {
			args = append(args, job.ID, job.Type, string(job.Payload), job.Priority, job.MaxAttempts)
		}
		_, err := tx.ExecContext(ctx, insertPlainStatements[len(jobs)], args...)
		return err
	}
	args := make([]any, 1, len(jobs)*insertRow+1)
	args[0] = now
	for _, job := range jobs {
		hold, notBefore := jobsql.HoldFor(job.NotBefore, tx.Now(), job.LimitKey), now
		switch {
		case hold == driver.HoldScheduled:
			notBefore = dbtime.Format(job.NotBefore)
		case !limited:
			hold = driver.HoldNone
		}
		args = append(args, job.ID, job.Type, string(job.Payload), job.Priority, int(hold), notBefore, job.MaxAttempts,
			null(job.Key.Name), null(string(job.Key.Scope)), null(job.LimitKey), null(job.UserID),
			jobsql.NullTags(job.Tags), dbtime.Of(job.ExpiresAt), null(job.TraceParent))
	}
	_, err := tx.ExecContext(ctx, insertStatements[len(jobs)], args...)
	return err
}

// plainJob: it is due, and all its rare columns are NULL.
func plainJob(job *driver.InsertJob, now time.Time) bool {
	return !job.NotBefore.After(now) && job.Key.Name == "" && job.LimitKey == "" && job.UserID == "" &&
		len(job.Tags) == 0 && job.ExpiresAt.IsZero() && job.TraceParent == ""
}

// null is NULL for the empty string.
func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// takeKey answers with the holder when the key is taken by another job.
func takeKey(ctx context.Context, tx *driver.WriteTx, key driver.Key, jobID, fingerprint string) (driver.InsertResult, error) {
	var expires time.Time
	if key.Scope == driver.KeyPeriod {
		expires = tx.Now().Add(key.Period)
	}
	res, err := tx.ExecContext(ctx, insertKey, key.Name, jobID, string(key.Scope), fingerprint, dbtime.Of(expires), dbtime.Of(tx.Now()))
	if err != nil {
		return driver.InsertResult{}, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return driver.InsertResult{ID: jobID}, err
	}
	var id, holds string
	if err := tx.QueryRowContext(ctx, selectKey, key.Name).Scan(&id, &holds); err != nil {
		return driver.InsertResult{}, err
	}
	result := driver.InsertResult{ID: id, Duplicate: id != jobID}
	if result.Conflict = holds != fingerprint; result.Conflict {
		result.Holder, err = holder(ctx, tx, id, holds)
	}
	return result, err
}

func holder(ctx context.Context, tx *driver.WriteTx, jobID, fingerprint string) (*driver.KeyHolder, error) {
	h := &driver.KeyHolder{Fingerprint: fingerprint}
	var payload []byte
	err := tx.QueryRowContext(ctx, selectHolder, jobID).Scan(&h.Type, &payload)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	h.Payload = payload
	return h, err
}
