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

// TestWhatNobodyCarriesOutIsRefusedAtOnce: not after a person has approved it.
func TestWhatNobodyCarriesOutIsRefusedAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(c *Config) { c.Kinds = nil })
		for _, a := range []postroom.ActionType{postroom.Forward, postroom.AutoReply, postroom.Escalate, postroom.AddNote,
			postroom.CreateTask} {
			err := d.write(func(ctx context.Context, tx queue.Tx) error {
				_, err := d.ledger.Record(ctx, message("a@example.com"), model(a, 1))(ctx, tx)
				return err
			})
			require.ErrorIs(t, err, ErrInvalidDecision)
			require.ErrorIs(t, err, postroom.ErrNotCarriedOut)
			require.ErrorContains(t, err, "the actions are [apply_label archive")
		}
		require.Empty(t, d.asked)
	})
}

// TestApprovalOfWhatIsNotCarriedOutAnyMore: what has waited too long is refused when a person approves it.
func TestApprovalOfWhatIsNotCarriedOutAnyMore(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		snooze := model(postroom.Snooze, 0.1)
		snooze.Parameters = postroom.Parameters{"until": d.now.Add(time.Hour).Format(time.RFC3339)}
		late := d.record(message("a@example.com"), snooze).ID
		note := model(postroom.AddNote, 0.1)
		note.Parameters = postroom.Parameters{"note": "call back"}
		unsupported := d.record(message("b@example.com"), note).ID

		d.now = d.now.Add(2 * time.Hour)
		_, err := d.approve(late, "ann")
		require.ErrorIs(t, err, ErrInvalidDecision)
		require.ErrorContains(t, err, "is not in the future: reject it")

		d.ledger.cfg.Kinds = nil
		_, err = d.approve(unsupported, "ann")
		require.ErrorIs(t, err, postroom.ErrNotCarriedOut)
		require.Equal(t, postroom.ActionPendingApproval, d.get(unsupported).State)
		require.Empty(t, d.executed)
	})
}

func TestExecuting(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		msg := message("a@example.com")
		a := d.record(msg, model(postroom.Archive, 1))
		executing := func() *postroom.Action {
			found, err := d.ledger.Executing(t.Context(), msg.AccountID, msg.ID)
			require.NoError(t, err)
			return found
		}
		require.Nil(t, executing())
		_, err := d.start(a.ID, "job-1")
		require.NoError(t, err)
		require.Equal(t, a.ID, executing().ID)
		require.Equal(t, "job-1", executing().JobID)
		require.NoError(t, d.complete(a.ID, postroom.UndoHint{InverseAction: postroom.None}))
		require.Nil(t, executing())
	})
}
