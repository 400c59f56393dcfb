package rulestore_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/internal/storetest"
	"github.com/postroom-go/postroom/rules/rulestore"
)

// A rule that is saved one by one is checked, and one that has grown old can still be changed elsewhere.
func TestUntilOfAStoredRule(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		later := func(until string) rules.Rule {
			return rules.NewRule("later", rulestest.FromDomain("a.example"), postroom.Snooze,
				postroom.Parameters{"until": until})
		}
		for _, until := range []string{"2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z"} {
			err := storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
				_, err := s.Create(ctx, tx, later(until))
				return err
			})
			require.ErrorIs(t, err, rules.ErrInvalidRule)
			require.ErrorContains(t, err, "parameters: action snooze: "+until)
		}
		stored := storetest.Create(t, db, s, later(time.Now().UTC().Add(time.Hour).Format(time.RFC3339)))
		patch := func(p rulestore.Patch) error {
			return storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
				_, err := s.Patch(ctx, tx, stored.ID, p)
				return err
			})
		}
		past := postroom.Parameters{"until": "2020-01-01T00:00:00Z"}
		require.ErrorContains(t, patch(rulestore.Patch{Parameters: &past}), "is not in the future")
		also := []rules.RuleAction{{Type: postroom.Snooze, Parameters: past}}
		require.ErrorContains(t, patch(rulestore.Patch{Also: &also}), "is not in the future")

		// The rules of a file are read at each start, whatever has passed since they were written.
		require.Equal(t, rulestore.Imported{Changed: 1}, storetest.Import(t, db, s, "", later("2020-01-01T00:00:00Z")))
		name := "no more"
		require.NoError(t, patch(rulestore.Patch{Name: &name}))
		require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
			return s.SetEnabled(ctx, tx, stored.ID, false)
		}))
		require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
			return s.SetEnabled(ctx, tx, stored.ID, true)
		}))
	})
}
