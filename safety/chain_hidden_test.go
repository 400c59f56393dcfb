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

			id = d.completed().ID
			d.exec(`UPDATE actions SET undo_hint_json = '{"inverse_action":"trash"}' WHERE id = $1`, id)
			d.exec(`UPDATE audit_entries SET digest = $1 WHERE subject_id = $2 AND note = 'completed'`, seal, id)
			_, err = d.startUndo(id, "job-2")
			require.ErrorIs(t, err, ErrAltered, "what it has done is not what its seal is over")
			_, err = d.ledger.History(t.Context(), "account-1", d.get(id).MessageID)
			require.ErrorIs(t, err, ErrAltered)
		}
	})
}

// TestWhatNobodyCanCheckIsNotAskedAgain if the log has more about it than its row: it was carried out under a key that is not known.
func TestWhatNobodyCanCheckIsNotAskedAgain(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		one, three := newDesk(t, db, keyed(1)), newDesk(t, db, keyed(3, 1))
		fresh, done := one.record(message("a@example.com"), rule(postroom.Archive, "")).ID, one.record(message("a@example.com"), rule(postroom.Archive, "")).ID
		hold := func(id string) {
			_, err := three.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
				return three.ledger.Hold(ctx, tx, id, "odd")
			})
			require.NoError(t, err)
			_, err = three.approve(id, "ann")
			require.NoError(t, err)
		}
		hold(fresh)
		hold(done)
		three.save()
		_, err := three.start(done, "job-1")
		require.NoError(t, err)
		require.NoError(t, three.complete(done, postroom.UndoHint{}))
		three.restore(done)

		d := newDesk(t, db, keyed(2, 1))
		a, err := d.start(fresh, "job-2")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionApprovedPending, a.State, "a person is asked")
		a, err = d.start(done, "job-2")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionFailed, a.State, "it was carried out")
	})
}

// TestAnEndDoesNotVouchForWhatWasAltered, also where the entry about the start is made to look like one that nobody can check.
func TestAnEndDoesNotVouchForWhatWasAltered(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		for _, set := range []string{`message_id = 'another'`, `type = 'trash'`, `parameters_json = '{"label":"x"}'`} {
			id := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
			_, err := d.start(id, "job-1")
			require.NoError(t, err)
			d.exec(`UPDATE actions SET `+set+` WHERE id = $1`, id)
			d.exec(`UPDATE audit_entries SET digest = '2.0badkey0:00' WHERE subject_id = $1 AND note = 'executing'`, id)
			require.NoError(t, d.complete(id, postroom.UndoHint{}))
			_, err = d.ledger.History(t.Context(), "account-1", d.get(id).MessageID)
			require.ErrorIs(t, err, ErrAltered, set)
			_, err = d.startUndo(id, "job-2")
			require.ErrorIs(t, err, ErrAltered, set)
		}
	})
}

// TestAWithdrawnRequestIsNotAnswered in place of the one that was made for it, although its action is as it was then.
func TestAWithdrawnRequestIsNotAnswered(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		for _, read := range []bool{true, false} {
			id := d.waits()
			d.save()
			require.NoError(t, d.renew(id))
			require.NoError(t, d.check(id)) // reads what has become of the first
			d.exec(`DELETE FROM approvals WHERE action_id = $1 AND outcome = 'waiting'`, id)
			d.restore(id)
			d.exec(`UPDATE audit_entries SET subject_id = 'x' WHERE note = 'withdrawn' AND subject_id = (SELECT id FROM approvals WHERE action_id = $1)`, id)
			again := d
			if !read {
				again = newDesk(t, db, keyed(1))
			}
			require.ErrorIs(t, again.check(id), ErrApprovalVoid, read)
			_, err := again.approve(id, "ann")
			require.ErrorIs(t, err, ErrApprovalVoid, read)
		}
	})
}

// TestASealThatNobodyCanCheckIsNotReplaced by one of the ledger's, where the log of the first version says nothing about it.
func TestASealThatNobodyCanCheckIsNotReplaced(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		id := d.waits()
		_, err := d.approve(id, "ann")
		require.NoError(t, err)
		d.once(id)
		d.exec(`UPDATE decisions SET subject = 'Lottery' WHERE id = (SELECT decision_id FROM actions WHERE id = $1)`, id)
		d.exec(`UPDATE actions SET seal = 'x' WHERE id = $1`, id)
		require.ErrorIs(t, d.setContent(id, oneHash), ErrAltered)
		_, err = d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
			return d.ledger.Hold(ctx, tx, id, "odd")
		})
		require.ErrorIs(t, err, ErrAltered)
	})
}
