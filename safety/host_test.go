package safety

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/safety/gate"
)

// host is a decision of the program that embeds the ledger.
func host(action postroom.ActionType) postroom.Decision {
	return postroom.Decision{Action: action, Confidence: 1, Rationale: "the ticket is closed", Source: postroom.SourceHost}
}

// What a host decides has a source of its own, and the checks are about it as about others.
func TestAHostDecides(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(c *Config) { c.Rules = shelf{} })
		a := d.record(message("a@example.com"), host(postroom.Archive))
		require.Equal(t, postroom.ActionQueued, a.State)
		list, err := d.ledger.Decisions(t.Context(), Filter{Sources: []postroom.Source{postroom.SourceHost}})
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, postroom.SourceHost, list[0].Decision.Source)

		require.Equal(t, []gate.Override{gate.OverrideDangerous, gate.OverrideApprovalAlways},
			d.checks(d.record(message("a@example.com"), host(postroom.Delete))))
		posing := host(postroom.Delete)
		posing.RuleID, posing.SafeMode = "rule-1", postroom.SafeDangerousOverride
		require.Equal(t, postroom.ActionPendingApproval, d.record(message("a@example.com"), posing).State)
	})
}

// A decision that names no rule is none of the user's rules.
func TestADecisionOfNoRuleAsks(t *testing.T) {
	for name, rules := range map[string]Rules{"a store": shelf{}, "no store": nil} {
		d := newDesk(t, dbtest.SQLite(t), func(c *Config) { c.Rules = rules })
		nameless := rule(postroom.Archive, postroom.SafeDangerousOverride)
		nameless.RuleID = ""
		a := d.record(message("a@example.com"), nameless)
		require.Equal(t, postroom.ActionPendingApproval, a.State, name)
		require.Equal(t, []gate.Override{gate.OverrideRule}, d.checks(a), name)
		nothing := rule(postroom.None, "")
		nothing.RuleID = ""
		require.Equal(t, postroom.ActionCompleted, d.record(message("a@example.com"), nothing).State, name)
	}
}

// The schema whose text the migration changes is a sound one, which still refuses other sources.
func TestTheSourcesOfTheSchema(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		d.record(message("a@example.com"), host(postroom.Archive))
		require.Error(t, d.write(func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE decisions SET source = 'other'")
			return err
		}))
		if db.Dialect() == driver.SQLite {
			var fault string
			require.NoError(t, dbquery.Get(t.Context(), db.Reader(), &fault, "PRAGMA integrity_check"))
			require.Equal(t, "ok", fault)
		}
	})
}
