package safety

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// TestWhatHasEndedIsNotPrepared: neither composed nor held, which would ask a person about what was done, because the entries about its end
// are hidden.
func TestWhatHasEndedIsNotPrepared(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		for name, prepare := range map[string]func(id string) error{
			"composed": func(id string) error { return d.setContent(id, oneHash) },
			"held": func(id string) error {
				_, err := d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
					return d.ledger.Hold(ctx, tx, id, "odd")
				})
				return err
			},
		} {
			for _, done := range []bool{false, true} {
				id := d.waits()
				_, err := d.approve(id, "ann")
				require.NoError(t, err)
				if !done {
					require.NoError(t, prepare(id), name)
					continue
				}
				d.save()
				_, err = d.start(id, "job-1")
				require.NoError(t, err)
				require.NoError(t, d.complete(id, postroom.UndoHint{Irreversible: true}))
				d.restore(id)
				d.exec(hide, id)
				require.ErrorIs(t, prepare(id), ErrAltered, name)
				require.Empty(t, d.get(id).ContentSHA256)
				require.Equal(t, postroom.ActionQueued, d.get(id).State)
			}
		}
	})
}

// TestWhatNobodyCouldCheckIsNotUndone: the ledger's entry about the end of an action says what was there, and not that it was permitted.
func TestWhatNobodyCouldCheckIsNotUndone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		for _, seal := range []string{`0badkey0:00`, `2.0badkey0:00`} {
			id := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
			_, err := d.start(id, "job-1")
			require.NoError(t, err)
			d.exec(`UPDATE actions SET seal = $1 WHERE id = $2`, seal, id)
			d.exec(`UPDATE audit_entries SET digest = '2.0badkey0:00' WHERE subject_id = $1 AND note = 'executing'`, id)
			require.NoError(t, d.complete(id, postroom.UndoHint{InverseAction: postroom.Trash}))
			_, err = d.startUndo(id, "job-2")
			require.ErrorIs(t, err, ErrAltered, seal)
		}
	})
}
