package safety

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

func (d *desk) answerShown(shown Approval, outcome Outcome) error {
	return d.write(func(ctx context.Context, tx queue.Tx) (err error) {
		if outcome == OutcomeApproved {
			_, err = d.ledger.ApproveRequest(ctx, tx, shown, "ann")
		} else {
			_, err = d.ledger.RejectRequest(ctx, tx, shown, "ann", "no")
		}
		return err
	})
}

func TestAnAnswerIsToTheRequestThatWasShown(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		var heard []Approval
		d := newDesk(t, db, func(c *Config) {
			c.OnAnswer = func(_ context.Context, _ queue.Tx, r Approval) error {
				heard = append(heard, r)
				return nil
			}
		})
		id := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		first := d.waiting(t)[0].Approval
		require.NoError(t, d.renew(id))
		second := d.waiting(t)[0].Approval
		require.Len(t, heard, 1)
		require.Equal(t, OutcomeWithdrawn, heard[0].Outcome)
		require.Equal(t, first.ID, heard[0].ID)

		for _, outcome := range []Outcome{OutcomeApproved, OutcomeRejected} {
			require.ErrorIs(t, d.answerShown(first, outcome), ErrApprovalVoid, "it was renewed")
			altered := second
			altered.Digest = first.Digest
			require.ErrorIs(t, d.answerShown(altered, outcome), ErrApprovalVoid, "it was shown as something else")
			altered = second
			altered.ActionID = "another"
			require.ErrorIs(t, d.answerShown(altered, outcome), ErrApprovalVoid)
			altered.ID = "none"
			require.ErrorIs(t, d.answerShown(altered, outcome), postroom.ErrNotFound)
		}
		require.Empty(t, d.executed)

		require.NoError(t, d.answerShown(second, OutcomeApproved))
		require.Equal(t, []string{id}, d.executed)
		require.Len(t, heard, 2)
		require.Equal(t, "ann", heard[1].Approver)
		stored, err := d.ledger.Approval(t.Context(), second.ID)
		require.NoError(t, err)
		require.Equal(t, heard[1], stored)

		var late *StateError
		require.ErrorAs(t, d.answerShown(second, OutcomeRejected), &late)
		require.Equal(t, second.ID, late.Answer.ID)
	})
}

// What follows an answer is there together with it, or neither is.
func TestAnAnswerThatCannotBeFollowedIsNotGiven(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		full := errors.New("full")
		d := newDesk(t, db, func(c *Config) {
			c.OnAnswer = func(context.Context, queue.Tx, Approval) error { return full }
		})
		id := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		_, err := d.approve(id, "ann")
		require.ErrorIs(t, err, full)
		_, err = d.reject(id, "ann", "")
		require.ErrorIs(t, err, full)
		require.ErrorIs(t, d.cancel(id, ""), full)
		require.Equal(t, postroom.ActionPendingApproval, d.get(id).State)
		require.Len(t, d.waiting(t), 1)
	})
}

func TestDeriveKey(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		one, err := d.ledger.DeriveKey(t.Context(), "one")
		require.NoError(t, err)
		require.Len(t, one, 32)
		again, err := newDesk(t, db, nil).ledger.DeriveKey(t.Context(), "one")
		require.NoError(t, err)
		require.Equal(t, one, again, "all programs on the database have the same")
		other, err := d.ledger.DeriveKey(t.Context(), "other")
		require.NoError(t, err)
		require.NotEqual(t, one, other)
		_, err = d.ledger.DeriveKey(t.Context(), "")
		require.ErrorContains(t, err, "the purpose is empty")
	})
}
