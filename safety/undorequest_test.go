package safety

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

func (d *desk) requestUndo(originalID, job string) {
	require.NoError(d.t, d.write(func(ctx context.Context, tx queue.Tx) error {
		return d.ledger.RequestUndo(ctx, tx, originalID, job, "ann")
	}))
}

// TestNothingIsUndoneThatNobodyHasRequested: a job undoes what was requested for it, once.
func TestNothingIsUndoneThatNobodyHasRequested(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		begin := func(originalID, job string) (postroom.Action, error) {
			return d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
				return d.ledger.StartUndo(ctx, tx, originalID, job)
			})
		}
		requireRefused := func(originalID, job string) {
			t.Helper()
			_, err := begin(originalID, job)
			require.ErrorIs(t, err, ErrNotRequested)
		}
		one, two := d.completed(), d.completed()
		requireRefused(one.ID, "job-u")
		d.requestUndo(one.ID, "job-u")
		d.requestUndo(one.ID, "job-u")
		requireRefused(one.ID, "another")
		requireRefused(two.ID, "job-u")

		undo, err := begin(one.ID, "job-u")
		require.NoError(t, err)
		require.NoError(t, d.fail(undo.ID, "the network"))
		undo, err = begin(one.ID, "job-u")
		require.NoError(t, err, "what has failed is tried again")
		require.NoError(t, d.complete(undo.ID, postroom.UndoHint{InverseAction: postroom.Archive}))
		_, err = begin(one.ID, "job-u")
		require.ErrorIs(t, err, ErrAlreadyUndone, "a job that has completed does not run again")

		requireRefused(undo.ID, "job-u")
		d.requestUndo(undo.ID, "job-r")
		redo, err := begin(undo.ID, "job-r")
		require.NoError(t, err)
		require.NoError(t, d.complete(redo.ID, postroom.UndoHint{InverseAction: postroom.None, Irreversible: true}))
		requireRefused(one.ID, "job-u")

		d.requestUndo(one.ID, "job-v")
		undo, err = begin(one.ID, "job-v")
		require.NoError(t, err)
		require.NoError(t, d.cancel(undo.ID, "not now"))
		requireRefused(one.ID, "job-v")
		d.requestUndo(one.ID, "job-v")
		_, err = begin(one.ID, "job-v")
		require.NoError(t, err)
		require.Empty(t, d.faults(t))
		require.ErrorIs(t, d.write(func(ctx context.Context, tx queue.Tx) error {
			return d.ledger.RequestUndo(ctx, tx, "nobody", "job-w", "ann")
		}), postroom.ErrNotFound)
	})
}

// TestRequestsOfUndosCannotBeForged: an entry that is made of another vouches for nothing.
func TestRequestsOfUndosCannotBeForged(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		one, two := d.completed(), d.completed()
		d.requestUndo(one.ID, "job-u")
		for _, alter := range []string{
			`UPDATE audit_entries SET note = '` + two.ID + ` by ann' WHERE kind = 'undo'`,
			`UPDATE audit_entries SET subject_id = 'job-x' WHERE kind = 'undo'`,
			`UPDATE audit_entries SET rev = 3 WHERE kind = 'undo'`,
		} {
			d.exec(alter)
			for _, job := range []string{"job-u", "job-x"} {
				for _, id := range []string{one.ID, two.ID} {
					_, err := d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
						return d.ledger.StartUndo(ctx, tx, id, job)
					})
					require.ErrorIs(t, err, ErrNotRequested, alter)
				}
			}
			require.NotEmpty(t, d.faults(t))
			d.exec(`UPDATE audit_entries SET note = '` + one.ID + ` by ann', subject_id = 'job-u', rev = 1 WHERE kind = 'undo'`)
		}
		require.Empty(t, d.faults(t))
	})
}
