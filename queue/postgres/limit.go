package postgres

import (
	"context"

	"github.com/postroom-go/postroom/queue/driver"
)

// holdClaims is jobsql.Store.HoldClaims.
func holdClaims(ctx context.Context, tx *driver.WriteTx) error { return later(ctx, tx, lockClaims) }

// openKeys is jobsql.Store.OpenKeys.
func openKeys(ctx context.Context, tx *driver.WriteTx, target driver.Target) error {
	if err := later(ctx, tx, openHeads, target.Kind == driver.TargetKeyPrefix, target.Name); err != nil {
		return err
	}
	return flush(ctx, tx)
}
