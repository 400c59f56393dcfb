package safety

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/gate"
	"github.com/postroom-go/postroom/safety/limits"
)

// A tenant's own policy holds when a decision is recorded, when its action starts, and when a breaker counts; the
// others keep the policy of all.
func TestAnAccountHasAPolicyOfItsOwn(t *testing.T) {
	const tenant = "account-2"
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		own, err := gate.New(gate.Policy{
			ConfidenceThreshold: 0.95, Caps: []limits.Cap{{Actions: []postroom.ActionType{postroom.Star}, Most: 1,
				Window: time.Hour}},
			Breaker: limits.Breaker{Undos: 1, OpenFor: time.Hour}, ModelUnattended: []postroom.ActionType{postroom.Star},
			Quiet: limits.Quiet{Spans: []limits.QuietSpan{{From: 22 * time.Hour, To: 7 * time.Hour}}, Zone: time.UTC,
				May: []postroom.ActionType{postroom.MarkRead, postroom.Star}},
		}, nil)
		require.NoError(t, err)
		d := newDesk(t, db, func(c *Config) {
			c.PolicyOf = func(accountID string) *gate.Gate {
				if accountID == tenant {
					return own
				}
				return nil
			}
		})
		decide := func(accountID string, dec postroom.Decision) postroom.Action {
			msg := message("a@example.com")
			msg.AccountID = accountID
			return d.record(msg, dec)
		}
		for accountID, checks := range map[string][]gate.Override{"account-1": {},
			tenant: {gate.OverrideLowConfidence, gate.OverrideModel}} {
			require.Equal(t, checks, d.checks(decide(accountID, model(postroom.Archive, 0.9))), accountID)
		}
		stars := func(accountID string) []gate.Override { return d.checks(decide(accountID, rule(postroom.Star, ""))) }
		require.Empty(t, stars(tenant))
		require.Equal(t, []gate.Override{gate.OverrideCap}, stars(tenant))
		require.Empty(t, stars("account-1"))
		require.Empty(t, stars("account-1"))

		d.now = time.Date(2026, 11, 26, 23, 0, 0, 0, time.UTC)
		start := func(accountID string, t postroom.ActionType) (postroom.Action, error) {
			return d.start(decide(accountID, rule(t, "")).ID, "job-1")
		}
		_, err = start("account-1", postroom.Archive)
		require.NoError(t, err)
		_, err = start(tenant, postroom.Archive)
		require.ErrorIs(t, err, postroom.ErrHeld)
		read, err := start(tenant, postroom.MarkRead)
		require.NoError(t, err)

		require.NoError(t, d.complete(read.ID, postroom.UndoHint{}))
		undone, err := d.startUndo(read.ID, "job-2")
		require.NoError(t, err)
		require.NoError(t, d.complete(undone.ID, postroom.UndoHint{}))
		require.Equal(t, []gate.Override{gate.OverrideBreaker}, d.checks(decide(tenant, rule(postroom.MarkRead, ""))))
		require.Empty(t, d.checks(decide("account-1", rule(postroom.MarkRead, ""))))
	})
}
