package sqlite

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/joblimit"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// Jobs with a limit key wait separately (driver.HoldLimited) as soon as any key is limited, so that jobs that cannot
// run do not delay others. Claims take them directly, those of each key and type in order. The claiming transaction
// counts the capacity of each key whose jobs it takes: limits rest on that. The heads (see heads.go) record which keys
// have capacity, and where their jobs begin, so that a claim need not examine all keys. Every change of a key's waiting
// jobs, or of its capacity from none to some, marks the key in the same transaction. A later claim examines the marked
// keys before all others, and corrects their heads. Two changes need no mark: a job that comes to an open key, or to
// one without waiting or running jobs, is a head at once; and a claim examines the keys of jobs that end in its own
// transaction.

// marks are keys to examine.
type marks map[string]struct{}

func newMarks() marks { return make(marks) }

// add ignores the empty key.
func (m marks) add(key string) {
	if key != "" {
		m[key] = struct{}{}
	}
}

func (m marks) list() []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	return keys
}

// limited reports whether any key is limited; coalescing keys always are.
func (m marks) limited(ctx context.Context, tx *driver.WriteTx) (limited bool, err error) {
	if len(m) == 0 {
		return false, nil
	}
	for key := range m {
		if strings.HasPrefix(key, driver.CoalescePrefix) {
			_, err := tx.ExecContext(ctx, jobsql.LimitCoalesced, dbtime.Of(tx.Now()))
			return true, err
		}
	}
	err = scanRow(ctx, tx, selectKeysLimited, nil, &limited)
	return limited, err
}

// write marks keys whose waiting jobs have changed.
func (m marks) write(ctx context.Context, tx *driver.WriteTx) error {
	return m.writeBy(ctx, tx, markChanged)
}

// writeFreed marks the keys that may have capacity after they had none. A key that had capacity needs no mark.
func (m marks) writeFreed(ctx context.Context, tx *driver.WriteTx) error {
	return m.writeBy(ctx, tx, markFreed)
}

// free returns those keys of which all jobs that wait have heads and which may have capacity, so that a job that comes
// needs a head, and the key no mark.
func (m marks) free(ctx context.Context, tx *driver.WriteTx) (marks, error) {
	rows, err := tx.QueryContext(ctx, selectFree, list(m.list()))
	return collectKeys(rows, err)
}

// shut returns those keys that have no head, and jobs that wait.
func (m marks) shut(ctx context.Context, tx *driver.WriteTx) (marks, error) {
	if len(m) == 0 {
		return m, nil
	}
	rows, err := tx.QueryContext(ctx, selectShut, list(m.list()))
	return collectKeys(rows, err)
}

func (m marks) writeBy(ctx context.Context, tx *driver.WriteTx, statement string) error {
	if len(m) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, statement, dbtime.Of(joblimit.AtOnce), list(m.list()))
	return err
}

// takeMarks removes the marks that have been due for longest.
func takeMarks(ctx context.Context, tx *driver.WriteTx, now time.Time, n int) (marks, error) {
	rows, err := tx.QueryContext(ctx, deleteMarks, dbtime.Of(now), n)
	return collectKeys(rows, err)
}

// collectKeys reads rows of limit keys.
func collectKeys(rows *sql.Rows, err error) (marks, error) {
	keys, err := jobsql.Collect(rows, err, limitKey)
	m := newMarks()
	for _, key := range keys {
		m.add(key)
	}
	return m, err
}

// keyIsOpen is jobsql.Store.KeyIsOpen: claims take the jobs of a key from its heads.
const keyIsOpen = `EXISTS (SELECT 1 FROM /*q.*/job_heads WHERE /*q.*/job_heads.limit_key = waiting.limit_key)`

// selectUnfound is jobsql.Store.SelectUnfound. Of a key that is marked, or of which no head is stored, claims search
// for all jobs.
const selectUnfound = `
SELECT id
FROM /*q.*/jobs AS waiting
WHERE state = 'queued'
  AND hold = ` + jobsql.Limited + `
  AND NOT EXISTS (SELECT 1 FROM /*q.*/job_limit_marks WHERE /*q.*/job_limit_marks.limit_key = waiting.limit_key)
  AND ` + keyIsOpen + `
  AND ` + jobsql.BehindNoHead

// markKeys is jobsql.Store.MarkKeys.
func markKeys(ctx context.Context, tx *driver.WriteTx, keys []string) error {
	waiting := newMarks()
	for _, key := range keys {
		waiting.add(key)
	}
	if _, err := waiting.limited(ctx, tx); err != nil { // which stores the limit of keys that coalesce
		return err
	}
	return waiting.write(ctx, tx)
}
