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

// A memory of what was sent says the same about each forward.
type memory struct {
	said string
	all  bool
	err  error
}

func (m *memory) SentBefore(
	_ context.Context, _ queue.Tx, _ *postroom.Message, t postroom.ActionType, _ postroom.Parameters,
) (string, bool, error) {
	if t != postroom.Forward {
		return "", false, nil
	}
	return m.said, m.all, m.err
}

func TestWhatWasSentBefore(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		to := postroom.Parameters{"to": []any{"boss@example.com"}}
		stored := storedRule(postroom.Forward, postroom.SafeDangerousOverride, to)
		sent := &memory{}
		d := newDesk(t, db, func(c *Config) {
			c.Rules, c.Sent, c.Policy.Caps = shelf{"rule-1": stored}, sent, []limits.Cap{{Most: 1, Window: time.Hour}}
		})
		forward := rule(postroom.Forward, postroom.SafeDangerousOverride)
		forward.RuleVersion, forward.Parameters = "v1", to

		sent.said, sent.all = "it was sent on Monday", true
		for range 3 {
			a := d.record(message("a@example.com"), forward)
			require.Equal(t, postroom.ActionCanceled, a.State, "nobody is asked about what is done")
			require.Equal(t, "not sent again: it was sent on Monday", a.Error)
		}
		require.Empty(t, d.waiting(t))

		sent.all = false
		a := d.record(message("a@example.com"), forward)
		require.Equal(t, postroom.ActionPendingApproval, a.State, "something is left to send, or it is not sure")
		require.Equal(t, []gate.Override{gate.OverrideSent}, d.checks(a))
		require.Equal(t, []string{"it was sent on Monday"}, d.waiting(t)[0].Approval.Reasons)

		sent.all, forward.NeedsApproval = true, true
		a = d.record(message("a@example.com"), forward)
		require.Equal(t, []gate.Override{gate.OverrideRequested, gate.OverrideSent}, d.checks(a),
			"who is asked anyway is told")
		approver := func() (who string, until time.Time) {
			_, err := d.act(func(ctx context.Context, tx queue.Tx) (_ postroom.Action, err error) {
				who, until, err = d.ledger.Approver(ctx, tx, a.ID)
				return a, err
			})
			require.NoError(t, err)
			return who, until
		}
		who, until := approver()
		require.Empty(t, who)
		require.Zero(t, until)
		_, err := d.approve(a.ID, "ann")
		require.NoError(t, err)
		who, until = approver()
		require.Equal(t, "ann", who)
		require.WithinDuration(t, d.now.Add(defaultExpiry), until, time.Second)

		forward.NeedsApproval, sent.said = false, ""
		a = d.record(message("a@example.com"), forward)
		require.Equal(t, postroom.ActionQueued, a.State, "what was not sent again counts for no cap")
		who, until = approver()
		require.Empty(t, who)
		require.Zero(t, until)

		sent.err = errors.New("disk full")
		_, err = d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
			return d.ledger.Record(ctx, message("a@example.com"), forward)(ctx, tx)
		})
		require.ErrorIs(t, err, sent.err)
	})
}
