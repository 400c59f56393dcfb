package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// Insert implements [queue.Enqueuer]: two or three statements, however many jobs.
func (db *DB) Insert(ctx context.Context, tx *queue.Tx, jobs []queue.InsertJob) ([]queue.InsertResult, error) {
	results, err := takeKeys(ctx, tx, jobs)
	if err != nil {
		return nil, err
	}
	var rows insertRows
	for i := range jobs {
		if !results[i].Duplicate {
			rows.add(&jobs[i], tx.Now())
		}
	}
	if len(rows.id) == 0 {
		return results, nil
	}
	_, err = tx.ExecContext(ctx, insertJobs, rows.id, rows.jobType, rows.payload, rows.priority, rows.scheduled, rows.notBefore,
		rows.maxAttempts, rows.key, rows.scope, tx.Now())
	return results, err
}

// insertRows are jobs as the columns of one statement.
type insertRows struct {
	id, jobType, payload  []string
	priority, maxAttempts []int
	scheduled             []bool
	notBefore             []time.Time
	key, scope            []string
}

func (r *insertRows) add(j *queue.InsertJob, now time.Time) {
	scheduled, notBefore := true, j.NotBefore
	if !notBefore.After(now) {
		scheduled, notBefore = false, now
	}
	r.id = append(r.id, j.ID)
	r.jobType = append(r.jobType, j.Type)
	r.payload = append(r.payload, string(j.Payload))
	r.priority = append(r.priority, j.Priority)
	r.maxAttempts = append(r.maxAttempts, j.MaxAttempts)
	r.scheduled = append(r.scheduled, scheduled)
	r.notBefore = append(r.notBefore, notBefore)
	r.key = append(r.key, j.Key.Name)
	r.scope = append(r.scope, string(j.Key.Scope))
}

// A holder is who has a key.
type holder struct{ key, jobID, fingerprint string }

// keyTries bounds how often a key that was taken and is free again before one can look is tried for.
const keyTries = 10

// takeKeys answers each job with itself, or with the holder of its key.
func takeKeys(ctx context.Context, tx *queue.Tx, jobs []queue.InsertJob) ([]queue.InsertResult, error) {
	results := make([]queue.InsertResult, len(jobs))
	var wanted []int
	for i := range jobs {
		results[i] = queue.InsertResult{ID: jobs[i].ID}
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
			results[i] = queue.InsertResult{ID: h.jobID, Duplicate: h.jobID != jobs[i].ID, Conflict: h.fingerprint != jobs[i].Fingerprint}
		}
		wanted = again
	}
	return nil, fmt.Errorf("key %q is taken and freed by others all the time", jobs[wanted[0]].Key.Name)
}

// tryKeys takes what is free and tells who has each key then.
func tryKeys(ctx context.Context, tx *queue.Tx, jobs []queue.InsertJob, wanted []int) (map[string]holder, error) {
	var keys, ids, scopes, fingerprints []string
	for _, i := range wanted {
		j := &jobs[i]
		keys = append(keys, j.Key.Name)
		ids = append(ids, j.ID)
		scopes = append(scopes, string(j.Key.Scope))
		fingerprints = append(fingerprints, j.Fingerprint)
	}
	if _, err := tx.ExecContext(ctx, insertKeys, keys, ids, scopes, fingerprints); err != nil {
		return nil, err
	}
	rows, err := tx.QueryxContext(ctx, selectKeys, keys)
	list, err := jobrow.Collect(rows, err, func(row jobrow.Scanner) (h holder, err error) {
		err = row.Scan(&h.key, &h.jobID, &h.fingerprint)
		return h, err
	})
	holders := make(map[string]holder, len(list))
	for _, h := range list {
		holders[h.key] = h
	}
	return holders, err
}
