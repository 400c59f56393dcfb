package safety

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// TestPermit: what an action rests on is vouched for while nothing has altered it.
func TestPermit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(c *Config) {
			keyed(1)(c)
			c.Rules = shelf{"rule-1": storedRule(postroom.Delete, postroom.SafeDangerousOverride, nil)}
		})
		permit := func(id string) postroom.Permit {
			p, err := d.ledger.Permit(t.Context(), id)
			require.NoError(t, err)
			return p
		}
		msg := message("a@example.com")
		msg.ProviderID = "18f0"
		change := func(before ...string) {
			archive := rule(postroom.Archive, "")
			archive.Key = before[0] + d.now.String()
			a := d.record(msg, archive)
			if a.State == postroom.ActionPendingApproval { // the shelf does not have the rule
				_, err := d.approve(a.ID, "ann")
				require.NoError(t, err)
			}
			_, err := d.start(a.ID, "job-1")
			require.NoError(t, err)
			image, after := postroom.NewSnapshot(before), postroom.NewSnapshot(nil)
			require.NoError(t, d.complete(a.ID, postroom.UndoHint{InverseAction: postroom.ApplyLabel, Before: &image,
				After: &after}))
		}
		change("EARLIER")
		d.now = d.now.Add(time.Minute)
		deletes := rule(postroom.Delete, postroom.SafeDangerousOverride)
		deletes.RuleVersion = "v1"
		a := d.record(msg, deletes)
		require.Equal(t, postroom.ActionQueued, a.State)
		p := permit(a.ID)
		require.True(t, p.Verified)
		require.Equal(t, []string{a.ID, "18f0", "rule-1", "v1", ""}, []string{p.Action.ID, p.Action.ProviderMessageID,
			p.Decision.RuleID, p.Decision.RuleVersion, p.Approver})
		require.WithinDuration(t, d.now, p.DecidedAt, time.Millisecond)
		require.Nil(t, p.Before, "what was done before the decision")

		d.now = d.now.Add(time.Minute)
		change("INBOX", "UNREAD")
		d.now = d.now.Add(time.Minute)
		change("UNREAD")
		require.Equal(t, []string{"INBOX", "UNREAD"}, permit(a.ID).Before.LabelIDs, "before the first that came after it")

		d.exec(`UPDATE actions SET parameters_json = '{"label":"x"}' WHERE id = $1`, a.ID)
		require.False(t, permit(a.ID).Verified)

		waits := d.record(message("a@example.com"), model(postroom.Delete, 1))
		require.False(t, permit(waits.ID).Verified)
		_, err := d.approve(waits.ID, "ann")
		require.NoError(t, err)
		require.True(t, permit(waits.ID).Verified)
		require.Equal(t, "ann", permit(waits.ID).Approver)
		_, err = d.ledger.Permit(t.Context(), "none")
		require.ErrorIs(t, err, postroom.ErrNotFound)
	})
}
