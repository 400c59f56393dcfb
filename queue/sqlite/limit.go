package sqlite

import (
	"context"

	"github.com/postroom-go/postroom/queue/driver"
)

// openKeys is jobsql.Store.OpenKeys. It has the ready jobs of the keys concerned wait like all that have a limited key, and marks
// the keys: the next claims count how much capacity there is now.
func openKeys(ctx context.Context, tx *driver.WriteTx, target driver.Target) error {
	which := theKey
	if target.Kind == driver.TargetKeyPrefix {
		which = keysWithPrefix
	}
	for _, statement := range []string{putBackReady + which, markWaiting + which + onceMarked} {
		if _, err := tx.ExecContext(ctx, statement, target.Name); err != nil {
			return err
		}
	}
	return nil
}
