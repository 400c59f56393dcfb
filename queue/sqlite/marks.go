package sqlite

import (
	"context"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/joblimit"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// Jobs with a limit key wait apart (driver.HoldLimited), as soon as any key is limited, so that what cannot run is not in the way of what
// can. Claims take them from where they wait, those of each key and type in their order, and count the room of each key that
// they take of in the transaction that claims: that is what a limit rests on. Which keys have room, and where their jobs
// begin, stands in the fronts (see fronts.go), so that a claim need not look at all keys. Whatever changes a key's waiting
// jobs, or makes room where there was none, marks the key in the same transaction, and a later claim looks at the marked keys
// before all others, and sets their fronts right.

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

// atOnce is when a mark is due that waits for nothing, whatever the clock of whoever claims says.
var atOnce = time.Unix(0, 0)

// limited reports whether any key is limited at all, as coalescing ones are of themselves.
func (m marks) limited(ctx context.Context, tx *driver.WriteTx) (limited bool, err error) {
	if len(m) == 0 {
		return false, nil
	}
	for key := range m {
		if strings.HasPrefix(key, joblimit.Coalesced) {
			_, err := tx.ExecContext(ctx, limitCoalesced, dbtime.Of(tx.Now()))
			return true, err
		}
	}
	err = tx.QueryRowContext(ctx, selectKeysLimited).Scan(&limited)
	return limited, err
}

// write marks the keys of which jobs have come to wait, or wait no more.
func (m marks) write(ctx context.Context, tx *driver.WriteTx) error {
	return m.writeBy(ctx, tx, markChanged)
}

// writeFreed marks the keys that may have room where they had none. What has room needs no mark to have more.
func (m marks) writeFreed(ctx context.Context, tx *driver.WriteTx) error {
	return m.writeBy(ctx, tx, markFreed)
}

func (m marks) writeBy(ctx context.Context, tx *driver.WriteTx, statement string) error {
	if len(m) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, statement, dbtime.Of(atOnce), list(m.list()))
	return err
}

// takeMarks takes the marks off that have been due for longest.
func takeMarks(ctx context.Context, tx *driver.WriteTx, now time.Time, n int) (marks, error) {
	rows, err := tx.QueryContext(ctx, deleteMarks, dbtime.Of(now), n)
	keys, err := jobsql.Collect(rows, err, limitKey)
	taken := newMarks()
	for _, key := range keys {
		taken.add(key)
	}
	return taken, err
}
