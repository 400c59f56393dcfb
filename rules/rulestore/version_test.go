package rulestore_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/internal/storetest"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/rules/rulestore"
)

func importText(t *testing.T, db queue.DB, s *rulestore.Store, account, text string) {
	t.Helper()
	f, err := rulesfile.Parse("rules.yaml", strings.NewReader(text))
	require.NoError(t, err)
	require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
		_, err := s.ImportFile(ctx, tx, account, f.ImportSource())
		return err
	}))
}

func restore(t *testing.T, db queue.DB, s *rulestore.Store, number int64) *rulestore.Version {
	t.Helper()
	var v *rulestore.Version
	require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) (err error) {
		v, err = s.Restore(ctx, tx, number)
		return err
	}))
	return v
}

func versions(t *testing.T, s *rulestore.Store, f rulestore.VersionFilter) []rulestore.Version {
	t.Helper()
	list, err := s.Versions(t.Context(), f)
	require.NoError(t, err)
	return list
}

func content(t *testing.T, s *rulestore.Store, number int64) *rulestore.VersionContent {
	t.Helper()
	v, err := s.Version(t.Context(), number)
	require.NoError(t, err)
	return v
}

const firstFile = "\uFEFF# mine\r\nrules:\n- name: a   # the first\n  condition: {type: starred}\n  action: archive\n- {name: b, condition: {type: unread}, action: star}\n"

func TestEveryChangeOfRulesMakesAVersion(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		ada := s.As(rulestore.Author{Name: "ada", Detail: "by hand"})
		importText(t, db, ada, "acc", firstFile)
		importText(t, db, ada, "acc", firstFile) // nothing has changed
		commented := firstFile + "# and more\n"
		importText(t, db, ada, "acc", commented)
		a, b := storetest.ByName(t, s, "a"), storetest.ByName(t, s, "b")
		change := func(fn func(ctx context.Context, tx queue.Tx) error) {
			t.Helper()
			require.NoError(t, storetest.Write(t, db, fn))
		}
		name := "A"
		change(func(ctx context.Context, tx queue.Tx) error {
			_, err := ada.Patch(ctx, tx, a.ID, rulestore.Patch{Name: &name})
			return err
		})
		change(func(ctx context.Context, tx queue.Tx) error { return s.Disable(ctx, tx, b.ID, "it is broken") })
		change(func(ctx context.Context, tx queue.Tx) error { return s.Disable(ctx, tx, b.ID, "it is broken") }) // as it was
		change(func(ctx context.Context, tx queue.Tx) error { return s.Delete(ctx, tx, a.ID) })
		change(func(ctx context.Context, tx queue.Tx) error { return s.SetEnabled(ctx, tx, b.ID, true) })
		storetest.Create(t, db, s, rules.NewRule("nobody's", rulestest.OnLabel("L1"), postroom.Archive, nil))

		list := versions(t, s, rulestore.VersionFilter{})
		require.Len(t, list, 7)
		var origins, details []string
		var counts []int
		for i, v := range list {
			require.EqualValues(t, 7-i, v.Number)
			require.False(t, v.At.IsZero())
			require.Len(t, v.Digest, 64)
			origins, details, counts = append(origins, string(v.By.Origin)), append(details, v.By.Detail),
				append(counts, v.Rules)
		}
		require.Equal(t, []string{"api", "api", "api", "api", "api", "file", "file"}, origins)
		require.Equal(t, []string{"", "", "", "", "by hand", "rules.yaml", "rules.yaml"}, details)
		require.Equal(t, []int{1, 1, 1, 2, 2, 2, 2}, counts)
		require.Equal(t, "ada", list[6].By.Name)
		require.Equal(t, list[6].Digest, list[5].Digest, "a comment changes no rule")
		require.NotEqual(t, list[5].Digest, list[4].Digest)

		require.Equal(t, firstFile, content(t, s, 1).Source, "byte for byte")
		require.Equal(t, commented, content(t, s, 2).Source)
		third := content(t, s, 3)
		thirdText := string(rulesfile.Marshal(rulesfile.FileOf(third.List)))
		require.False(t, third.HasSource)
		_, err := rulesfile.Parse("3.yaml", strings.NewReader(thirdText))
		require.NoError(t, err, thirdText)
		require.Equal(t, []string{"A", "b"}, []string{third.List[0].Name, third.List[1].Name})
		require.Equal(t, "it is broken", content(t, s, 4).List[1].DisabledReason)

		acc, none := "acc", ""
		require.Len(t, versions(t, s, rulestore.VersionFilter{Account: &acc, Limit: 2}), 2)
		require.EqualValues(t, 7, versions(t, s, rulestore.VersionFilter{Account: &none})[0].Number)
		require.EqualValues(t, 2, versions(t, s, rulestore.VersionFilter{Before: 3})[0].Number)
		_, err = s.Versions(t.Context(), rulestore.VersionFilter{Limit: -1})
		require.ErrorContains(t, err, "VersionFilter.Limit is -1")
		_, err = s.Version(t.Context(), 8)
		require.ErrorIs(t, err, postroom.ErrNotFound)
	})
}

