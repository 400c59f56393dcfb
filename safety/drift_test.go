package safety

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/gate"
	"github.com/postroom-go/postroom/safety/origin"
	"github.com/postroom-go/postroom/safety/reasons"
)

// drifted says of all decisions of an account that they have been corrected too often.
type drifted struct {
	account string
	err     error
}

func (f drifted) Asks(_ context.Context, _ queue.Tx, accountID string, _ postroom.Decision) (string, error) {
	if accountID == f.account {
		return "you have corrected it", f.err
	}
	return "", f.err
}

// What people have corrected too often asks, whatever the safe mode of the rule; to do nothing asks nobody.
func TestWhatHasDriftedAsks(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(c *Config) {
			c.Rules = shelf{"rule-1": storedRule(postroom.Archive, postroom.SafeDangerousOverride, nil)}
			c.Drifts = drifted{account: "account-1"}
		})
		own := rule(postroom.Archive, postroom.SafeDangerousOverride)
		own.RuleVersion = "v1"
		for _, decision := range []postroom.Decision{own, model(postroom.Star, 1)} {
			a := d.record(message("ann@example.com"), decision)
			require.Equal(t, postroom.ActionPendingApproval, a.State)
			require.Equal(t, []gate.Override{gate.OverrideDrift}, d.checks(a))
			other := message("ann@example.com")
			other.AccountID = "account-2"
			require.Equal(t, postroom.ActionQueued, d.record(other, decision).State)
		}
		none := d.record(message("ann@example.com"), model(postroom.None, 1))
		require.NotEqual(t, postroom.ActionPendingApproval, none.State)
		require.True(t, reasons.Known(string(gate.OverrideDrift)))
	})
}

// Requests about rules that have drifted are one kind; those about models have the bounds of each sender.
func TestWhatModelsHaveDriftedInIsGroupedBySender(t *testing.T) {
	v := &gate.Verdict{Overrides: []gate.Override{gate.OverrideDrift}}
	d := newDesk(t, dbtest.SQLite(t), nil)
	of := func(decision postroom.Decision) string {
		return groupOf(d.ledger.cfg.Kinds, message("ann@example.com"), decision, v, origin.Origin{Sender: "ann"}).Key
	}
	require.Equal(t, bySender+"ann", of(model(postroom.Archive, 1)))
	require.Equal(t, "drift", of(rule(postroom.Archive, postroom.SafeDangerousOverride)))
}

func TestDriftsThatCannotBeReadRecordNothing(t *testing.T) {
	failed := errors.New("closed")
	d := newDesk(t, dbtest.SQLite(t), func(c *Config) { c.Drifts = drifted{err: failed} })
	err := d.write(func(ctx context.Context, tx queue.Tx) error {
		_, err := d.ledger.Record(ctx, message("ann@example.com"), model(postroom.Archive, 1))(ctx, tx)
		return err
	})
	require.ErrorIs(t, err, failed)
}
