package safety

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

func (d *desk) renew(id string) error {
	return d.write(func(ctx context.Context, tx queue.Tx) error { return d.ledger.Renew(ctx, tx, id) })
}

func (d *desk) waiting(t *testing.T) []Waiting {
	w, err := d.ledger.Approvals(t.Context(), Filter{})
	require.NoError(t, err)
	return w
}

func TestApprove(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		id := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		w := d.waiting(t)
		require.Len(t, w, 1)
		require.Equal(t, id, w[0].Action.ID)
		require.Equal(t, "a@example.com", w[0].Decision.Sender)
		require.Equal(t, []string{dangerous, listed}, w[0].Approval.Reasons)
		require.Equal(t, dbtime.Truncate(d.now.Add(7*24*time.Hour)), w[0].Approval.ExpiresAt)

		d.now = d.now.Add(time.Hour)
		a, err := d.approve(id, "ann")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionQueued, a.State)
		require.Equal(t, []string{id}, d.executed)
		require.Empty(t, d.waiting(t))

		history, err := d.ledger.ApprovalsOf(t.Context(), id)
		require.NoError(t, err)
		require.Len(t, history, 1)
		require.Equal(t, OutcomeApproved, history[0].Outcome)
		require.Equal(t, "ann", history[0].Approver)
		require.Equal(t, dbtime.Truncate(d.now), history[0].DecidedAt)

		_, err = d.approve(id, "ann")
		require.ErrorIs(t, err, ErrState, "a request is answered once")
		require.Len(t, d.executed, 1)
	})
}

func TestReject(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		id := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		a, err := d.reject(id, "ann", "I need it")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionRejected, a.State)
		require.Equal(t, "rejected by ann: I need it", a.Error)
		history, err := d.ledger.ApprovalsOf(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, OutcomeRejected, history[0].Outcome)
		require.Equal(t, "I need it", history[0].Why)
		_, err = d.approve(id, "ann")
		require.ErrorIs(t, err, ErrState)
		require.Empty(t, d.executed)

		queued := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
		a, err = d.reject(queued, "bob", "")
		require.NoError(t, err)
		require.Equal(t, "rejected by bob", a.Error)
	})
}

func TestApproversList(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(c *Config) { c.Approvers = []string{"ann"} })
		id := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		for _, who := range []string{"mallory", "Ann", "", "  "} {
			_, err := d.approve(id, who)
			require.ErrorIs(t, err, ErrNotApprover, "%q", who)
			_, err = d.reject(id, who, "no")
			require.ErrorIs(t, err, ErrNotApprover, "%q", who)
		}
		require.Equal(t, postroom.ActionPendingApproval, d.get(id).State)
		_, err := d.approve(id, "ann")
		require.NoError(t, err)
	})
}

func TestExpiredApproval(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(c *Config) { c.ApprovalExpiry = time.Hour })
		id := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		d.now = dbtime.Truncate(d.now).Add(time.Hour)
		_, err := d.approve(id, "ann")
		require.ErrorIs(t, err, ErrApprovalExpired)
		require.Equal(t, postroom.ActionPendingApproval, d.get(id).State)
		require.Empty(t, d.executed)

		require.NoError(t, d.renew(id))
		require.Equal(t, []string{id, id}, d.asked)
		_, err = d.approve(id, "ann")
		require.NoError(t, err)
		history, err := d.ledger.ApprovalsOf(t.Context(), id)
		require.NoError(t, err)
		require.Len(t, history, 2)
		require.Equal(t, []Outcome{OutcomeWithdrawn, OutcomeApproved}, []Outcome{history[0].Outcome, history[1].Outcome})
		require.ErrorIs(t, d.renew(id), ErrState)
	})
}

// TestChangedParametersVoidTheRequest: what is approved is what was asked.
func TestChangedParametersVoidTheRequest(t *testing.T) {
	for name, change := range map[string]string{
		"parameters": `UPDATE actions SET parameters_json = '{"to":"mallory@example.com"}' WHERE id = $1`,
		"type":       `UPDATE actions SET type = 'delete' WHERE id = $1`,
		"message":    `UPDATE actions SET message_id = 'another' WHERE id = $1`,
		"account":    `UPDATE actions SET account_id = 'another' WHERE id = $1`,
		"expiry":     `UPDATE approvals SET expires_at = '2999-01-01T00:00:00.000000Z' WHERE action_id = $1`,
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, db queue.DB) {
				d := newDesk(t, db, nil)
				dec := model(postroom.Forward, 1)
				dec.Parameters = postroom.Parameters{"to": "boss@example.com"}
				id := d.record(message("a@example.com"), dec).ID
				require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error {
					_, err := tx.ExecContext(ctx, change, id)
					return err
				}))
				_, err := d.approve(id, "ann")
				require.ErrorIs(t, err, ErrApprovalVoid)
				require.Empty(t, d.executed)

				require.ErrorIs(t, d.renew(id), ErrAltered, "a new request would sign it")
				_, err = d.reject(id, "ann", "odd")
				require.NoError(t, err)
			})
		})
	}
}

// TestLargeNumbersDoNotVoid: a number that a float64 cannot hold comes back rounded, and the request holds all the
// same.
func TestLargeNumbersDoNotVoid(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		dec := model(postroom.CreateTask, 1)
		dec.Parameters = postroom.Parameters{"title": "call", "ticket": int64(9007199254740993)}
		id := d.record(message("a@example.com"), dec).ID
		_, err := d.approve(id, "ann")
		require.NoError(t, err)
	})
}

func TestHoldAsksFirst(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		id := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
		_, err := d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
			return d.ledger.Hold(ctx, tx, id, "a reply to another domain")
		})
		require.NoError(t, err)
		require.Equal(t, []string{"a reply to another domain"}, d.waiting(t)[0].Approval.Reasons)
		_, err = d.start(id, "job-1")
		require.ErrorIs(t, err, ErrState)
		_, err = d.approve(id, "ann")
		require.NoError(t, err)
		require.Equal(t, []string{id, id}, d.executed)
	})
}

func TestCancelWithdrawsTheRequest(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		id := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		require.NoError(t, d.cancel(id, "account removed"))
		require.Empty(t, d.waiting(t))
		history, err := d.ledger.ApprovalsOf(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, OutcomeWithdrawn, history[0].Outcome)
		require.Equal(t, "account removed", d.get(id).Error)
	})
}

// A decision to do nothing is no request to approve nothing.
func TestNothingIsNeverAsked(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		unsure := rule(postroom.None, "")
		unsure.NeedsApproval = true
		a := d.get(d.record(message("a@example.com"), unsure).ID)
		require.Equal(t, postroom.ActionCompleted, a.State)
		require.Empty(t, d.waiting(t))
		require.Empty(t, d.executed)
	})
}
