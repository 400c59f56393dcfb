package safety

import (
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// several records actions of one message.
func (d *desk) several(n int) (actions []postroom.Action) {
	msg := message("a@example.com")
	for range n {
		dec := rule(postroom.Archive, "")
		dec.Key = uuid.NewString()
		actions = append(actions, d.record(msg, dec))
	}
	return actions
}

func TestActionsOfAMessageTakeTurns(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		a := d.several(4)
		_, err := d.start(a[0].ID, "job-0")
		require.NoError(t, err)
		_, err = d.start(a[0].ID, "job-0")
		require.NoError(t, err, "it has its turn already")

		_, err = d.start(a[1].ID, "job-1")
		require.ErrorIs(t, err, postroom.ErrMessageBusy)
		var busy *postroom.BusyError
		require.ErrorAs(t, err, &busy)
		require.Equal(t, postroom.BusyError{MessageID: a[0].MessageID, ActionID: a[0].ID, JobID: "job-0"}, *busy)
		require.Equal(t, postroom.ActionQueued, d.get(a[1].ID).State)

		_, err = d.start(d.several(1)[0].ID, "job-x")
		require.NoError(t, err, "another message")

		for i, end := range []func(id string) error{
			func(id string) error { return d.complete(id, postroom.UndoHint{}) },
			func(id string) error { return d.fail(id, "test") },
			func(id string) error { return d.cancel(id, "test") },
		} {
			require.NoError(t, end(a[i].ID))
			_, err = d.start(a[i+1].ID, "job")
			require.NoError(t, err, "the turn of action %d is over", i)
		}
	})
}

func TestOneTurnOfMany(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		a := d.several(8)
		errs := make([]error, len(a))
		var wg sync.WaitGroup
		for i := range a {
			wg.Go(func() { _, errs[i] = d.start(a[i].ID, "job-"+a[i].ID) })
		}
		wg.Wait()
		wins := 0
		for _, err := range errs {
			if err == nil {
				wins++
				continue
			}
			require.ErrorIs(t, err, postroom.ErrMessageBusy)
		}
		require.Equal(t, 1, wins)
	})
}

// TestAnUndoIsUndone: the first action counts as not undone then, and can be undone again.
func TestAnUndoIsUndone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		original := d.completed()
		image := postroom.NewSnapshot(nil)
		hint := postroom.UndoHint{InverseAction: postroom.Archive, Before: &image, After: &image}
		undo, err := d.startUndo(original.ID, "job-1")
		require.NoError(t, err)
		require.NoError(t, d.complete(undo.ID, hint))

		failed, err := d.startUndo(undo.ID, "job-2")
		require.NoError(t, err)
		require.NoError(t, d.fail(failed.ID, "no network"))
		live, err := d.ledger.LiveUndo(t.Context(), original.ID)
		require.NoError(t, err)
		require.Equal(t, undo.ID, live.ID, "a redo that failed changes nothing")

		redo, err := d.startUndo(undo.ID, "job-3")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionType("redo_archive"), redo.Type)
		require.True(t, IsUndo(redo.Type) && IsRedo(redo.Type) && !IsRedo(undo.Type))
		require.NoError(t, d.complete(redo.ID, hint))
		live, err = d.ledger.LiveUndo(t.Context(), original.ID)
		require.NoError(t, err)
		require.Nil(t, live)

		again, err := d.startUndo(original.ID, "job-4")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionType("undo_archive"), again.Type)
		require.NoError(t, d.complete(again.ID, hint))
		_, err = d.startUndo(undo.ID, "job-5")
		require.ErrorIs(t, err, ErrAlreadyUndone)

		history, err := d.ledger.History(t.Context(), original.AccountID, original.MessageID)
		require.NoError(t, err)
		var ids, undoes []string
		for _, p := range history {
			ids, undoes = append(ids, p.ID), append(undoes, p.Undoes)
		}
		require.Equal(t, []string{original.ID, undo.ID, redo.ID, again.ID}, ids,
			"in the order of their execution, without those that failed")
		require.Equal(t, []string{"", original.ID, undo.ID, original.ID}, undoes)

		redone, err := d.ledger.Actions(t.Context(), Filter{Types: []postroom.ActionType{"redo_archive"}, Rule: "rule-1"})
		require.NoError(t, err)
		require.Len(t, redone, 2)
	})
}

// TestAFreedTurnIsTaken by the action that executes, whatever the table of turns says.
func TestAFreedTurnIsTaken(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		for _, free := range []string{`UPDATE message_locks SET action_id = NULL`, `DELETE FROM message_locks`} {
			two := d.several(2)
			_, err := d.start(two[0].ID, "job-1")
			require.NoError(t, err)
			d.exec(free)
			_, err = d.start(two[1].ID, "job-2")
			var busy *postroom.BusyError
			require.ErrorAs(t, err, &busy, free)
			require.Equal(t, two[0].ID, busy.ActionID)
			require.NoError(t, d.complete(two[0].ID, postroom.UndoHint{}))
			a, err := d.start(two[1].ID, "job-2")
			require.NoError(t, err)
			require.Equal(t, postroom.ActionExecuting, a.State)
		}
	})
}
