package rulestore_test

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/internal/storetest"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/rules/rulestore"
)

func TestStoreKeepsRules(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		r := rules.NewRule("Räksmörgås 🍤", rules.AllOf(rulestest.FromDomain("example.com"),
			rules.NoneOf(rules.Condition{Type: rules.HeaderMatch, Header: "List-Id", Pattern: `<dev\.`})),
			postroom.ApplyLabel, postroom.Parameters{"label": "Shops", "n": 1.5, "list": []any{"a", true, nil}})
		r.Description = "what it is for"
		r.Scope, r.ScopeRef = rules.ScopeSender, "Amy@Example.COM"
		r.SafeMode = postroom.SafeDangerousOverride
		created := storetest.Create(t, db, s, r)
		require.NotEmpty(t, created.ID)
		require.Equal(t, "amy@example.com", created.ScopeRef, "references are kept in the form they are compared in")

		stored, err := s.Get(t.Context(), created.ID)
		require.NoError(t, err)
		require.Equal(t, created, stored)
	})
}

func TestStoreFillsInDefaults(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		created := storetest.Create(t, db, s, rules.NewRule("plain", rulestest.FromDomain("example.com"),
			postroom.Archive, nil))
		require.Equal(t, rules.ScopeGlobal, created.Scope)
		require.Equal(t, 100, created.Priority)
		require.True(t, created.Enabled)
		require.Equal(t, postroom.Parameters{}, created.Parameters)
		require.Equal(t, postroom.SafeDefault, created.SafeMode)
	})
}

func TestStoreRefusesInvalidRules(t *testing.T) {
	valid := func() rules.Rule {
		return rules.NewRule("r", rulestest.FromDomain("example.com"), postroom.Archive, nil)
	}
	cases := map[string]func(*rules.Rule){
		"no name":                func(r *rules.Rule) { r.Name = " " },
		"a name of two lines":    func(r *rules.Rule) { r.Name = "a\nb" },
		"a NUL in a text":        func(r *rules.Rule) { r.Description = "a\x00b" },
		"no condition":           func(r *rules.Rule) { r.Condition = rules.Condition{} },
		"a bad regex":            func(r *rules.Rule) { r.Condition = rules.Condition{Type: rules.SubjectRegex, Value: "("} },
		"an unknown action":      func(r *rules.Rule) { r.Action = "explode" },
		"no label":               func(r *rules.Rule) { r.Action = postroom.Move },
		"an unknown scope":       func(r *rules.Rule) { r.Scope = "world" },
		"no reference":           func(r *rules.Rule) { r.Scope = rules.ScopeDomain },
		"another account's mail": func(r *rules.Rule) { r.AccountID, r.Scope, r.ScopeRef = "a", rules.ScopeAccount, "b" },
		"an unknown safe mode":   func(r *rules.Rule) { r.SafeMode = "yolo" },
		"a number that is none":  func(r *rules.Rule) { r.Parameters = postroom.Parameters{"n": math.NaN()} },
		"a priority out of all":  func(r *rules.Rule) { r.Priority = 1 << 30 },
	}
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		for name, spoil := range cases {
			t.Run(name, func(t *testing.T) {
				r := valid()
				spoil(&r)
				err := storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
					_, err := s.Create(ctx, tx, r)
					return err
				})
				require.ErrorIs(t, err, rules.ErrInvalidRule)
			})
		}
		require.Empty(t, storetest.Names(t, s))
	})
}

func TestNamesAreUniqueWithinAnAccount(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		r := rules.NewRule("r", rulestest.FromDomain("example.com"), postroom.Archive, nil)
		storetest.Create(t, db, s, r)
		err := storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
			_, err := s.Create(ctx, tx, r)
			return err
		})
		require.ErrorIs(t, err, rulestore.ErrNameTaken)

		r.AccountID = "another"
		storetest.Create(t, db, s, r)
	})
}

