package safety

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// TestWhatMustHappenOnceIsLookedForInTheLog: what a person has approved, also when it could be undone; what cannot be undone, also when
// nobody had to approve it; and what is no longer known to be undone.
func TestWhatMustHappenOnceIsLookedForInTheLog(t *testing.T) {
	asked, override, note := rule(postroom.Archive, ""), rule(postroom.Delete, postroom.SafeDangerousOverride), rule(postroom.AddNote, "")
	asked.NeedsApproval, override.RuleVersion, note.Parameters = true, "v1", postroom.Parameters{"note": "call back"}
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(c *Config) {
			keyed(1)(c)
			c.Rules = shelf{"rule-1": storedRule(postroom.Delete, postroom.SafeDangerousOverride, nil)}
		})
		reversible := newDesk(t, db, keyed(1))
		fewer := newDesk(t, db, func(c *Config) {
			keyed(1)(c)
			c.Kinds = nil
		})
		for name, tc := range map[string]struct {
			decision     postroom.Decision
			first, again *desk
			starts       bool
		}{
			"approved":         {asked, reversible, reversible, false},
			"cannot be undone": {override, d, d, false},
			"not known":        {note, reversible, fewer, false},
			"can be undone":    {note, reversible, reversible, true},
		} {
			id := tc.first.record(message("a@example.com"), tc.decision).ID
			if tc.decision.NeedsApproval {
				_, err := d.approve(id, "ann")
				require.NoError(t, err)
			}
			require.Equal(t, postroom.ActionQueued, d.get(id).State, name)
			d.save()
			_, err := d.start(id, "job-1")
			require.NoError(t, err)
			require.NoError(t, d.complete(id, postroom.UndoHint{}))
			d.restore(id)
			d.exec(hide, id)
			a, err := tc.again.start(id, "job-2")
			require.NoError(t, err)
			require.Equal(t, tc.starts, a.State == postroom.ActionExecuting, name)
		}
	})
}
