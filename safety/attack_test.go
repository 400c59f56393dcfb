package safety

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// TestAnExpiryIsNotExtended: neither that of the request nor that of the approval, and an expired one approves nothing.
func TestAnExpiryIsNotExtended(t *testing.T) {
	const extend = `UPDATE approvals SET expires_at = '2999-01-01T00:00:00.000000Z' WHERE action_id = $1`
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(c *Config) { c.ApprovalExpiry = time.Hour })
		late := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		approved := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		_, err := d.approve(approved, "ann")
		require.NoError(t, err)
		d.now = d.now.Add(time.Hour)
		_, err = d.approve(late, "ann")
		require.ErrorIs(t, err, ErrApprovalExpired)
		d.exec(extend, late)
		_, err = d.approve(late, "ann")
		require.ErrorIs(t, err, ErrApprovalVoid)
		require.Equal(t, postroom.ActionPendingApproval, d.get(late).State)

		d.exec(extend, approved)
		a, err := d.start(approved, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionFailed, a.State)
		require.Equal(t, []string{approved}, d.executed)
	})
}

// TestOnlyApproversApprove: not who writes a name into the database, and not who has been taken off the list since.
func TestOnlyApproversApprove(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(c *Config) { c.Approvers = []string{"ann", "bob"} })
		id := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		_, err := d.approve(id, "mallory")
		require.ErrorIs(t, err, ErrNotApprover)
		d.exec(
			`UPDATE approvals SET outcome = 'approved', approver = 'mallory', decided_at = requested_at WHERE action_id = $1`,
			id)
		d.exec(`UPDATE actions SET state = 'queued' WHERE id = $1`, id)
		a, err := d.start(id, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionFailed, a.State)

		id = d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		_, err = d.approve(id, "bob")
		require.NoError(t, err)
		later := newDesk(t, db, func(c *Config) { c.Approvers = []string{"ann"} })
		later.now = d.now
		a, err = later.start(id, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionPendingApproval, a.State)
		requests, err := later.ledger.ApprovalsOf(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, []string{"the approval was given by bob, who may no longer approve"}, requests[1].Reasons)
		d.exec(`UPDATE approvals SET approver = 'ann' WHERE action_id = $1 AND approver = 'bob'`, id)
		d.exec(`UPDATE actions SET state = 'queued' WHERE id = $1`, id)
		a, err = later.start(id, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionFailed, a.State, "bob's answer does not become ann's")
	})
}

// keep keeps the rows of a table as they are now; kept is the statement that puts them back.
func (d *desk) keep(table string) {
	d.exec(`CREATE TABLE old_` + table + ` AS SELECT * FROM ` + table) //nolint:unqueryvet // whatever columns there are
}

func kept(table string) string {
	return `INSERT INTO ` + table + ` SELECT * FROM old_` + table //nolint:unqueryvet // as keep
}

// TestAnApprovalIsNotReplayed: not for another action, not a second time, and not with the row as it was when it was
// approved.
func TestAnApprovalIsNotReplayed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		id := d.forwarded()
		for _, table := range []string{"actions", "approvals"} {
			d.keep(table)
		}
		_, err := d.start(id, "job-1")
		require.NoError(t, err)
		require.NoError(t, d.complete(id, postroom.UndoHint{Irreversible: true}))

		d.exec(`DELETE FROM approvals WHERE action_id = $1`, id)
		d.exec(`DELETE FROM actions WHERE id = $1`, id)
		d.exec(kept("actions")+` WHERE id = $1`, id)
		d.exec(kept("approvals")+` WHERE action_id = $1`, id)
		a, err := d.start(id, "job-2")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionFailed, a.State, "it has been carried out")

		first, second := d.forwarded(), d.forwarded()
		d.exec(`UPDATE actions SET approval_id = (SELECT approval_id FROM actions WHERE id = $1) WHERE id = $2`,
			first, second)
		a, err = d.start(second, "job-3")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionFailed, a.State)
	})
}

// TestOneJobUsesAnApproval, of several that start the action at once, and none if it is altered before them.
func TestOneJobUsesAnApproval(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(c *Config) {
			c.Execute, c.Ask = func(context.Context, queue.Tx, postroom.Action) error { return nil }, nil
		})
		for range 5 {
			id := d.forwarded()
			jobs := []string{"job-1", "job-2", "job-3"}
			states := make([]postroom.ActionState, len(jobs))
			var wg sync.WaitGroup
			for i, job := range jobs {
				wg.Go(func() {
					if a, err := d.start(id, job); err == nil {
						states[i] = a.State
					}
				})
			}
			wg.Go(func() { d.exec(`UPDATE approvals SET approver = 'mallory' WHERE action_id = $1`, id) })
			wg.Wait()
			started := 0
			for _, s := range states {
				if s == postroom.ActionExecuting {
					started++
				}
			}
			if d.get(id).State == postroom.ActionFailed {
				require.LessOrEqual(t, started, 1)
				continue
			}
			require.Equal(t, 1, started)
		}
	})
}