func TestPatchKeepsClearsAndSets(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		r := rules.NewRule("r", rulestest.FromDomain("example.com"), postroom.Archive, nil)
		r.Description, r.Scope, r.ScopeRef = "why", rules.ScopeDomain, "example.com"
		id := storetest.Create(t, db, s, r).ID
		require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
			return s.Disable(ctx, tx, id, "tired")
		}))

		patch := func(text string) *rules.Rule {
			var p rulestore.Patch
			require.NoError(t, json.Unmarshal([]byte(text), &p))
			var patched *rules.Rule
			require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) (err error) {
				patched, err = s.Patch(ctx, tx, id, p)
				return err
			}))
			stored, err := s.Get(t.Context(), id)
			require.NoError(t, err)
			require.Equal(t, stored, patched)
			return patched
		}

		kept := patch(`{}`)
		require.Equal(t, "why", kept.Description)
		require.Equal(t, "tired", kept.DisabledReason)
		require.False(t, kept.Enabled)

		set := patch(
			`{"description":"because","disabled_reason":"asleep","priority":5,"name":"s","action":"move","parameters":{"label":"X"}}`)
		require.Equal(t, "because", set.Description)
		require.Equal(t, "asleep", set.DisabledReason)
		require.Equal(t, 5, set.Priority)
		require.Equal(t, postroom.Move, set.Action)

		cleared := patch(`{"description":null,"enabled":true}`)
		require.Empty(t, cleared.Description)
		require.True(t, cleared.Enabled)
		require.Empty(t, cleared.DisabledReason, "an enabled rule has no reason to be disabled")

		require.Empty(t, patch(`{"scope":"global"}`).ScopeRef, "a change to global clears the reference")

		err := storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
			_, err := s.Patch(ctx, tx, id, rulestore.Patch{Condition: &rules.Condition{}})
			return err
		})
		require.ErrorIs(t, err, rules.ErrEmptyCondition)
	})
}

func TestSwapExchangesPriorities(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		first := rules.NewRule("first", rulestest.FromDomain("example.com"), postroom.Archive, nil)
		first.Priority = 1
		a := storetest.Create(t, db, s, first).ID
		b := storetest.Create(t, db, s, rules.NewRule("second", rulestest.FromDomain("example.com"), postroom.Star, nil)).ID
		swap := func(x, y string) error {
			return storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error { return s.Swap(ctx, tx, x, y) })
		}
		require.NoError(t, swap(a, b))
		require.Equal(t, []string{"second", "first"}, storetest.Names(t, s))

		require.ErrorIs(t, swap(a, a), rulestore.ErrSameRule)
		require.ErrorIs(t, swap(a, "nobody"), postroom.ErrNotFound)
		require.ErrorIs(t, swap("nobody", a), postroom.ErrNotFound)
		require.Equal(t, []string{"second", "first"}, storetest.Names(t, s), "a swap that fails changes nothing")
	})
}

func TestDeleteRemovesARule(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		id := storetest.Create(t, db, s, rules.NewRule("r", rulestest.FromDomain("example.com"), postroom.Archive, nil)).ID
		remove := func(ctx context.Context, tx queue.Tx) error { return s.Delete(ctx, tx, id) }
		require.NoError(t, storetest.Write(t, db, remove))
		require.ErrorIs(t, storetest.Write(t, db, remove), postroom.ErrNotFound)
		_, err := s.Get(t.Context(), id)
		require.ErrorIs(t, err, postroom.ErrNotFound)
	})
}

