package safety

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// startUndo is what follows when somebody requests an undo.
func (d *desk) startUndo(originalID, job string) (postroom.Action, error) {
	return d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
		if err := d.ledger.RequestUndo(ctx, tx, originalID, job, "ann"); err != nil {
			return postroom.Action{}, err
		}
		return d.ledger.StartUndo(ctx, tx, originalID, job)
	})
}

func TestUndoIsAnActionOfItsOwn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		original := d.completed()
		_, err := d.startUndo(original.ID, "")
		require.ErrorContains(t, err, "job's id is empty")
		undo, err := d.startUndo(original.ID, "undo-job")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionType("undo_archive"), undo.Type)
		require.True(t, IsUndo(undo.Type))
		require.False(t, IsUndo(original.Type))
		require.Equal(t, postroom.ActionExecuting, undo.State)
		require.Equal(t, original.DecisionID, undo.DecisionID)
		require.Equal(t, undo, d.get(undo.ID))

		again, err := d.startUndo(original.ID, "undo-job")
		require.NoError(t, err)
		require.Equal(t, undo, again, "the same job goes on with its own")

		undos, err := d.ledger.Undos(t.Context(), original.ID)
		require.NoError(t, err)
		require.Equal(t, []postroom.Action{undo}, undos)
	})
}

func TestUndoHasOneWinner(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		original := d.completed()
		undos, errs := make([]postroom.Action, 8), make([]error, 8)
		var wg sync.WaitGroup
		for i := range undos {
			wg.Go(func() { undos[i], errs[i] = d.startUndo(original.ID, "job-"+string(rune('a'+i))) })
		}
		wg.Wait()
		stored, err := d.ledger.Undos(t.Context(), original.ID)
		require.NoError(t, err)
		require.Len(t, stored, 1)
		wins := 0
		for i, err := range errs {
			if err == nil {
				wins++
				require.Equal(t, stored[0], undos[i])
				continue
			}
			var undone *UndoneError
			require.ErrorAs(t, err, &undone)
			require.ErrorIs(t, err, ErrAlreadyUndone)
			require.Equal(t, stored[0], undone.Undo)
		}
		require.Equal(t, 1, wins)
	})
}

func TestAFailedUndoStandsInNobodysWay(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		original := d.completed()
		first, err := d.startUndo(original.ID, "job-1")
		require.NoError(t, err)
		require.NoError(t, d.fail(first.ID, "no network"))

		second, err := d.startUndo(original.ID, "job-2")
		require.NoError(t, err)
		require.NotEqual(t, first.ID, second.ID)
		require.NoError(t, d.cancel(second.ID, "changed my mind"))

		third, err := d.startUndo(original.ID, "job-3")
		require.NoError(t, err)
		require.NoError(t, d.complete(third.ID, postroom.UndoHint{Irreversible: true}))
		_, err = d.startUndo(original.ID, "job-4")
		require.ErrorIs(t, err, ErrAlreadyUndone)
		require.ErrorContains(t, err, "is already undone, by action "+third.ID)

		undos, err := d.ledger.Undos(t.Context(), original.ID)
		require.NoError(t, err)
		require.Len(t, undos, 3)
		require.Equal(t, third.ID, undos[0].ID, "newest first")
	})
}

func TestOnlyWhatIsCompletedIsUndone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		a := d.record(message("a@example.com"), rule(postroom.Archive, ""))
		_, err := d.startUndo(a.ID, "job-1")
		var state *StateError
		require.ErrorAs(t, err, &state)
		require.Equal(t, postroom.ActionQueued, state.State)
		undos, err := d.ledger.Undos(t.Context(), a.ID)
		require.NoError(t, err)
		require.Empty(t, undos)
	})
}

func TestReport(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		a := d.record(message("a@example.com"), rule(postroom.Archive, ""))
		set := func(report string) error {
			return d.write(func(ctx context.Context, tx queue.Tx) error {
				return d.ledger.SetReport(ctx, tx, a.ID, json.RawMessage(report))
			})
		}
		require.ErrorIs(t, set(`{}`), ErrState, "only while executing")
		none, err := d.ledger.Report(t.Context(), a.ID)
		require.NoError(t, err)
		require.Nil(t, none)

		_, err = d.start(a.ID, "job-1")
		require.NoError(t, err)
		require.NoError(t, set(`{"n": 1}`))
		report, err := d.ledger.Report(t.Context(), a.ID)
		require.NoError(t, err)
		require.JSONEq(t, `{"n": 1}`, string(report))
	})
}
