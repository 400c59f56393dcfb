package sqlite

import (
	"context"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// Insert implements [queue.Enqueuer].
func (db *DB) Insert(ctx context.Context, tx *queue.Tx, jobs []queue.InsertJob) ([]queue.InsertResult, error) {
	results := make([]queue.InsertResult, len(jobs))
	for i := range jobs {
		result, err := insert(ctx, tx, &jobs[i])
		if err != nil {
			return nil, err
		}
		results[i] = result
	}
	return results, nil
}

func insert(ctx context.Context, tx *queue.Tx, job *queue.InsertJob) (queue.InsertResult, error) {
	if job.Key.Name != "" {
		holder, err := takeKey(ctx, tx, job.Key, job.ID, job.Fingerprint)
		if err != nil || holder.Duplicate {
			return holder, err
		}
	}
	scheduled, notBefore := 1, job.NotBefore
	if !notBefore.After(tx.Now()) {
		scheduled, notBefore = 0, tx.Now()
	}
	_, err := tx.ExecContext(ctx, insertJob, job.ID, job.Type, string(job.Payload), job.Priority, scheduled, dbtime.Of(notBefore),
		job.MaxAttempts, jobrow.NullText(job.Key.Name), jobrow.NullText(string(job.Key.Scope)), dbtime.Of(tx.Now()))
	return queue.InsertResult{ID: job.ID}, err
}

// takeKey answers with the holder when the key is taken by another job.
func takeKey(ctx context.Context, tx *queue.Tx, key queue.Key, jobID, fingerprint string) (queue.InsertResult, error) {
	res, err := tx.ExecContext(ctx, insertKey, key.Name, jobID, string(key.Scope), fingerprint)
	if err != nil {
		return queue.InsertResult{}, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return queue.InsertResult{ID: jobID}, err
	}
	var holder, holds string
	if err := tx.QueryRowxContext(ctx, selectKey, key.Name).Scan(&holder, &holds); err != nil {
		return queue.InsertResult{}, err
	}
	return queue.InsertResult{ID: holder, Duplicate: holder != jobID, Conflict: holds != fingerprint}, nil
}
