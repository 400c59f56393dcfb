package safety

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// forge writes an action as who has a key, and no ledger, writes it: with its seal, its decision, and its last entry, which replaces the one
// that has its place in the log.
func (d *desk) forge(key *Ledger, id string, lane int, entry int64, alter func(p *permitRow)) {
	require.NoError(d.t, d.write(func(ctx context.Context, tx queue.Tx) error {
		p, err := key.permit(ctx, tx, id)
		require.NoError(d.t, err)
		alter(p)
		p.Seal.String = key.seal(p.sealed())
		e := key.entryOfAction(&p.actionRow)
		for statement, args := range map[string][]any{
			`UPDATE actions SET type = $1, undo_hint_json = $2, seal = $3, rev = $4 WHERE id = $5`: {string(p.Type), p.UndoHint, p.Seal, p.Rev, id},
			`UPDATE decisions SET action_type = $1 WHERE id = $2`:                                  {string(p.Action), p.DecisionID},
			`DELETE FROM audit_entries WHERE lane = $1 AND entry = $2`:                             {lane, entry},
		} {
			_, err := tx.ExecContext(ctx, statement, args...)
			require.NoError(d.t, err)
		}
		_, err = tx.ExecContext(ctx, insertEntries[1], lane, entry, 1, e.Account, e.Kind, e.Subject, e.Rev, e.Note, e.Digest, key.keys.sign(nil), p.CreatedAt)
		return err
	}))
}

// TestAnOldKeySignsNothingOutsideTheLog: an entry with a number that no chain has, or will have, is not from before the new key.
func TestAnOldKeySignsNothingOutsideTheLog(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		old := newDesk(t, db, keyed(1))
		old.completed()
		d := newDesk(t, db, keyed(2, 1))
		for _, at := range []struct {
			lane  int
			entry int64
		}{{1, 0}, {1, -1}, {1, 1 << 40}, {0, 0}, {99, 0}, {99, 1}} {
			a := d.completed()
			d.forge(old.ledger, a.ID, at.lane, at.entry, func(p *permitRow) {
				p.UndoHint.String = `{"inverse_action":"trash"}`
				p.Rev++
			})
			_, err := d.startUndo(a.ID, "job-1")
			require.ErrorIs(t, err, ErrAltered, at)
			_, err = d.ledger.History(t.Context(), a.AccountID, a.MessageID)
			require.ErrorIs(t, err, ErrAltered, at)
			d.exec(`DELETE FROM audit_entries WHERE lane = $1 AND entry = $2`, at.lane, at.entry)
		}
	})
}

// TestAnOldKeyStartsNothingFromAnEntryThatItHasReplaced, reversible or not, and whether or not the process has read what was there.
func TestAnOldKeyStartsNothingFromAnEntryThatItHasReplaced(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		for _, action := range []postroom.ActionType{postroom.Star, postroom.Delete} {
			for _, read := range []bool{false, true} {
				old := newDesk(t, db, keyed(1))
				sent := old.forwarded()
				id := old.record(message("a@example.com"), rule(postroom.Archive, "")).ID
				last := old.entries()
				d := newDesk(t, db, keyed(2, 1))
				d.record(message("a@example.com"), rule(postroom.Archive, ""))
				if read {
					a, err := d.start(sent, "job-1")
					require.NoError(t, err)
					require.Equal(t, postroom.ActionExecuting, a.State)
				}
				d.forge(old.ledger, id, 1, last, func(p *permitRow) { p.Type, p.Action = action, action })
				a, err := d.start(id, "job-1")
				require.NoError(t, err)
				require.NotEqual(t, postroom.ActionExecuting, a.State, "%s, %t", action, read)
				d.exec(`DELETE FROM audit_entries`)
				d.exec(`UPDATE audit_lanes SET entries = 0, mac = '', seal = ''`)
			}
		}
	})
}

// TestAnOldKeyDoesNotSayWhereItEnded: the key that took its place does.
func TestAnOldKeyDoesNotSayWhereItEnded(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		old := newDesk(t, db, keyed(1))
		before := old.completed().ID
		d := newDesk(t, db, keyed(2, 1))
		d.record(message("a@example.com"), rule(postroom.Archive, ""))
		later := old.completed().ID
		k, next := old.ledger.keys, d.ledger.keys.id
		note := "1:1000:" + k.sign(nil)
		signs := func(subject string) string { return k.sign([]string{auditKey, subject, note}) }
		for name, e := range map[string]AuditEntry{
			"that another took its place":    {Subject: "another0", Digest: signs("another0")},
			"that it took its own":           {Subject: k.id, Digest: signs(k.id)},
			"in the name of the next":        {Subject: next, Digest: signs(next)},
			"with a signature of the next":   {Subject: next, Digest: next + ":00"},
			"with a signature of nobody":     {Subject: next, Digest: ""},
			"in the name of an unknown key":  {Subject: "0badkey0", Digest: "0badkey0:00"},
			"with a signature of an unknown": {Subject: next, Digest: "0badkey0:00"},
		} {
			require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error {
				_, err := tx.ExecContext(ctx, insertEntries[1], 50, 1, 0, "", auditKey, e.Subject, 1, note, e.Digest, k.sign(nil), dbtime.Of(d.now))
				return err
			}))
			again := newDesk(t, db, keyed(2, 1))
			_, err := again.startUndo(later, "job-1")
			require.ErrorIs(t, err, ErrAltered, name)
			d.exec(`DELETE FROM audit_entries WHERE lane = 50`)
		}
		_, err := newDesk(t, db, keyed(2, 1)).startUndo(before, "job-1")
		require.NoError(t, err)
	})
}

// TestEachOfManyKeysEndsWhereItsNextBegan, and not where one began before it.
func TestEachOfManyKeysEndsWhereItsNextBegan(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		var done []string
		for _, keys := range [][]byte{{1}, {2, 1}, {3, 2, 1}} {
			done = append(done, newDesk(t, db, keyed(keys[0], keys[1:]...)).completed().ID)
		}
		d := newDesk(t, db, keyed(4, 3, 2, 1))
		d.completed()
		require.Empty(t, d.faults(t))
		for _, id := range done {
			_, err := d.startUndo(id, "job-1")
			require.NoError(t, err)
		}
	})
}
