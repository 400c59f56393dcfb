package safety

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// beside records actions of one message, of which those that must have been approved.
func (d *desk) beside(types ...postroom.ActionType) (ids []string) {
	msg := message("a@example.com")
	for _, t := range types {
		dec := rule(t, "")
		dec.Key = uuid.NewString()
		if t == postroom.Forward {
			dec.Parameters = postroom.Parameters{"to": "b@example.com"}
		}
		a := d.record(msg, dec)
		if a.State == postroom.ActionPendingApproval {
			_, err := d.approve(a.ID, "ann")
			require.NoError(d.t, err)
		}
		ids = append(ids, a.ID)
	}
	return ids
}

// A message is deleted after all else that is decided about it, in whatever order that was.
func TestADeletionIsTheLastAction(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		for _, order := range [][]postroom.ActionType{{postroom.Delete, postroom.Forward},
			{postroom.Forward, postroom.Delete}} {
			d := newDesk(t, db, nil)
			ids := d.beside(order...)
			deletion, forward := ids[0], ids[1]
			if order[1] == postroom.Delete {
				deletion, forward = ids[1], ids[0]
			}
			_, err := d.start(deletion, "job-1")
			var busy *postroom.BusyError
			require.ErrorAs(t, err, &busy)
			require.Equal(t, postroom.BusyError{MessageID: d.get(forward).MessageID, ActionID: forward}, *busy)
			require.NoError(t, d.ledger.HeldAction(t.Context(), deletion))
			_, err = d.start(forward, "job-2")
			require.NoError(t, err)
			_, err = d.start(deletion, "job-1")
			require.ErrorAs(t, err, &busy)
			require.Equal(t, "job-2", busy.JobID)
			require.NoError(t, d.complete(forward, postroom.UndoHint{Irreversible: true}))
			a, err := d.start(deletion, "job-1")
			require.NoError(t, err)
			require.Equal(t, postroom.ActionExecuting, a.State)

			late := rule(postroom.Star, "")
			late.Key = uuid.NewString()
			star := d.record(&postroom.Message{ID: a.MessageID, AccountID: a.AccountID,
				From: postroom.Address{Email: "a@example.com"}}, late)
			a, err = d.start(deletion, "job-1")
			require.NoError(t, err, "what has begun goes on")
			require.Equal(t, postroom.ActionExecuting, a.State)
			require.Equal(t, postroom.ActionQueued, star.State)
		}
	})
}

// While a person has not answered about another action, the message stays.
func TestADeletionWaitsForTheAnswerOfAPerson(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		deletion := d.beside(postroom.Delete)[0]
		dec := rule(postroom.Forward, "")
		dec.Key, dec.Parameters = uuid.NewString(), postroom.Parameters{"to": "b@example.com"}
		forward := d.record(&postroom.Message{ID: d.get(deletion).MessageID, AccountID: "account-1",
			From: postroom.Address{Email: "a@example.com"}}, dec)
		require.Equal(t, postroom.ActionPendingApproval, forward.State)
		_, err := d.start(deletion, "job-1")
		require.ErrorIs(t, err, postroom.ErrHeld)
		require.ErrorContains(t, err, "action "+forward.ID+" (forward) of the same message waits for a person")
		require.ErrorIs(t, d.ledger.HeldAction(t.Context(), deletion), postroom.ErrHeld)
		_, err = d.reject(forward.ID, "ann", "no")
		require.NoError(t, err)
		require.NoError(t, d.ledger.HeldAction(t.Context(), deletion))
		a, err := d.start(deletion, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionExecuting, a.State)
	})
}

// Who has approved a deletion beside a forward has not approved it without.
func TestADeletionWaitsAgainIfAForwardHasFailed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		ids := d.beside(postroom.Forward, postroom.Archive, postroom.Delete)
		d.now = d.now.Add(time.Second)
		for _, id := range ids[:2] {
			_, err := d.start(id, "job-1")
			require.NoError(t, err)
			require.NoError(t, d.fail(id, "the recipient is refused"))
		}
		a, err := d.start(ids[2], "job-2")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionPendingApproval, a.State)
		r, err := d.ledger.Waiting(t.Context(), a.ID)
		require.NoError(t, err)
		require.Equal(t, []string{"action " + ids[0] +
			" (forward) of the same message has failed, and cannot be tried again once the message is deleted: the recipient is refused"}, r.Approval.Reasons)
		d.now = d.now.Add(time.Second)
		_, err = d.approve(a.ID, "ann")
		require.NoError(t, err)
		a, err = d.start(ids[2], "job-3")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionExecuting, a.State)
	})
}

// On PostgreSQL a forward may end between two statements of the start of a deletion.
func TestAForwardFailsBesideADeletion(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		if db.Dialect() == driver.SQLite {
			return // one transaction writes at a time
		}
		d := newDesk(t, db, nil)
		ids := d.beside(postroom.Forward, postroom.Delete)
		d.now = d.now.Add(time.Second)
		_, err := d.start(ids[0], "job-1")
		require.NoError(t, err)
		a, err := d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
			return d.ledger.Start(ctx, &meanwhileTx{tx, "INSERT INTO message_locks", func() {
				failed := make(chan error)
				go func() { failed <- d.fail(ids[0], "the recipient is refused") }()
				require.NoError(t, <-failed)
			}}, ids[1], "job-2")
		})
		require.NoError(t, err)
		require.Equal(t, postroom.ActionFailed, d.get(ids[0]).State)
		require.Equal(t, postroom.ActionPendingApproval, a.State)
	})
}

// meanwhileTx does something before the first statement that begins so.
type meanwhileTx struct {
	queue.Tx
	begins string
	do     func()
}

func (m *meanwhileTx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if do := m.do; do != nil && strings.HasPrefix(strings.TrimSpace(query), m.begins) {
		m.do = nil
		do()
	}
	return m.Tx.QueryContext(ctx, query, args...)
}
