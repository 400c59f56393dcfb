package rulestore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/internal/storetest"
	"github.com/postroom-go/postroom/rules/rulestore"
)

// What stays is as it was: the versions, their rules, and the rules that decisions refer to.
func TestOldVersionsAreDeleted(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		const text = "rules:\n- {name: a, condition: {type: subject_contains, value: v%d}, action: archive}\n- {name: b, condition: {type: unread}, action: star}\n%s"
		for i := 1; i <= 6; i++ {
			more := ""
			if i == 2 {
				more = "- {name: gone, condition: {type: starred}, action: archive}\n"
			}
			importText(t, db, s, "acc", fmt.Sprintf(text, i, more))
		}
		importText(t, db, s, "other", fmt.Sprintf(text, 1, ""))
		kept := map[int64]*rulestore.VersionContent{}
		for _, v := range versions(t, s, rulestore.VersionFilter{}) {
			kept[v.Number] = content(t, s, v.Number)
		}
		require.Len(t, kept, 7)
		second := kept[2].List[0]
		require.Equal(t, "a", second.Name)
		everything := time.Now().Add(time.Hour)
		prune := func(p rulestore.VersionPruning) int {
			n, err := s.PruneVersions(t.Context(), p)
			require.NoError(t, err)
			return n
		}
		nothing := func(string, string) bool { return false }
		require.Zero(t, prune(rulestore.VersionPruning{Before: time.Now().Add(-time.Hour), InUse: nothing}), "they are young")
		require.Zero(t, prune(rulestore.VersionPruning{Before: everything, Keep: 6, InUse: nothing}), "so many stay")
		decided := func(id, version string) bool { return id == second.ID && version == second.Version() }
		require.Equal(t, 3, prune(rulestore.VersionPruning{Before: content(t, s, 5).At, Keep: 2, InUse: decided}),
			"the fourth was in use until the fifth")
		require.Equal(t, kept[4], content(t, s, 4))
		require.Equal(t, 1, prune(rulestore.VersionPruning{Before: everything, Keep: 2, InUse: decided}))
		var left []int64
		for _, v := range versions(t, s, rulestore.VersionFilter{}) {
			left = append(left, v.Number)
			require.Equal(t, kept[v.Number], content(t, s, v.Number), v.Number)
		}
		require.Equal(t, []int64{7, 6, 5}, left)
		then, err := s.RuleAt(t.Context(), second.ID, second.Version())
		require.NoError(t, err, "a decision refers to it")
		require.Equal(t, second.Condition, then.Condition)
		first := kept[1].List[0]
		_, err = s.RuleAt(t.Context(), first.ID, first.Version())
		require.ErrorIs(t, err, postroom.ErrNotFound)
		_, err = s.Version(t.Context(), 4)
		require.ErrorIs(t, err, postroom.ErrNotFound)

		// Going on is as it was, too: nothing that is gone comes back.
		restore(t, db, s, 5)
		require.Equal(t, kept[5].List[0].Condition, storetest.ByName(t, s, "a").Condition)
		importText(t, db, s, "acc", fmt.Sprintf(text, 7, ""))
		newest := versions(t, s, rulestore.VersionFilter{Limit: 1})[0]
		require.EqualValues(t, 9, newest.Number)
		require.Equal(t, 2, newest.Rules)
		require.Len(t, content(t, s, newest.Number).List, 2)
		require.Zero(t, prune(rulestore.VersionPruning{Before: everything, Keep: 4, InUse: nothing}),
			"what has been pruned is")
	})
}

func TestPruningIsRefused(t *testing.T) {
	storetest.Each(t, func(t *testing.T, _ queue.DB, s *rulestore.Store) {
		_, err := s.PruneVersions(t.Context(), rulestore.VersionPruning{Before: time.Now()})
		require.ErrorContains(t, err, "rulestore: VersionPruning.InUse")
		in := func(string, string) bool { return true }
		for _, p := range []rulestore.VersionPruning{{InUse: in}, {Before: time.Now(), Keep: -1, InUse: in}} {
			_, err = s.PruneVersions(t.Context(), p)
			require.ErrorContains(t, err, "rulestore: VersionPruning: Before")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = s.PruneVersions(ctx, rulestore.VersionPruning{Before: time.Now(), InUse: in})
		require.ErrorIs(t, err, context.Canceled)
	})
}
