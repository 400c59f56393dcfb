package safety

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// columns are those that change after a row was written.
var columns = map[string]string{
	"actions":      "state, error, undo_hint_json, job_id, turn, executed_at, updated_at, seal, content_sha256, rev",
	"approvals":    "outcome, approver, why, decided_at, digest, rev",
	"action_links": "void_at, created_at",
}

// save keeps the ledger's rows as they are now; restore puts those of some actions back. The log is left alone.
func (d *desk) save() {
	for table := range columns {
		d.keep(table)
	}
}

func (d *desk) restore(ids ...string) {
	for table, set := range columns {
		key := map[string]string{"actions": "id", "approvals": "id", "action_links": "cause_action_id"}[table]
		of := map[string]string{"actions": "id", "approvals": "action_id", "action_links": "cause_action_id"}[table]
		for _, id := range ids {
			d.exec(`UPDATE `+table+` SET (`+set+`) = (SELECT `+set+` FROM old_`+table+` o WHERE o.`+key+` = `+table+`.`+key+`) WHERE `+of+` = $1`, id)
		}
		d.exec(`DROP TABLE old_` + table)
	}
	d.exec(`UPDATE message_turns SET action_id = NULL`)
}

// hide makes the entries about an action that are later than its row be about another, so that only their signatures tell.
const hide = `UPDATE audit_entries SET subject_id = 'x' WHERE subject_id = $1 AND kind = 'action' AND rev > (SELECT rev FROM actions WHERE id = $1)`

// TestAnEndedActionDoesNotGoOn: not from any row that it had before, with all that belonged to it then.
func TestAnEndedActionDoesNotGoOn(t *testing.T) {
	ends := map[string]func(d *desk, id string) error{
		"completed": func(d *desk, id string) error { return d.complete(id, postroom.UndoHint{Irreversible: true}) },
		"failed":    func(d *desk, id string) error { return d.fail(id, "no network") },
		"canceled":  func(d *desk, id string) error { return d.cancel(id, "no") },
	}
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		for end, finish := range ends {
			for _, begun := range []bool{true, false} {
				for _, entries := range []string{"", hide} {
					if end == "completed" && !begun {
						continue
					}
					id := d.forwarded()
					if begun {
						_, err := d.start(id, "job-1")
						require.NoError(t, err)
					}
					d.save()
					require.NoError(t, finish(d, id))
					d.restore(id)
					if entries != "" {
						d.exec(entries, id)
					}
					a, err := d.start(id, "job-1")
					require.NoError(t, err)
					require.NotEqual(t, postroom.ActionExecuting, a.State, "%s, begun %t, %q", end, begun, entries)
					require.NotEmpty(t, d.faults(t))
				}
			}
		}
	})
}

// TestAStateWrittenByHandStartsNothing, whatever the action has come to, and whether or not it is dangerous.
func TestAStateWrittenByHandStartsNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		for name, end := range map[string]func(id string) error{
			"canceled": func(id string) error { return d.cancel(id, "no") },
			"failed":   func(id string) error { return d.fail(id, "gone") },
			"rejected": func(id string) error { _, err := d.reject(id, "ann", "no"); return err },
		} {
			for _, set := range []string{`state = 'queued'`, `state = 'executing', job_id = 'job-1'`, `state = 'queued', rev = 1`, `state = 'queued', error = '', rev = 1`} {
				id := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
				require.NoError(t, end(id))
				d.exec(`UPDATE actions SET `+set+` WHERE id = $1`, id)
				a, err := d.start(id, "job-1")
				require.NoError(t, err)
				require.Equal(t, postroom.ActionFailed, a.State, "%s, %s", name, set)
			}
		}
		canceled := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		_, err := d.approve(canceled, "ann")
		require.NoError(t, err)
		require.NoError(t, d.cancel(canceled, "no"))
		d.exec(`UPDATE actions SET state = 'executing', job_id = 'job-1' WHERE id = $1`, canceled)
		a, err := d.start(canceled, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionFailed, a.State)
	})
}

