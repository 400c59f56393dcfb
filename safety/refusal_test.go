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
	"github.com/postroom-go/postroom/safety/limits"
)

// A porter refuses deletes, and answers to newsletters.
type porter struct {
	why       string // for deletes
	newspaper string // for answers to news@example.com
	err       error
	asked     []string // the ids of accounts
}

func (p *porter) Refusal(
	_ context.Context, _ queue.Tx, accountID string, msg *postroom.Message, t postroom.ActionType, _ postroom.Parameters,
) (string, bool, error) {
	p.asked = append(p.asked, accountID)
	switch {
	case p.err != nil:
		return "", false, p.err
	case t == postroom.Delete:
		return p.why, true, nil
	case t == postroom.AutoReply && msg != nil && msg.From.Email == "news@example.com":
		return p.newspaper, false, nil
	}
	return "", false, nil
}

// TestWhatWouldBeRefused ends when it is decided: nobody is asked, nothing is executed, and it counts for no bound.
func TestWhatWouldBeRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		door := &porter{why: "the mailbox may not delete", newspaper: "it is a newspaper"}
		d := newDesk(t, db, func(c *Config) {
			c.Rules = shelf{"rule-1": storedRule(postroom.Delete, postroom.SafeDangerousOverride, nil)}
			c.Refusals, c.Policy.Caps, c.Policy.Breaker = door, []limits.Cap{{Most: 1, Window: time.Hour}},
				limits.Breaker{Failures: 2, Window: time.Hour}
		})
		forever := rule(postroom.Delete, postroom.SafeDangerousOverride)
		forever.RuleVersion = "v1"
		for range 3 {
			a := d.record(message("a@example.com"), forever)
			require.Equal(t, postroom.ActionFailed, a.State)
			require.Equal(t, "cannot be carried out: the mailbox may not delete", a.Error)
		}
		answer := model(postroom.AutoReply, 1, "body", "Yes.")
		a := d.record(message("news@example.com"), answer)
		require.Equal(t, postroom.ActionCanceled, a.State)
		require.Equal(t, "cannot be carried out: it is a newspaper", a.Error)
		require.Empty(t, d.waiting(t), "nobody is asked")
		require.Empty(t, d.executed)
		a = d.record(message("ann@example.com"), answer)
		require.Equal(t, postroom.ActionPendingApproval, a.State, "a person is asked about others")

		door.why = ""
		done := d.record(message("a@example.com"), forever)
		require.Equal(t, postroom.ActionQueued, done.State, "what was refused counts for no cap")
		_, err := d.start(done.ID, "job-1")
		require.NoError(t, err)
		require.NoError(t, d.fail(done.ID, "Gmail is away"))
		breakers, err := d.ledger.Breakers().Open(t.Context())
		require.NoError(t, err)
		require.Empty(t, breakers, "and for no breaker")

		door.err = errors.New("disk full")
		_, err = d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
			return d.ledger.Record(ctx, message("a@example.com"), forever)(ctx, tx)
		})
		require.ErrorIs(t, err, door.err)
		_, err = d.approve(a.ID, "ann")
		require.ErrorIs(t, err, door.err)
		require.Subset(t, []string{"account-1"}, door.asked)
	})
}

// TestNobodyApprovesWhatWouldBeRefused by now, wherever; it waits, since what is missing may come.
func TestNobodyApprovesWhatWouldBeRefused(t *testing.T) {
	door := &porter{}
	d := newDesk(t, dbtest.SQLite(t), func(c *Config) { c.Refusals = door })
	a := d.record(message("a@example.com"), rule(postroom.Delete, ""))
	require.Equal(t, postroom.ActionPendingApproval, a.State)
	door.why = "the mailbox may not delete; sign in again"
	_, err := d.approve(a.ID, "ann")
	require.ErrorIs(t, err, ErrInvalidDecision)
	require.EqualError(t, err, "safety: action "+a.ID+
		": invalid decision: it cannot be carried out: the mailbox may not delete; sign in again")
	require.Equal(t, postroom.ActionPendingApproval, d.get(a.ID).State)
	door.why = ""
	_, err = d.approve(a.ID, "ann")
	require.NoError(t, err)
}
