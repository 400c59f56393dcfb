package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// A holder is the job that has a key.
type holder struct {
	key, jobID, fingerprint, jobType string
	scope                            driver.KeyScope
	expires                          time.Time
}

func scanHolder(row jobsql.Scanner) (h holder, err error) {
	var expires jobsql.Instant
	err = row.Scan(&h.key, &h.jobID, &h.scope, &h.fingerprint, &expires, &h.jobType)
	h.expires = expires.Time
	return h, err
}

// keyTries bounds the attempts to take a key that was taken, and free again before its holder could be read.
const keyTries = 10

// takeKeys returns for each job the job itself, or the holder of its key.
func takeKeys(ctx context.Context, tx *driver.WriteTx, jobs []driver.InsertJob) ([]driver.InsertResult, error) {
	results := make([]driver.InsertResult, len(jobs))
	var wanted []int
	for i := range jobs {
		results[i] = driver.InsertResult{ID: jobs[i].ID}
		if jobs[i].Key.Name != "" {
			wanted = append(wanted, i)
		}
	}
	for range keyTries {
		if len(wanted) == 0 {
			return results, nil
		}
		holders, err := tryKeys(ctx, tx, jobs, wanted)
		if err != nil {
			return nil, err
		}
		var again []int
		for _, i := range wanted {
			h, ok := holders[jobs[i].Key.Name]
			if !ok {
				again = append(again, i)
				continue
			}
			if results[i], err = h.answer(ctx, tx, &jobs[i]); err != nil {
				return nil, err
			}
		}
		wanted = again
	}
	return nil, fmt.Errorf("key %q is taken and freed by others all the time", jobs[wanted[0]].Key.Name)
}

func (h *holder) answer(ctx context.Context, tx *driver.WriteTx, job *driver.InsertJob) (driver.InsertResult, error) {
	result := driver.InsertResult{ID: h.jobID, Duplicate: h.jobID != job.ID, Conflict: h.fingerprint != job.Fingerprint}
	if !result.Conflict {
		return result, nil
	}
	holder, err := queryOne(ctx, tx, jobsql.ScanHolder, jobsql.SelectHolder, h.jobID)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	holder.Fingerprint, holder.Type = h.fingerprint, cmp.Or(holder.Type, h.jobType)
	result.Holder = &holder
	return result, err
}

// tryKeys takes the free keys and returns the holder of each key. A key that is free again by then has no holder.
func tryKeys(
	ctx context.Context, tx *driver.WriteTx, jobs []driver.InsertJob, wanted []int,
) (map[string]holder, error) {
	var keys, ids, scopes, fingerprints, types []string
	var expires []*time.Time
	first := make(map[string]bool, len(wanted)) // of a batch has a key
	for _, i := range wanted {
		j := &jobs[i]
		if first[j.Key.Name] {
			continue
		}
		first[j.Key.Name] = true
		keys = append(keys, j.Key.Name)
		ids = append(ids, j.ID)
		scopes = append(scopes, string(j.Key.Scope))
		fingerprints = append(fingerprints, j.Fingerprint)
		types = append(types, j.Type)
		var until time.Time
		if j.Key.Scope == driver.KeyPeriod {
			until = tx.Now().Add(j.Key.Period)
		}
		expires = append(expires, nullTime(until))
	}
	if err := later(ctx, tx, insertKeys, keys, ids, scopes, fingerprints, expires, types); err != nil {
		return nil, err
	}
	list, err := query(ctx, tx, scanHolder, selectKeys, keys)
	if err != nil {
		return nil, err
	}
	holders := make(map[string]holder, len(list))
	for _, h := range list {
		holders[h.key] = h
	}
	return holders, freeKeys(ctx, tx, holders, ids)
}

