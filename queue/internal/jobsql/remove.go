package jobsql

import (
	"context"
	"database/sql"

	"github.com/postroom-go/postroom/queue/driver"
)

const (
	// Steps, attempts and logs go with their job.
	deleteFinished = `
DELETE FROM jobs
WHERE state IN ('completed', 'failed', 'canceled')
  AND hold <> ` + Moving + `
  AND `

	// By the keys first, which have an index: there may be very many.
	deleteKeys = `
DELETE FROM job_keys
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
func (s *Store) RemoveFinished(ctx context.Context, tx *driver.WriteTx, jobIDs []string) (ids []string, err error) {
	if len(jobIDs) == 0 {
		return nil, nil
	}
	jobs := s.about(deleteFinished, "id", jobIDs)
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
	if len(keys) == 0 {
		return ids, nil
	}
	list := s.about(deleteKeys, "key", keys)
	list.in("\n  AND ", "job_id", ids) // others may have taken a key since
	_, err = tx.ExecContext(ctx, list.text.String(), list.args...)
	return ids, err
}