func TestImportMakesTheStoreEqualTheFile(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		a := rules.NewRule("a", rulestest.FromDomain("a.example"), postroom.Archive, nil)
		b := rules.NewRule("b", rulestest.FromDomain("b.example"), postroom.Archive, nil)
		c := rules.NewRule("c", rulestest.FromDomain("c.example"), postroom.Archive, nil)
		a.Position, b.Position, c.Position = 1, 2, 3
		shared := storetest.Create(t, db, s, rules.NewRule("shared", rulestest.FromDomain("a.example"), postroom.Star, nil))

		require.Equal(t, rulestore.Imported{Added: 2}, storetest.Import(t, db, s, "acc", b, c))
		require.Equal(t, rulestore.Imported{Unchanged: 2}, storetest.Import(t, db, s, "acc", b, c))
		id := storetest.ByName(t, s, "b").ID

		b.Action, b.Position = postroom.Star, 1
		a.Position = 2
		require.Equal(t, rulestore.Imported{Added: 1, Changed: 1, Removed: 1}, storetest.Import(t, db, s, "acc", b, a))
		require.Equal(t, []string{"shared", "b", "a"}, storetest.Names(t, s), "the file's order, new rule or old")
		require.Equal(t, id, storetest.ByName(t, s, "b").ID, "a changed rule keeps its id")
		require.Equal(t, postroom.Star, storetest.ByName(t, s, "b").Action)
		require.Equal(t, *shared, storetest.ByName(t, s, "shared"), "rules of others stay")
	})
}

// TestImportOfNothing: what a caller forgot to read deletes no rules; what a person wrote does.
func TestImportOfNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		storetest.Import(t, db, s, "acc", rules.NewRule("kept", rulestest.FromDomain("a.example"), postroom.Archive, nil))
		err := storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
			_, err := s.Import(ctx, tx, "acc", nil)
			return err
		})
		require.ErrorIs(t, err, rulestore.ErrNoRules)
		require.ErrorContains(t, err, `account "acc"`)
		require.Equal(t, []string{"kept"}, storetest.Names(t, s))

		file, err := rulesfile.Parse("empty.yaml", strings.NewReader("rules: []"))
		require.NoError(t, err)
		require.Equal(t, rulestore.Imported{Removed: 1}, storetest.Import(t, db, s, "acc", file.Rules...))
	})
}

func TestImportLeavesADisabledRuleUntilItsDefinitionChanges(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		r := rules.NewRule("r", rulestest.FromDomain("a.example"), postroom.Move, postroom.Parameters{"label": "Old"})
		storetest.Import(t, db, s, "acc", r)
		disableUsing(t, db, s, "acc", postroom.Label{ID: "L1", Name: "old"}, 1)

		r.Position = 7
		storetest.Import(t, db, s, "acc", r)
		require.False(t, storetest.ByName(t, s, "r").Enabled, "to stand elsewhere is no change of what it does")
		require.Equal(t, "Label 'old' was deleted from Gmail", storetest.ByName(t, s, "r").DisabledReason)

		r.Parameters = postroom.Parameters{"label": "New"}
		storetest.Import(t, db, s, "acc", r)
		require.True(t, storetest.ByName(t, s, "r").Enabled)
		require.Empty(t, storetest.ByName(t, s, "r").DisabledReason)
	})
}

func TestImportChecksAllBeforeItWritesAny(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		storetest.Import(t, db, s, "acc", rules.NewRule("kept", rulestest.FromDomain("a.example"), postroom.Archive, nil))
		good := rules.NewRule("good", rulestest.FromDomain("a.example"), postroom.Archive, nil)
		others := rules.NewRule("others", rulestest.FromDomain("a.example"), postroom.Archive, nil)
		others.Scope, others.ScopeRef = rules.ScopeAccount, "other"
		for name, list := range map[string][]rules.Rule{
			"an invalid rule": {good, rules.NewRule("bad", rules.Condition{}, postroom.Archive, nil)},
			"a name twice":    {good, good},
			"another's mail":  {good, others},
		} {
			err := storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
				_, err := s.Import(ctx, tx, "acc", list)
				require.Error(t, err, name)
				return nil // even a caller that commits after the error has changed nothing
			})
			require.NoError(t, err)
			require.Equal(t, []string{"kept"}, storetest.Names(t, s))
		}
	})
}

func disableUsing(t *testing.T, db queue.DB, s *rulestore.Store, accountID string, label postroom.Label, want int) {
	t.Helper()
	require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
		disabled, err := s.DisableUsingLabel(ctx, tx, accountID, label)
		require.Len(t, disabled, want)
		return err
	}))
}

