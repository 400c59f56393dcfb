package gmail

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// What a person does is reported once, in the transaction that stores it; changes that cancel out are none.
func TestHistoryReportsWhatAPersonDoes(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		var events heard
		events.listen(&w.cfg)
		ids := w.backfilled(4)
		bills := w.userLabel("Bills")
		w.modify(ids[0], add(bills))
		w.modify(ids[0], remove("INBOX"))
		w.modify(ids[1], add("STARRED"))
		w.modify(ids[1], remove("STARRED"))
		w.modify(ids[2], add("STARRED"))
		require.NoError(t, w.google.Users.Messages.Delete("me", ids[2]).Do())
		unknown := w.arrive(plainMail, "INBOX")
		w.modify(unknown, add("STARRED"))

		fail := true
		listening := w.cfg.OnDeleted
		w.cfg.OnDeleted = func(ctx context.Context, tx queue.Tx, e DeletedEvent) error {
			require.Equal(t, w.ours(e.ProviderID), e.MessageID)
			if fail {
				fail = false
				events.take()
				return errors.New("disk full")
			}
			return listening(ctx, tx, e)
		}
		job := w.job(w.run(NewHistorySyncJob(w.account, 0)))
		require.Equal(t, queue.StateCompleted, job.State, job.LastError)
		require.Equal(t, 1, job.Failures, "an error of the host rolls back and is tried again")
		require.ElementsMatch(t, []string{
			fmt.Sprintf("history: %s +[%s] -[INBOX] =[%s]", ids[0], bills, bills),
			fmt.Sprintf("history: %s +[STARRED] -[] =[INBOX STARRED]", ids[2]),
			fmt.Sprintf("history: %s deleted", ids[2]),
		}, events.take())
		w.run(NewHistorySyncJob(w.account, 0))
		require.Empty(t, events.take(), "once")
		require.Equal(t, w.atGmail(), w.stored())
	})
}

// An action of this program has stored its change when the history tells of it, and is not taken for a person's.
func TestOwnActionsAreNoEvents(t *testing.T) {
	w := newWorld(t)
	var events heard
	events.listen(&w.cfg)
	ids := w.backfilled(1)
	for _, change := range []postroom.LabelChange{add("STARRED"), remove("STARRED"), add("TRASH"), remove("TRASH")} {
		w.undo(w.ours(ids[0]), change)
	}
	w.run(NewHistorySyncJob(w.account, 0))
	require.Empty(t, events.take())

	w.modify(ids[0], add("IMPORTANT")) // a person, beside them
	w.run(NewHistorySyncJob(w.account, 0))
	require.Equal(t, []string{fmt.Sprintf("history: %s +[IMPORTANT] -[] =[IMPORTANT]", ids[0])}, events.take())
}

// A host names a cause once by the thread and the history id of a change.
func TestEventsNameTheThreadAndTheChange(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		id := w.backfilled(1)[0]
		m, err := w.google.Users.Messages.Get("me", id).Do()
		require.NoError(t, err)
		var labels []LabelsEvent
		var deleted []DeletedEvent
		w.cfg.OnLabelsChanged = func(_ context.Context, _ queue.Tx, e LabelsEvent) error {
			labels = append(labels, e)
			return nil
		}
		w.cfg.OnDeleted = func(_ context.Context, _ queue.Tx, e DeletedEvent) error {
			deleted = append(deleted, e)
			return nil
		}
		w.modify(id, add("STARRED"))
		w.modify(id, add("IMPORTANT"))
		last := w.latest()
		w.run(NewHistorySyncJob(w.account, 0))
		require.Len(t, labels, 1)
		require.Equal(t, []any{m.ThreadId, last}, []any{labels[0].ThreadID, labels[0].HistoryID})

		w.modify(id, remove("STARRED"))
		last = w.latest()
		w.run(NewReconcileJob(w.account))
		require.Len(t, labels, 2)
		require.Equal(t, []any{SourceReconcile, m.ThreadId, last},
			[]any{labels[1].Source, labels[1].ThreadID, labels[1].HistoryID})

		require.NoError(t, w.google.Users.Messages.Delete("me", id).Do())
		last = w.latest()
		w.run(NewHistorySyncJob(w.account, 0))
		require.Len(t, deleted, 1)
		require.Equal(t, []any{m.ThreadId, last}, []any{deleted[0].ThreadID, deleted[0].HistoryID})
	})
}
