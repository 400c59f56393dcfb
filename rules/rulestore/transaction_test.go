package rulestore_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/internal/storetest"
	"github.com/postroom-go/postroom/rules/rulestore"
)

// What is read in a transaction is what the transaction has written.
func TestATransactionReadsItsOwnRules(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
			_, err := s.NewestTx(ctx, tx, "ada")
			require.ErrorIs(t, err, postroom.ErrNotFound)
			const text = "rules: []"
			_, err = s.ImportFile(ctx, tx, "ada", rules.Source{Name: "a.yaml", Text: text,
				Rules: []rules.Rule{rules.NewRule("Tea", rulestest.FromDomain("example.com"), postroom.Star, nil)}})
			require.NoError(t, err)

			list, err := s.ListTx(ctx, tx)
			require.NoError(t, err)
			require.Len(t, list, 1)
			one, err := s.GetTx(ctx, tx, list[0].ID)
			require.NoError(t, err)
			require.Equal(t, "Tea", one.Name)
			newest, err := s.NewestTx(ctx, tx, "ada")
			require.NoError(t, err)
			require.Equal(t, text, newest.Source)
			require.Len(t, newest.List, 1)
			known, err := s.KnowsSourceTx(ctx, tx, text)
			require.NoError(t, err)
			require.True(t, known)
			return nil
		}))
	})
}
