package rulestore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/storetest"
	"github.com/postroom-go/postroom/rules/rulestore"
)

// fromAmy makes a rule for mail of one sender.
func fromAmy(action postroom.ActionType) rules.Rule {
	return rules.NewRule("Amy", rules.Condition{Type: rules.SenderEmail, Value: "amy@example.com"}, action, nil)
}

// TestTheVersionFollowsTheDefinition, and not what changes around it.
func TestTheVersionFollowsTheDefinition(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		r := fromAmy(postroom.Archive)
		stored := storetest.Create(t, db, s, r)
		first := stored.Version()
		again, err := s.Get(t.Context(), stored.ID)
		require.NoError(t, err)
		require.Equal(t, first, again.Version(), "as it is read")
		again.Enabled, again.Position, again.DisabledReason = false, 7, "broken"
		require.Equal(t, first, again.Version())
		again.Action = postroom.Trash
		require.NotEqual(t, first, again.Version())

		require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
			rule, err := s.StoredRule(ctx, tx, stored.ID)
			require.NoError(t, err)
			require.Equal(t, postroom.StoredRule{
				ID: stored.ID, Name: "Amy", Version: first, Enabled: true, SafeMode: postroom.SafeDefault,
				Actions: []postroom.RuleAction{{Type: postroom.Archive, Parameters: postroom.Parameters{}}},
			}, rule)
			_, err = s.StoredRule(ctx, tx, "nobody")
			require.ErrorIs(t, err, postroom.ErrNotFound)
			return nil
		}))
	})
}

// TestAnAlteredColumnIsSeen, whichever it is, though the rule was read before.
func TestAnAlteredColumnIsSeen(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		stored := storetest.Create(t, db, s, fromAmy(postroom.Archive))
		read := func(ctx context.Context, tx queue.Tx) postroom.StoredRule {
			rule, err := s.StoredRule(ctx, tx, stored.ID)
			require.NoError(t, err)
			return rule
		}
		var before postroom.StoredRule
		require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
			before = read(ctx, tx)
			return nil
		}))
		for _, set := range []string{
			`name = 'Amy 2'`, `description = 'x'`, `scope = 'sender'`, `scope_ref = 'amy@example.com'`, `priority = 7`,
			`conditions = '{}'`, `action = 'trash'`,
			`parameters = '{"x":1}'`, `safe_mode = 'dangerous_override'`, `further_actions = '[{"type":"star"}]'`, `continues = 1`, `authentication = 'none'`,
		} {
			undone := errors.New("undone")
			err := db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
				_, err := tx.ExecContext(ctx, "UPDATE deterministic_rules SET "+set+" WHERE id = $1", stored.ID)
				require.NoError(t, err, set)
				require.NotEqual(t, before, read(ctx, tx), set)
				return undone
			})
			require.ErrorIs(t, err, undone)
			require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
				require.Equal(t, before, read(ctx, tx), "after %s was undone", set)
				return nil
			}))
		}
	})
}