// TestWhatIsAlteredWhileItRunsIsNotUndone: neither the action whose row was exchanged, nor anything by it.
func TestWhatIsAlteredWhileItRunsIsNotUndone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		victim := d.record(message("b@example.com"), rule(postroom.Archive, ""))
		for _, set := range []string{
			`message_id = '` + victim.MessageID + `', decision_id = '` + victim.DecisionID + `'`, `type = 'trash'`, `parameters_json = '{"label":"x"}'`,
			`turn = turn + 1`, `job_id = 'another'`, `executed_at = created_at, rev = rev + 1`, `seal = ''`,
		} {
			a := d.record(message("a@example.com"), rule(postroom.Archive, ""))
			_, err := d.start(a.ID, "job-1")
			require.NoError(t, err)
			d.exec(`UPDATE actions SET `+set+` WHERE id = $1`, a.ID)
			require.NoError(t, d.complete(a.ID, postroom.UndoHint{}))
			d.requireFault(t, a.ID, set)
			_, err = d.startUndo(a.ID, "job-2")
			require.ErrorIs(t, err, ErrAltered, set)
			_, err = d.ledger.History(t.Context(), "account-1", d.get(a.ID).MessageID)
			require.ErrorIs(t, err, ErrAltered, set)
		}
		undo, err := d.startUndo(d.completed().ID, "job-1")
		require.NoError(t, err)
		d.exec(`UPDATE actions SET message_id = '`+victim.MessageID+`' WHERE id = $1`, undo.ID)
		require.NoError(t, d.complete(undo.ID, postroom.UndoHint{}))
		d.requireFault(t, undo.ID, "an undo is an action")
		_, err = d.startUndo(undo.ID, "job-2")
		require.ErrorIs(t, err, ErrAltered)
	})
}

// TestAnUndoneActionIsNotUndoneAgain: not from the row that its undo had, nor from its link.
func TestAnUndoneActionIsNotUndoneAgain(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		for name, end := range map[string]func(id string) error{
			"completed": func(id string) error { return d.complete(id, postroom.UndoHint{}) },
			"failed":    func(id string) error { return d.fail(id, "no network") },
			"canceled":  func(id string) error { return d.cancel(id, "no") },
		} {
			original := d.completed()
			undo, err := d.startUndo(original.ID, "job-1")
			require.NoError(t, err)
			d.save()
			require.NoError(t, end(undo.ID))
			d.restore(undo.ID)
			d.exec(`UPDATE action_links SET void_at = NULL WHERE cause_action_id = $1`, undo.ID)
			_, err = d.startUndo(original.ID, "job-1")
			require.ErrorIs(t, err, ErrAltered, name)
		}
	})
}

// TestAnAnsweredRequestIsNotAnsweredAgain by somebody else, who is shown it as if it waited.
func TestAnAnsweredRequestIsNotAnsweredAgain(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		const waits = `UPDATE actions SET state = 'approved_pending' WHERE id = $1`
		const open = `UPDATE approvals SET outcome = 'waiting' WHERE action_id = $1`
		const whole = `UPDATE approvals SET outcome = 'waiting', approver = '', why = '', decided_at = NULL, rev = 1 WHERE action_id = $1`
		refused := func(id, why string) {
			require.ErrorIs(t, d.check(id), ErrApprovalVoid, why)
			_, err := d.approve(id, "bob")
			require.ErrorIs(t, err, ErrApprovalVoid, why)
			require.ErrorIs(t, d.renew(id), ErrAltered, why)
		}
		for _, answer := range []string{open, whole} {
			for _, row := range []string{waits, `UPDATE actions SET state = 'approved_pending', error = '', rev = 1 WHERE id = $1`} {
				id := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
				_, err := d.reject(id, "ann", "no")
				require.NoError(t, err)
				d.exec(row, id)
				d.exec(answer, id)
				refused(id, row+answer)
			}
		}
		for _, set := range []string{`approver = 'ann'`, `why = 'she said so'`, `decided_at = requested_at`, `rev = 7`} {
			id := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
			d.exec(`UPDATE approvals SET `+set+` WHERE action_id = $1`, id)
			refused(id, set)
		}
		id := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		d.exec(`UPDATE actions SET error = 'nothing to worry about' WHERE id = $1`, id)
		refused(id, "the row of the action is shown as well")
	})
}

// TestTheOrderOfActionsIsSigned, and what undoes what.
func TestTheOrderOfActionsIsSigned(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		history := func(message string) error {
			_, err := d.ledger.History(t.Context(), "account-1", message)
			return err
		}
		two := d.several(2)
		for _, a := range two {
			_, err := d.start(a.ID, "job-1")
			require.NoError(t, err)
			require.NoError(t, d.complete(a.ID, postroom.UndoHint{}))
		}
		require.NoError(t, history(two[0].MessageID))
		d.exec(`UPDATE actions SET turn = 3 - turn WHERE message_id = $1`, two[0].MessageID)
		require.ErrorIs(t, history(two[0].MessageID), ErrAltered)
		d.requireFault(t, two[0].ID, "turn")
		d.exec(`UPDATE actions SET turn = 3 - turn WHERE message_id = $1`, two[0].MessageID)

		d.exec(`UPDATE message_turns SET turn = 0 WHERE message_id = $1`, two[0].MessageID)
		undo, err := d.startUndo(two[0].ID, "job-2")
		require.NoError(t, err)
		require.NoError(t, d.complete(undo.ID, postroom.UndoHint{}))
		past, err := d.ledger.History(t.Context(), "account-1", two[0].MessageID)
		require.NoError(t, err)
		require.Equal(t, undo.ID, past[2].ID, "the number of a turn does not go back")
		require.Equal(t, two[0].ID, past[2].Undoes)
		d.exec(`UPDATE action_links SET effect_action_id = $1 WHERE cause_action_id = $2`, two[1].ID, undo.ID)
		require.ErrorIs(t, history(two[0].MessageID), ErrAltered)
	})
}