func TestGoingBackBringsTheRulesBackAsTheyWere(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		importText(t, db, s, "acc", firstFile)
		before, err := s.List(t.Context())
		require.NoError(t, err)
		storetest.Create(t, db, s, rules.NewRule("another account's", rulestest.OnLabel("L1"), postroom.Archive, nil))
		// The names change hands, b goes, and c comes.
		importText(t, db, s, "acc",
			"rules: [{name: c, condition: {type: starred}, action: star}, {name: a, condition: {type: unread}, action: archive}]")

		v := restore(t, db, s, 1)
		require.EqualValues(t, 4, v.Number)
		require.Equal(t, rulestore.Author{Origin: rulestore.OriginRestore, Detail: "version 1"}, v.By)
		require.Equal(t, content(t, s, 1).Digest, v.Digest)
		require.Equal(t, firstFile, content(t, s, 4).Source)
		after, err := s.List(t.Context())
		require.NoError(t, err)
		require.Len(t, after, 3, "what belongs to no account is left alone")
		for i := range before {
			require.Greater(t, after[i+1].Revision, before[i].Revision)
			after[i+1].Revision, after[i+1].UpdatedAt = before[i].Revision, before[i].UpdatedAt
		}
		require.Equal(t, before, after[1:], "ids included")
		require.EqualValues(t, 4, restore(t, db, s, 1).Number, "what is so already makes no version")
		require.EqualValues(t, 5, restore(t, db, s, 3).Number, "and forward again")
		require.Equal(t, []string{"another account's", "c", "a"}, storetest.Names(t, s))

		err = storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
			_, err := s.Restore(ctx, tx, 99)
			return err
		})
		require.ErrorIs(t, err, postroom.ErrNotFound)
		known, err := s.KnowsSource(t.Context(), firstFile)
		require.NoError(t, err)
		require.True(t, known)
		known, err = s.KnowsSource(t.Context(), firstFile+"\n")
		require.NoError(t, err)
		require.False(t, known)
	})
}

func TestTheRuleOfAnOldDecisionCanBeShown(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		made := storetest.Create(t, db, s, rules.NewRule("a", rulestest.OnLabel("L1"), postroom.Archive, nil))
		then := made.Version()
		action := postroom.Star
		require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
			_, err := s.Patch(ctx, tx, made.ID, rulestore.Patch{Action: &action})
			return err
		}))
		require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
			return s.Delete(ctx, tx, made.ID)
		}))
		old, err := s.RuleAt(t.Context(), made.ID, then)
		require.NoError(t, err)
		require.Equal(t, postroom.Archive, old.Action)
		require.Equal(t, then, old.Version())
		_, err = s.RuleAt(t.Context(), made.ID, "never")
		require.ErrorIs(t, err, postroom.ErrNotFound)
	})
}

