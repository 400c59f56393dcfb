package gmail

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// What a person changes at Gmail is on record, what was read is not, and what this program does is not either.
func TestChangesByHandAreOnRecord(t *testing.T) {
	w := newWorld(t)
	stored, changed := w.known("INBOX", "UNREAD")
	w.synced()
	w.modify(changed, remove("UNREAD"))
	w.modify(changed, add("STARRED"))
	w.modify(changed, remove("INBOX"))
	w.run(NewHistorySyncJob(w.account, w.latest()))
	byHand, err := w.store.ByHand(t.Context(), stored)
	require.NoError(t, err)
	require.Equal(t, postroom.LabelChange{Add: []string{"STARRED"}, Remove: []string{"INBOX"}}, byHand)

	w.modify(changed, add("INBOX"))
	w.run(NewHistorySyncJob(w.account, w.latest()))
	byHand, err = w.store.ByHand(t.Context(), stored)
	require.NoError(t, err)
	require.Equal(t, []string{"INBOX", "STARRED"}, byHand.Add)
	require.Empty(t, byHand.Remove)
}

// What a sync sees of an own change before that is stored is not by hand.
func TestAnOwnChangeThatASyncSeesFirstIsNotByHand(t *testing.T) {
	w := newWorld(t)
	stored, changed := w.known("INBOX")
	w.synced()
	before, err := w.store.Copies().Copy(t.Context(), w.account, stored)
	require.NoError(t, err)
	w.modify(changed, add("STARRED"))
	w.modify(changed, remove("INBOX"))
	w.run(NewHistorySyncJob(w.account, w.latest()))
	require.NoError(t, w.store.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		return w.store.Copies().StoreOwnChange(ctx, tx, w.account, before,
			postroom.LabelChange{Remove: []string{"INBOX"}}, postroom.NewSnapshot([]string{"STARRED"}))
	}))
	byHand, err := w.store.ByHand(t.Context(), stored)
	require.NoError(t, err)
	require.Equal(t, postroom.LabelChange{Add: []string{"STARRED"}}, byHand)
}