// TestAnOldKeyPermitsNothingNew: it checks what it has signed until the new one began, and nothing that who has it signs later.
func TestAnOldKeyPermitsNothingNew(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		old := newDesk(t, db, keyed(1))
		before, done := old.forwarded(), old.completed()
		waits := old.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		d := newDesk(t, db, keyed(2, 1))
		d.record(message("a@example.com"), rule(postroom.Archive, ""))
		require.Empty(t, d.faults(t))
		require.NoError(t, d.check(waits))

		forged, reversible := old.forwarded(), old.record(message("a@example.com"), rule(postroom.Archive, "")).ID
		asked := old.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		undone := old.completed().ID
		for range 2 { // the second ledger has to read where the key began
			for _, id := range []string{forged, reversible} {
				d.requireFault(t, id, "it is of a key from before, and later")
				require.NotEqual(t, signedRight, d.stands(t, id))
			}
			require.ErrorIs(t, d.check(asked), ErrApprovalVoid)
			_, err := d.startUndo(undone, "job-1")
			require.ErrorIs(t, err, ErrAltered)
			d = newDesk(t, db, keyed(2, 1))
		}
		for _, id := range []string{forged, reversible} {
			a, err := d.start(id, "job-1")
			require.NoError(t, err)
			require.Equal(t, postroom.ActionFailed, a.State)
		}
		require.ErrorIs(t, d.check(waits), ErrApprovalVoid, "the log has been written by the old key since")
		_, err := d.startUndo(done.ID, "job-1")
		require.NoError(t, err)
		a, err := d.start(before, "job-1")
		require.NoError(t, err)
		require.NotEqual(t, postroom.ActionExecuting, a.State, "nor does it tell whether it was carried out: a person is asked")

		d.exec(`DELETE FROM audit_entries WHERE kind = 'key'`)
		d = newDesk(t, db, keyed(2, 1))
		_, err = d.startUndo(undone, "job-1")
		require.ErrorIs(t, err, ErrAltered, "without the entry about the new key the old one checks nothing")
	})
}

// TestWhatAnOldKeyRewritesIsFound, also in a chain to which the new key has added nothing.
func TestWhatAnOldKeyRewritesIsFound(t *testing.T) {
	db := dbtest.Postgres(t)
	old := newDesk(t, db, keyed(1))
	holding, held := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- old.write(func(ctx context.Context, tx queue.Tx) error {
			_, err := old.ledger.Record(ctx, tx, message("a@example.com"), rule(postroom.Star, ""))
			close(holding)
			<-held
			return err
		})
	}()
	<-holding
	id := old.record(message("a@example.com"), rule(postroom.Archive, "")).ID // in the second chain
	close(held)
	require.NoError(t, <-done)
	d := newDesk(t, db, keyed(2, 1))
	d.record(message("a@example.com"), rule(postroom.Archive, ""))
	require.Empty(t, d.faults(t))

	require.NoError(t, old.write(func(ctx context.Context, tx queue.Tx) error {
		var lanes []laneRow
		var entries []AuditEntry
		require.NoError(t, dbquery.Select(ctx, tx, &lanes, selectLanes))
		require.NoError(t, dbquery.Select(ctx, tx, &entries, selectEntries, 2, 0, 10))
		p, err := old.ledger.permit(ctx, tx, id)
		require.NoError(t, err)
		require.Len(t, entries, 2)
		p.Type = postroom.Trash
		p.Seal.String = old.ledger.seal(p.sealed())
		k, lane, e := old.ledger.keys, &lanes[1], &entries[1]
		e.Digest = old.ledger.entryOfAction(&p.actionRow).Digest
		e.MAC = k.sign(e.signedParts(entries[0].MAC))
		lane.MAC = e.MAC
		_, err = tx.ExecContext(ctx, `UPDATE audit_entries SET digest = $1, mac = $2 WHERE lane = 2 AND entry = 2`, e.Digest, e.MAC)
		require.NoError(t, err)
		_, err = tx.ExecContext(ctx, `UPDATE audit_lanes SET mac = $1, seal = $2 WHERE lane = 2`, lane.MAC, k.sign(lane.sealedParts()))
		require.NoError(t, err)
		_, err = tx.ExecContext(ctx, `UPDATE actions SET type = $1, seal = $2 WHERE id = $3`, string(p.Type), p.Seal.String, id)
		return err
	}))
	d.requireFault(t, "2:2", "the end of the chain was another when the new key began")
}

