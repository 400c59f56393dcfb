package safety

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

func (d *desk) declare(a postroom.Action, declared postroom.Parameters) (postroom.Action, error) {
	return d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
		return d.ledger.DeclareIntent(ctx, tx, a, declared)
	})
}

// sending is an action that a person has approved, that is composed, and that a job executes.
func (d *desk) sending() postroom.Action {
	id := d.forwarded()
	a, err := d.start(id, "job-1")
	require.NoError(d.t, err)
	require.Equal(d.t, postroom.ActionExecuting, a.State, a.Error)
	return a
}

var aSend = postroom.Parameters{"rfc_message_id": "1@example.com"}

// TestWhatIsAnnouncedIsKnownToTheNextAttempt.
func TestWhatIsAnnouncedIsKnownToTheNextAttempt(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		a := d.sending()
		require.Nil(t, a.UndoHint)
		begun, err := d.declare(a, aSend)
		require.NoError(t, err)
		require.Equal(t, aSend, begun.UndoHint.Intent)
		require.False(t, begun.UndoHint.Undoable())
		_, err = d.declare(a, aSend)
		require.ErrorContains(t, err, "another attempt has declared an intent since")

		d.restart()
		a, err = d.start(a.ID, "job-1")
		require.NoError(t, err)
		require.Equal(t, begun, a)
		a, err = d.declare(a, nil)
		require.NoError(t, err)
		require.Nil(t, a.UndoHint)
		again, err := d.start(a.ID, "job-1")
		require.NoError(t, err)
		require.Nil(t, again.UndoHint)
		_, err = d.declare(a, aSend)
		require.NoError(t, err)
		require.NoError(t, d.complete(a.ID, postroom.UndoHint{Irreversible: true, SentMessageID: "18f0"}))
		require.Nil(t, d.get(a.ID).UndoHint.Intent)
		_, err = d.declare(d.get(a.ID), nil)
		require.ErrorIs(t, err, ErrState)
	})
}

// TestOnlyWhatTheActionSaysIsAnnounced: another content, another job, and what was altered meanwhile are not.
func TestOnlyWhatTheActionSaysIsAnnounced(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		a := d.sending()
		other := a
		other.ContentSHA256 = otherHash
		_, err := d.declare(other, aSend)
		require.ErrorIs(t, err, ErrAltered)
		other = a
		other.JobID = "job-2"
		_, err = d.declare(other, aSend)
		require.ErrorIs(t, err, ErrState)
		d.exec(`UPDATE actions SET content_sha256 = $1 WHERE id = $2`, otherHash, a.ID)
		other = a
		other.ContentSHA256 = otherHash
		_, err = d.declare(other, aSend)
		require.ErrorIs(t, err, ErrAltered)
	})
}

// TestOnlyWhatIsVerifiedIsComposed: parameters that are put back once something was composed of others have done
// nothing.
func TestOnlyWhatIsVerifiedIsComposed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		waits := d.record(message("a@example.com"), model(postroom.Forward, 1, "to", "boss@example.com")).ID
		for _, id := range []string{waits, d.forwarded(), d.sending().ID} {
			a, ok, err := d.ledger.Verified(t.Context(), id)
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, d.get(id), a)
			d.exec(`UPDATE actions SET parameters_json = '{"to":"mallory@example.com"}' WHERE id = $1`, id)
			_, ok, err = d.ledger.Verified(t.Context(), id)
			require.NoError(t, err)
			require.False(t, ok)
		}
		_, _, err := d.ledger.Verified(t.Context(), "nothing")
		require.ErrorIs(t, err, postroom.ErrNotFound)
	})
}
