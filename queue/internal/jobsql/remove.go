package jobsql

import (
	"context"
	"database/sql"

	"github.com/postroom-go/postroom/queue/driver"
)

const (
	// Steps, attempts and logs go with their job.
	deleteFinished = `
DELETE FROM /*q.*/jobs
WHERE hold <> ` + Moving

	// By the keys first, which have an index: there may be very many.
	deleteKeys = `
DELETE FROM /*q.*/job_keys
WHERE `
)

var _ driver.Remover = (*Store)(nil)

// A removed job may have a key.
type removed struct {
	id  string
	key sql.NullString
}

func scanRemoved(row Scanner) (r removed, err error) {
	err = row.Scan(&r.id, &r.key)
	return r, err
}

// RemoveFinished implements [driver.Remover].
func (s *Store) RemoveFinished(
	ctx context.Context, tx *driver.WriteTx, req driver.RemoveRequest,
) (ids []string, err error) {
	if len(req.JobIDs) == 0 {
		return nil, nil
	}
	states := make([]string, len(req.States))
	for i, state := range req.States {
		if err := driver.CheckFinished(state); err != nil {
			return nil, err
		}
		states[i] = string(state)
	}
	jobs := s.about(deleteFinished+"\n  AND ", "id", req.JobIDs)
	// An expression, so that no index of states is taken for that of the ids.
	jobs.in("\n  AND ", "state || ''", states)
	if !req.Keys {
		jobs.add("\n  AND " + NodeHasEnded)
	}
	jobs.add("\nRETURNING id, idempotency_key")
	rows, err := queryRows(ctx, tx, scanRemoved, jobs.text.String(), jobs.args...)
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, r := range rows {
		ids = append(ids, r.id)
		if r.key.Valid {
			keys = append(keys, r.key.String)
		}
	}
	if len(keys) == 0 || !req.Keys {
		return ids, nil
	}
	list := s.about(deleteKeys, "key", keys)
	list.in("\n  AND ", "job_id", ids) // others may have taken a key since
	_, err = tx.ExecContext(ctx, list.text.String(), list.args...)
	return ids, err
}

const selectJobErrors = `
SELECT id, type, state, last_error, updated_at
FROM /*q.*/jobs
WHERE last_error IS NOT NULL
  AND `

var _ driver.ErrorReader = (*Store)(nil)

// JobErrors implements [driver.ErrorReader].
func (s *Store) JobErrors(ctx context.Context, jobIDs []string) ([]driver.JobError, error) {
	if len(jobIDs) == 0 {
		return nil, nil
	}
	list := s.about(selectJobErrors, "id", jobIDs)
	return read(ctx, s, func(row Scanner) (e driver.JobError, err error) {
		var at Instant
		err = row.Scan(&e.JobID, &e.Type, &e.State, &e.Error, &at)
		e.At = at.Time
		return e, err
	}, list.text.String(), list.args...)
}