// stands is what stands for an action.
func (d *desk) stands(t *testing.T, id string) (fits signed) {
	t.Helper()
	require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error {
		p, err := d.ledger.permit(ctx, tx, id)
		fits = d.ledger.vouched(p)
		return err
	}))
	return fits
}

// TestALogOfTheFirstVersion, whose digests are over less of an action, goes on.
func TestALogOfTheFirstVersion(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		archive := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
		waits := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		done := d.completed().ID
		begun, undo := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID, d.completed().ID
		_, err := d.start(begun, "job-begun")
		require.NoError(t, err)
		undoing, err := d.startUndo(undo, "job-undo")
		require.NoError(t, err)
		for _, id := range []string{archive, waits, done, begun, undo, undoing.ID} {
			d.once(id)
		}
		_, err = d.approve(waits, "ann")
		require.NoError(t, err)
		a, err := d.start(begun, "job-begun")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionExecuting, a.State, a.Error)
		require.NoError(t, d.complete(begun, postroom.UndoHint{}))
		_, err = d.startUndo(begun, "job-again")
		require.NoError(t, err)
		_, err = d.startUndo(undo, "job-undo")
		require.NoError(t, err)
		require.NoError(t, d.complete(undoing.ID, postroom.UndoHint{}))
		a, err = d.start(archive, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionExecuting, a.State)
		require.NoError(t, d.complete(archive, postroom.UndoHint{}))
		_, err = d.startUndo(done, "job-2")
		require.NoError(t, err)
		require.Empty(t, d.faults(t))
	})
}

// once makes the last entry about an action one of the first version, in a log that is whole, and its seal as it was then.
func (d *desk) once(id string) {
	var row actionRow
	var seal string
	require.NoError(d.t, d.write(func(ctx context.Context, tx queue.Tx) error {
		p, err := d.ledger.permit(ctx, tx, id)
		row = p.actionRow
		if parts := p.sealed(); row.State == postroom.ActionExecuting {
			parts[0], parts[1] = sealStarted, p.JobID
			seal = d.ledger.seal(parts)
		}
		return err
	}))
	switch {
	case seal != "":
		d.exec(`UPDATE actions SET seal = $1 WHERE id = $2`, seal, id)
	case row.State == postroom.ActionCompleted:
		d.exec(`UPDATE actions SET seal = $1 WHERE id = $2`, d.ledger.keys.sign(append([]string{auditAction}, row.partsOnce()...)), id)
	}
	d.exec(`UPDATE audit_entries SET digest = $1 WHERE kind = 'action' AND subject_id = $2 AND rev = $3`,
		d.ledger.keys.sign(append([]string{auditAction}, row.partsOnce()...)), id, row.Rev)
	d.resign()
}

// resign signs the log as it is.
func (d *desk) resign() {
	k := d.ledger.keys
	require.NoError(d.t, d.write(func(ctx context.Context, tx queue.Tx) error {
		var lanes []laneRow
		if err := dbquery.Select(ctx, tx, &lanes, selectLanes); err != nil {
			return err
		}
		for _, lane := range lanes {
			var entries []AuditEntry
			if err := dbquery.Select(ctx, tx, &entries, selectEntries, lane.Lane, 0, 1000); err != nil {
				return err
			}
			lane.MAC = ""
			for i := range entries {
				e := &entries[i]
				e.MAC = k.sign(e.signedParts(lane.MAC))
				lane.MAC = e.MAC
				if _, err := tx.ExecContext(ctx, `UPDATE audit_entries SET mac = $1 WHERE lane = $2 AND entry = $3`, e.MAC, e.Lane, e.Entry); err != nil {
					return err
				}
			}
			if len(entries) > 0 {
				if _, err := tx.ExecContext(ctx, `UPDATE audit_lanes SET entries = $1, mac = $2, seal = $3 WHERE lane = $4`, lane.Entries, lane.MAC, k.sign(lane.sealedParts()), lane.Lane); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	d.restart()
}

func TestALastEntryIsRead(t *testing.T) {
	var e lastEntry
	for _, v := range []any{"3 12 40 2 2.ab:cd ef", []byte("3 12 40 2 2.ab:cd ef")} {
		require.NoError(t, e.Scan(v))
		require.Equal(t, lastEntry{lane: 3, entry: 12, seen: 40, rev: 2, digest: "2.ab:cd ef"}, e)
	}
	require.NoError(t, e.Scan(nil))
	require.Equal(t, lastEntry{}, e)
	for _, bad := range []string{"", "1 2 3 4", "x 2 3 4 d", "1 x 3 4 d", "1 2 x 4 d", "1 2 3 x d"} {
		require.Error(t, e.Scan(bad), bad)
	}
}
