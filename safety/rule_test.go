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
)

// A shelf is a store of rules.
type shelf map[string]postroom.StoredRule

func (s shelf) StoredRule(_ context.Context, _ queue.Tx, id string) (postroom.StoredRule, error) {
	r, ok := s[id]
	if !ok {
		return r, notFound("rule", id)
	}
	return r, nil
}

// storedRule is the rule that decides as rule does.
func storedRule(action postroom.ActionType, mode postroom.SafeMode, p postroom.Parameters) postroom.StoredRule {
	return postroom.StoredRule{
		ID: "rule-1", Name: "Receipts", Version: "v1", Enabled: true, SafeMode: mode,
		Actions: []postroom.RuleAction{{Type: action, Parameters: p}},
	}
}

// TestTheStoredRuleDecidesWhatIsReleased: what a decision says about its rule releases nothing.
func TestTheStoredRuleDecidesWhatIsReleased(t *testing.T) {
	const override = postroom.SafeDangerousOverride
	to := func(address string) postroom.Parameters { return postroom.Parameters{"to": []any{address}} }
	decided := func(change func(*postroom.Decision)) postroom.Decision {
		d := rule(postroom.Forward, override)
		d.RuleVersion, d.Parameters = "v1", postroom.Parameters{"to": []string{"boss@example.com"}}
		if change != nil {
			change(&d)
		}
		return d
	}
	stored := storedRule(postroom.Forward, override, to("boss@example.com"))
	with := func(change func(*postroom.StoredRule)) shelf {
		r := stored
		change(&r)
		return shelf{"rule-1": r}
	}
	for name, tc := range map[string]struct {
		rules    Rules
		decision postroom.Decision
		doubt    string // empty: none
		waits    bool
	}{
		"as it matched":      {rules: shelf{"rule-1": stored}, decision: decided(nil)},
		"no store":           {decision: decided(nil), waits: true},
		"a made-up rule":     {rules: shelf{}, decision: decided(nil), waits: true, doubt: "is no longer stored"},
		"another version":    {rules: shelf{"rule-1": stored}, decision: decided(func(d *postroom.Decision) { d.RuleVersion = "v0" }), waits: true, doubt: "has been changed since it matched"},
		"no version":         {rules: with(func(r *postroom.StoredRule) { r.Version = "" }), decision: decided(func(d *postroom.Decision) { d.RuleVersion = "" }), waits: true, doubt: "has been changed since it matched"},
		"disabled":           {rules: with(func(r *postroom.StoredRule) { r.Enabled = false }), decision: decided(nil), waits: true, doubt: "is disabled now"},
		"its mode is stored": {rules: with(func(r *postroom.StoredRule) { r.SafeMode = postroom.SafeDefault }), decision: decided(nil), waits: true},
		"another target": {
			rules: shelf{"rule-1": stored}, decision: decided(func(d *postroom.Decision) {
				d.Parameters = to("mallory@example.com")
			}),
			waits: true, doubt: "does not say forward with these parameters",
		},
		"a further target": {
			rules: shelf{"rule-1": stored}, decision: decided(func(d *postroom.Decision) {
				d.Parameters = postroom.Parameters{"to": []any{"boss@example.com"}, "cc": "mallory@example.com"}
			}),
			waits: true, doubt: "does not say forward with these parameters",
		},
		"another action": {
			rules: shelf{"rule-1": stored}, decision: decided(func(d *postroom.Decision) { d.Action = postroom.Delete }),
			waits: true, doubt: "does not say delete with these parameters",
		},
		"a safe action of a made-up rule": {
			rules: shelf{}, decision: decided(func(d *postroom.Decision) {
				d.Action, d.Parameters = postroom.Archive, nil
			}), waits: true, doubt: "is no longer stored",
		},
		"a label by its name": {
			rules: shelf{"rule-1": storedRule(postroom.Move, postroom.SafeDefault, postroom.Parameters{"label": "Shops"})},
			decision: decided(func(d *postroom.Decision) {
				d.Action, d.Parameters = postroom.Move, postroom.Parameters{"label": "Label_7"}
			}),
		},
		"nothing to do": {rules: shelf{"rule-1": stored}, decision: decided(func(d *postroom.Decision) { d.Action, d.Parameters = postroom.None, nil })},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, db queue.DB) {
				d := newDesk(t, db, func(c *Config) { c.Rules = tc.rules })
				a := d.record(message("a@example.com"), tc.decision)
				require.Equal(t, tc.waits, a.State == postroom.ActionPendingApproval, "%s", a.State)
				rec, err := d.ledger.Decision(t.Context(), a.DecisionID)
				require.NoError(t, err)
				require.Equal(t, tc.decision.RuleVersion, rec.Decision.RuleVersion)
				if tc.doubt == "" {
					require.NotContains(t, rec.Verdict.Overrides, gate.OverrideRule)
					return
				}
				require.Contains(t, rec.Verdict.Overrides, gate.OverrideRule)
				require.Contains(t, rec.Verdict.Reasons, "rule 'Receipts' decided, and "+tc.doubt)
			})
		})
	}
}

// TestARuleStoreThatFailsRecordsNothing: what cannot be looked up is not decided.
func TestARuleStoreThatFailsRecordsNothing(t *testing.T) {
	broken := errors.New("disk full")
	d := newDesk(t, dbtest.SQLite(t), func(c *Config) { c.Rules = brokenShelf{broken} })
	for _, record := range []func(ctx context.Context, tx queue.Tx) (postroom.Action, error){
		func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
			return d.ledger.Record(ctx, message("a@example.com"), rule(postroom.Archive, ""))(ctx, tx)
		},
		func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
			return d.ledger.Refuse(ctx, tx, message("a@example.com"), rule(postroom.Archive, ""), "no")
		},
	} {
		_, err := d.act(record)
		require.ErrorIs(t, err, broken)
	}
	s, err := d.ledger.Activity().Summary(t.Context(), "")
	require.NoError(t, err)
	require.Empty(t, s.Actions)
}

type brokenShelf struct{ err error }

func (s brokenShelf) StoredRule(context.Context, queue.Tx, string) (postroom.StoredRule, error) {
	return postroom.StoredRule{}, s.err
}