// Rules that were stored before versions were kept are the first version.
func TestRulesFromBeforeAreAVersion(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		one := storetest.Create(t, db, s, rules.NewRule("a", rulestest.OnLabel("L1"), postroom.Archive, nil))
		storetest.Create(t, db, s, rules.NewRule("b", rulestest.OnLabel("L1"), postroom.Archive, nil))
		for _, table := range []string{"rule_history", "rule_versions"} {
			require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
				_, err := tx.ExecContext(ctx, "DELETE FROM "+table)
				return err
			}))
		}
		require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
			return s.Delete(ctx, tx, one.ID)
		}))
		list := versions(t, s, rulestore.VersionFilter{})
		require.Len(t, list, 2)
		require.Equal(t, rulestore.OriginFound, list[1].By.Origin)
		require.Equal(t, 2, list[1].Rules)
		require.Equal(t, 1, list[0].Rules)
		restore(t, db, s, 1)
		require.Equal(t, []string{"a", "b"}, storetest.Names(t, s))
	})
}

// A rule that the program cannot read any more is brought back as it was: it is the engine's to disable it.
func TestBrokenRulesAreBroughtBackToo(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		made := storetest.Create(t, db, s, rules.NewRule("a", rulestest.OnLabel("L1"), postroom.Archive, nil))
		require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE deterministic_rules SET conditions = '{"type":"of the future"}'`)
			return err
		}))
		require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
			return s.Disable(ctx, tx, made.ID, "broken")
		}))
		require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
			return s.Delete(ctx, tx, made.ID)
		}))
		restore(t, db, s, 2)
		back := storetest.ByName(t, s, "a")
		require.EqualValues(t, "of the future", back.Condition.Type)
		require.Equal(t, "broken", back.DisabledReason)
		require.Contains(t, string(rulesfile.Marshal(rulesfile.FileOf(content(t, s, 2).List))), "of the future")
	})
}

func TestAPatchForAnOlderRevisionChangesNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		made := storetest.Create(t, db, s, rules.NewRule("a", rulestest.OnLabel("L1"), postroom.Archive, nil))
		patch := func(name string, revision int64) (r *rules.Rule, err error) {
			err = storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) (err error) {
				r, err = s.Patch(ctx, tx, made.ID, rulestore.Patch{Name: &name, Revision: revision})
				return err
			})
			return r, err
		}
		first, err := patch("first", made.Revision)
		require.NoError(t, err)
		_, err = patch("second", made.Revision)
		require.ErrorIs(t, err, rulestore.ErrChanged)
		require.ErrorContains(t, err, `rule "first": the rule has been changed meanwhile: the patch is for revision`)
		require.Equal(t, []string{"first"}, storetest.Names(t, s))
		_, err = patch("third", first.Revision)
		require.NoError(t, err)
		_, err = patch("whoever", 0)
		require.NoError(t, err)
	})
}

// Of patches that come at once for one revision, one is done.
func TestConcurrentPatches(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, rulestore.Migrate(t.Context(), db))
		s, err := rulestore.New(rulestore.Config{DB: db})
		require.NoError(t, err)
		made := storetest.Create(t, db, s, rules.NewRule("a", rulestest.OnLabel("L1"), postroom.Archive, nil))
		answers := make(chan error)
		for i := range 8 {
			go func() {
				priority := i
				answers <- db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
					_, err := s.Patch(ctx, tx, made.ID, rulestore.Patch{Priority: &priority, Revision: made.Revision})
					return err
				})
			}()
		}
		done := 0
		for range 8 {
			if err := <-answers; err == nil {
				done++
			} else {
				require.ErrorIs(t, err, rulestore.ErrChanged)
			}
		}
		require.Equal(t, 1, done)
	})
}
