// Package storetest has what the tests of stored rules share.
package storetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulestore"
)

// Each runs fn on a migrated store on every database.
func Each(t *testing.T, fn func(t *testing.T, db queue.DB, s *rulestore.Store)) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, rulestore.Migrate(t.Context(), db))
		require.NoError(t, rulestore.Migrate(t.Context(), db), "migrating twice does nothing twice")
		s, err := rulestore.New(rulestore.Config{DB: db})
		require.NoError(t, err)
		fn(t, db, s)
	})
}

// Write runs fn in a write transaction.
func Write(t *testing.T, db queue.DB, fn func(ctx context.Context, tx queue.Tx) error) error {
	t.Helper()
	return db.Write(t.Context(), fn)
}

// Create stores a rule.
func Create(t *testing.T, db queue.DB, s *rulestore.Store, r rules.Rule) *rules.Rule {
	t.Helper()
	var created *rules.Rule
	require.NoError(t, Write(t, db, func(ctx context.Context, tx queue.Tx) (err error) {
		created, err = s.Create(ctx, tx, r)
		return err
	}))
	return created
}

// Import imports the rules of an account.
func Import(t *testing.T, db queue.DB, s *rulestore.Store, accountID string, list ...rules.Rule) rulestore.Imported {
	t.Helper()
	var done rulestore.Imported
	require.NoError(t, Write(t, db, func(ctx context.Context, tx queue.Tx) (err error) {
		done, err = s.Import(ctx, tx, accountID, list)
		return err
	}))
	return done
}

// Names returns the names of all rules, in order.
func Names(t *testing.T, s *rulestore.Store) []string {
	t.Helper()
	list, err := s.List(t.Context())
	require.NoError(t, err)
	var found []string
	for _, r := range list {
		found = append(found, r.Name)
	}
	return found
}

// ByName returns the rule with the name.
func ByName(t *testing.T, s *rulestore.Store, name string) rules.Rule {
	t.Helper()
	list, err := s.List(t.Context())
	require.NoError(t, err)
	for _, r := range list {
		if r.Name == name {
			return r
		}
	}
	require.Fail(t, "no such rule", name)
	return rules.Rule{}
}