func TestADeletedLabelDisablesItsAccountsRules(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		add := func(name, accountID string, c rules.Condition, action postroom.ActionType, p postroom.Parameters) {
			r := rules.NewRule(name, c, action, p)
			r.AccountID = accountID
			storetest.Create(t, db, s, r)
		}
		shops := postroom.Parameters{"label": "shops"}
		add("by id in a condition", "acc", rules.AnyOf(rulestest.FromDomain("x.example"),
			rules.NoneOf(rulestest.OnLabel("Label_7"))), postroom.Archive, nil)
		add("by name in a parameter", "acc", rulestest.FromDomain("x.example"), postroom.ApplyLabel, shops)
		add("by id in a parameter", "acc", rulestest.FromDomain("x.example"), postroom.ApplyLabel,
			postroom.Parameters{"label": "Label_7"})
		add("longer id", "acc", rulestest.OnLabel("Label_77"), postroom.Archive, nil)
		add("the word in a regex", "acc", rules.Condition{Type: rules.SubjectRegex, Value: "Shops"}, postroom.Archive, nil)
		add("another account's", "other", rulestest.OnLabel("Label_7"), postroom.ApplyLabel, shops)
		add("all accounts'", "", rulestest.OnLabel("Label_7"), postroom.ApplyLabel, shops)
		scoped := rules.NewRule("scoped to the account", rulestest.OnLabel("Label_7"), postroom.Archive, nil)
		scoped.Scope, scoped.ScopeRef = rules.ScopeAccount, "acc"
		storetest.Create(t, db, s, scoped)

		disableUsing(t, db, s, "acc", postroom.Label{ID: "Label_7", Name: "Shops"}, 4)
		disableUsing(t, db, s, "acc", postroom.Label{ID: "Label_7", Name: "Shops"}, 0)

		var off []string
		list, err := s.List(t.Context())
		require.NoError(t, err)
		for _, r := range list {
			if !r.Enabled {
				off = append(off, r.Name)
				require.Equal(t, "Label 'Shops' was deleted from Gmail", r.DisabledReason)
			}
		}
		require.ElementsMatch(t, []string{"by id in a condition", "by name in a parameter", "by id in a parameter",
			"scoped to the account"}, off)
	})
}

func TestSetEnabledForgetsTheReason(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		id := storetest.Create(t, db, s, rules.NewRule("r", rulestest.FromDomain("example.com"), postroom.Archive, nil)).ID
		for _, step := range []struct {
			do      func(ctx context.Context, tx queue.Tx) error
			enabled bool
			reason  string
		}{
			{func(ctx context.Context, tx queue.Tx) error { return s.Disable(ctx, tx, id, "broken\x00") }, false, "broken\uFFFD"},
			{func(ctx context.Context, tx queue.Tx) error { return s.SetEnabled(ctx, tx, id, true) }, true, ""},
			{func(ctx context.Context, tx queue.Tx) error { return s.SetEnabled(ctx, tx, id, false) }, false, ""},
		} {
			require.NoError(t, storetest.Write(t, db, step.do))
			require.Equal(t, step.enabled, storetest.ByName(t, s, "r").Enabled)
			require.Equal(t, step.reason, storetest.ByName(t, s, "r").DisabledReason)
		}
	})
}

func TestStoreNamesWhatIsMissing(t *testing.T) {
	_, err := rulestore.New(rulestore.Config{})
	require.EqualError(t, err,
		"rulestore: Config.DB is nil; it is required: give a database opened with queue/sqlite or queue/postgres")
	_, err = rulestore.New(rulestore.Config{DB: (*sqlite.DB)(nil)})
	require.ErrorContains(t, err, "rulestore: Config.DB holds a nil *sqlite.DB")
	require.ErrorContains(t, rulestore.Migrate(t.Context(), nil), "rulestore: Migrate: db is nil")
}