// freeKeys takes those out that are free again: whose time is over, and of scope coalesce whose jobs wait no more.
// Those that wait will until the transaction ends: what it writes is there when they begin. What a retried job has
// taken is its own.
func freeKeys(ctx context.Context, tx *driver.WriteTx, holders map[string]holder, taking []string) error {
	var waiting []string
	for _, h := range holders {
		if h.scope == driver.KeyCoalesce && !slices.Contains(taking, h.jobID) {
			waiting = append(waiting, h.jobID)
		}
	}
	begun, err := haveBegun(ctx, tx, waiting)
	if err != nil {
		return err
	}
	var keys, ids []string
	for key, h := range holders {
		if over := !h.expires.IsZero() && !h.expires.After(tx.Now()); over || begun[h.jobID] {
			keys, ids = append(keys, key), append(ids, h.jobID)
			delete(holders, key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return later(ctx, tx, dropKeys, keys, ids)
}

// haveBegun locks the jobs and returns which of them are queued no more. One whose state changes while it is waited for
// is looked at again.
func haveBegun(ctx context.Context, tx *driver.WriteTx, ids []string) (map[string]bool, error) {
	begun := make(map[string]bool, len(ids))
	for try := 0; try < keyTries && len(begun) < len(ids); try++ {
		_, err := query(ctx, tx, func(row jobsql.Scanner) (id string, err error) {
			var state driver.State
			err = row.Scan(&id, &state)
			begun[id] = state != driver.StateQueued
			return id, err
		}, lockHolders, ids)
		if err != nil {
			return nil, err
		}
	}
	return begun, nil
}

// takeKeysAgain is for coalescing jobs that wait again: each gets its key, or is canceled if another job waits under
// it.
func takeKeysAgain(ctx context.Context, tx *driver.WriteTx, ids, keys []string) error {
	jobs, err := query(ctx, tx, func(row jobsql.Scanner) (job driver.InsertJob, err error) {
		var payload []byte
		err = row.Scan(&job.ID, &job.Type, &payload, &job.Key.Name)
		job.Key.Scope, job.Fingerprint = driver.KeyCoalesce, driver.Fingerprint(job.Type, payload)
		return job, err
	}, selectAgain, ids)
	if err != nil {
		return err
	}
	if _, err := takeKeys(ctx, tx, jobs); err != nil {
		return err
	}
	return later(ctx, tx, supersedeJobs, tx.Now(), ids, keys)
}

const (
	// Keeps the jobs that wait from being claimed until the transaction ends, as several may, and those that have begun
	// from ending. Of these the transaction takes the key away, and it may go on to end them: two that had shared such
	// a row, both to have its key, would wait for each other. One that changes meanwhile is in neither list.
	lockHolders = `
SELECT id, state
FROM (
  SELECT id, state
  FROM /*q.*/jobs
  WHERE id = ANY($1)
    AND state = 'queued'
  ORDER BY id
  FOR SHARE) AS waiting
UNION ALL
SELECT id, state
FROM (
  SELECT id, state
  FROM /*q.*/jobs
  WHERE id = ANY($1)
    AND state <> 'queued'
  ORDER BY id
  FOR NO KEY UPDATE) AS begun`

	// Keys that are free again, unless another has taken them since. The order is that of insertKeys.
	dropKeys = `
DELETE FROM /*q.*/job_keys
WHERE key = ANY(ARRAY(
  SELECT job_keys.key
  FROM /*q.*/job_keys
  JOIN unnest($1::text[], $2::text[]) AS k (key, job_id) ON job_keys.key = k.key AND job_keys.job_id = k.job_id
  ORDER BY job_keys.key COLLATE "C"
  FOR UPDATE OF job_keys))`

	selectAgain = `
SELECT id, type, payload_json, idempotency_key
FROM /*q.*/jobs
WHERE id = ANY($1)`

	// Jobs that are queued again while others wait under their keys.
	supersedeJobs = `
UPDATE /*q.*/jobs
SET state = 'canceled',
  hold = ` + jobsql.None + `,
  last_error = 'superseded by ' || k.job_id,
  updated_at = $1,
  finished_at = $1
FROM unnest($2::text[], $3::text[]) AS again (id, key)
JOIN /*q.*/job_keys AS k ON k.key = again.key
WHERE jobs.id = again.id
  AND k.job_id <> again.id
  AND k.scope = 'coalesce'`
)
