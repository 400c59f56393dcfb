package safety

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// TestTheLastApprovalCounts, also where its request has a smaller id than the one before, because it was made on a machine whose clock is
// behind, or the clock was set back.
func TestTheLastApprovalCounts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		id := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		_, err := d.approve(id, "ann")
		require.NoError(t, err)
		d.now = d.now.Add(8 * 24 * time.Hour)
		a, err := d.start(id, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionApprovedPending, a.State, "the approval was not used in time")
		require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error { // as the other machine would have written it
			p, r, err := d.ledger.request(ctx, tx, id, "renew")
			require.NoError(t, err)
			_, err = tx.ExecContext(ctx, `DELETE FROM approvals WHERE id = $1`, r.ID)
			require.NoError(t, err)
			r.ID = "00" + r.ID[2:]
			r.Digest = d.ledger.seal(p.requested(&r.approvalRow))
			_, err = tx.ExecContext(ctx, insertApproval, r.ID, id, r.Reasons, r.Digest, r.RequestedAt, r.ExpiresAt)
			require.NoError(t, err)
			return d.ledger.logApproval(ctx, tx, &r.approvalRow)
		}))
		require.NoError(t, d.check(id))
		_, err = d.approve(id, "bob")
		require.NoError(t, err)
		_, err = d.approve(id, "ann")
		require.ErrorContains(t, err, "bob has approved it", "the last answer")
		d.carriedOut(id)
	})
}

// TestASwitchIsAsTheLastEventLeftIt, whatever the clock said then.
func TestASwitchIsAsTheLastEventLeftIt(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		require.NoError(t, d.stop("ann", StopOptions{Why: "odd"}))
		d.now = d.now.Add(-time.Second)
		require.NoError(t, d.resume("bob"))
		require.Empty(t, d.faults(t))
		d.now = d.now.Add(-time.Second)
		require.NoError(t, d.stop("ann", StopOptions{Why: "odd again"}))
		require.Empty(t, d.faults(t))
		d.exec(`UPDATE safety_switch SET stopped = 0`)
		d.requireFault(t, "1", "not as the last event left it")
	})
}
