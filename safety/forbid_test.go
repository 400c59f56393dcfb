package safety

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/gate"
	"github.com/postroom-go/postroom/safety/limits"
)

// A veto forbids models to archive the mail of one sender.
type veto struct {
	sender string
	err    error
}

func (v *veto) Forbidden(_ context.Context, _ queue.Tx, msg *postroom.Message,
	action postroom.ActionType) (string, error) {
	if action == postroom.Archive && msg.From.Email == v.sender {
		return "no archive for mail of " + v.sender, v.err
	}
	return "", v.err
}

// TestForbiddenDecisions of models are canceled when they are recorded: nobody is asked, nothing is executed, and they
// count for no bound. Those of rules are the user's own.
func TestForbiddenDecisions(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		forbids := &veto{sender: "boss@example.com"}
		d := newDesk(t, db, func(c *Config) {
			c.Rules = shelf{"rule-1": storedRule(postroom.Archive, postroom.SafeAlwaysSafe, nil)}
			c.Forbids, c.Policy.Caps, c.Policy.Breaker = forbids, []limits.Cap{{Most: 1, Window: time.Hour}},
				limits.Breaker{Failures: 2, Window: time.Hour}
		})
		for range 3 {
			a := d.record(message("boss@example.com"), model(postroom.Archive, 1))
			require.Equal(t, postroom.ActionCanceled, a.State)
			require.Equal(t, "cannot be carried out: no archive for mail of boss@example.com", a.Error)
			rec, err := d.ledger.Decision(t.Context(), a.DecisionID)
			require.NoError(t, err)
			require.Equal(t, []gate.Override{gate.OverrideForbidden}, rec.Verdict.Overrides)
			require.Equal(t, []string{"no archive for mail of boss@example.com"}, rec.Verdict.Reasons)
		}
		require.Empty(t, d.waiting(t), "nobody is asked")
		require.Empty(t, d.executed)
		require.Equal(t, postroom.ActionQueued, d.record(message("ann@example.com"), model(postroom.Archive, 1)).State,
			"no bound is reached")

		own := rule(postroom.Archive, postroom.SafeAlwaysSafe)
		own.RuleVersion = "v1"
		require.NotEqual(t, postroom.ActionCanceled, d.record(message("boss@example.com"), own).State)
	})
}

func TestForbidsThatCannotBeReadRecordNothing(t *testing.T) {
	forbids := &veto{err: errors.New("closed")}
	d := newDesk(t, dbtest.SQLite(t), func(c *Config) { c.Forbids = forbids })
	err := d.write(func(ctx context.Context, tx queue.Tx) error {
		_, err := d.ledger.Record(ctx, message("ann@example.com"), model(postroom.Archive, 1))(ctx, tx)
		return err
	})
	require.ErrorIs(t, err, forbids.err)
}
