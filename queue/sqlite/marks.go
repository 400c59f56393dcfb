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

// Jobs with a limit key wait apart (driver.HoldLimited), as soon as any key is limited, so that what cannot run is not in the way of what
// can. Claims take them from where they wait, those of each key and type in their order, and count the capacity of each
// key that they take of in the transaction that claims: that is what a limit rests on. Which keys have capacity, and where their
// jobs begin, stands in the fronts (see fronts.go), so that a claim need not look at all keys. Whatever changes a key's waiting
// jobs, or makes capacity where there was none, marks the key in the same transaction, and a later claim looks at the marked
// keys before all others, and sets their fronts right. Two need no mark: a job that comes to a key which is open, or of which
// nothing waits or runs, is a front at once; and where jobs end in the transaction that claims, the claim looks at their keys.

// marks are keys to look at.
type marks map[string]struct{}

func newMarks() marks { return make(marks) }

// add takes the empty key for none.
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

// limited reports whether any key is limited at all, as coalescing ones are of themselves.
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

// write marks the keys of which jobs have come to wait, or wait no more.
func (m marks) write(ctx context.Context, tx *driver.WriteTx) error {
	return m.writeBy(ctx, tx, markChanged)
}

// writeFreed marks the keys that may have capacity where they had none. What has capacity needs no mark to have more.
func (m marks) writeFreed(ctx context.Context, tx *driver.WriteTx) error {
	return m.writeBy(ctx, tx, markFreed)
}

// free returns those keys of which all jobs that wait have fronts and which may have capacity, so that a job that comes needs
// a front, and the key no mark.
func (m marks) free(ctx context.Context, tx *driver.WriteTx) (marks, error) {
	rows, err := tx.QueryContext(ctx, selectFree, list(m.list()))
	return collectKeys(rows, err)
}

// shut returns those keys that have no front, and jobs that wait.
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

// takeMarks takes the marks off that have been due for longest.
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
