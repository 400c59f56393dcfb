package postgres

import (
	"context"

	"github.com/postroom-go/postroom/queue/driver"
)

// LockLeaseLater implements [driver.Fencer].
func (db *engine) LockLeaseLater(ctx context.Context, tx *driver.WriteTx, lease driver.Lease) error {
	own, ok := tx.Tx.(*transaction)
	if !ok {
		return db.LockLease(ctx, tx, lease)
	}
	return own.add(db.fence(tx, lease, lockLeaseHeld, lease.JobID, lease.Attempt))
}

// CompleteLater implements [driver.Fencer].
func (db *engine) CompleteLater(ctx context.Context, tx *driver.WriteTx, out driver.Outcome) error {
	own, ok := tx.Tx.(*transaction)
	if !ok {
		answers, err := db.Finish(ctx, tx, []driver.Outcome{out})
		if err != nil {
			return err
		}
		return answers[0]
	}
	return own.add(db.fence(tx, out.Lease, completeLease, out.Lease.JobID, out.Lease.Attempt, nullText(string(out.Result)), out.At))
}

// fence is a statement that fails if the lease is not held. It returns whether types are limited, so that the end of the job may
// free capacity for others.
func (db *engine) fence(tx *driver.WriteTx, lease driver.Lease, text string, args ...any) step {
	return step{sql: text, args: args, fence: &lease, read: func(r rows) error {
		var limited bool
		for r.Next() {
			var held int
			if err := r.Scan(&limited, &held); err != nil {
				return err
			}
		}
		if limited {
			tx.OnCommit(db.news.tell)
		}
		return r.Err()
	}}
}
