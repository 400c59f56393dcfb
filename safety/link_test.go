package safety

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// Seed 003 names the relations of actions: undo, approval and spawned.
func TestActionsAreLinked(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		ran := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
		asked := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		chosen := d.record(message("a@example.com"), rule(postroom.Star, "")).ID
		link := func(cause, effect string, r Relation) error {
			return db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
				return LinkActions(ctx, tx, cause, effect, r)
			})
		}
		require.NoError(t, link(ran, asked, RelationSpawned))
		require.NoError(t, link(ran, asked, RelationSpawned), "twice is once")
		require.NoError(t, link(asked, chosen, RelationApproval))
		require.ErrorIs(t, link("none", asked, RelationSpawned), postroom.ErrNotFound)
		require.ErrorIs(t, link(asked, "none", RelationSpawned), postroom.ErrNotFound)
		require.ErrorContains(t, link(asked, chosen, "undo_of"), "is no relation")
		links := func(id string) (list []Link) {
			t.Helper()
			list, err := LinksOf(t.Context(), db, id)
			require.NoError(t, err)
			for i := range list {
				require.False(t, list[i].At.IsZero())
				list[i].At = list[0].At
			}
			return list
		}
		all := links(asked)
		require.Equal(t, []Link{{ran, asked, RelationSpawned, all[0].At}, {asked, chosen, RelationApproval, all[0].At}}, all)
		require.Len(t, links(ran), 1)
		require.Empty(t, links("none"))
	})
}
