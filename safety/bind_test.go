package safety

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// keyed is a configuration with a key of its own, which whoever writes to the database does not have.
func keyed(n byte, old ...byte) func(*Config) {
	key := func(n byte) []byte { return slices.Repeat([]byte{n}, 32) }
	return func(c *Config) {
		c.Key = key(n)
		for _, o := range old {
			c.OldKeys = append(c.OldKeys, key(o))
		}
	}
}

// forgedSeals are seals that name no key of the ledger's, as SQL.
var forgedSeals = []string{`NULL`, `''`, `'0badkey0:00'`, `'2.0badkey0:00'`, `'2.'`, `':'`}

func (d *desk) faults(t *testing.T) []AuditFault {
	t.Helper()
	found, err := d.ledger.VerifyAudit(t.Context(), nil)
	require.NoError(t, err)
	return found.Faults
}

// check is what is asked before a request is shown as genuine.
func (d *desk) check(id string) error { return d.ledger.CheckRequest(context.Background(), id) }

// requireFault expects that verify tells of the row.
func (d *desk) requireFault(t *testing.T, id, why string) {
	t.Helper()
	faults := d.faults(t)
	require.True(t, slices.ContainsFunc(faults, func(f AuditFault) bool { return f.Subject == id }), "%s: %v", why, faults)
}

// TestAForgedSealStartsNothing: a seal of no key that the ledger has is no reason to go on with what seems to have begun.
func TestAForgedSealStartsNothing(t *testing.T) {
	const begin = `UPDATE actions SET state = 'executing', job_id = 'job-9', type = 'delete', parameters_json = '{}', message_id = 'another', seal = `
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		for _, seal := range forgedSeals {
			begun := func() string {
				id := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
				_, err := d.start(id, "job-9")
				require.NoError(t, err)
				return id
			}
			for name, id := range map[string]string{
				"never approved":  d.record(message("a@example.com"), model(postroom.Forward, 1, "to", "boss@example.com")).ID,
				"another kind":    begun(),
				"another address": d.forwarded(),
			} {
				alter := begin + seal + ` WHERE id = $1`
				if name == "another address" {
					_, err := d.start(id, "job-9")
					require.NoError(t, err)
					alter = `UPDATE actions SET parameters_json = '{"to":"mallory@example.com"}', seal = ` + seal + ` WHERE id = $1`
				}
				d.exec(alter, id)
				a, err := d.start(id, "job-9")
				require.NoError(t, err)
				require.Equal(t, postroom.ActionFailed, a.State, "%s, seal %s", name, seal)
				d.requireFault(t, id, "what was refused stays on record")
			}
			id := begun()
			d.exec(`UPDATE actions SET seal = `+seal+` WHERE id = $1`, id)
			a, err := d.start(id, "job-9")
			require.NoError(t, err)
			require.Equal(t, postroom.ActionFailed, a.State, "what cannot be checked does not go on: %s", seal)
		}
	})
}

// TestAForgedSealUndoesNothing, nor does a row that claims to be from before there were seals.
func TestAForgedSealUndoesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		for _, set := range append(slices.Clone(forgedSeals), `seal, rev = 0`, `NULL, rev = 0`) {
			a := d.completed()
			d.exec(`UPDATE actions SET undo_hint_json = '{"inverse_action":"trash"}', seal = `+set+` WHERE id = $1`, a.ID)
			_, err := d.startUndo(a.ID, "job-1")
			require.ErrorIs(t, err, ErrAltered, set)
		}
		a := d.completed()
		past, err := d.ledger.History(t.Context(), a.AccountID, a.MessageID)
		require.NoError(t, err)
		require.Len(t, past, 1)
		d.exec(`UPDATE actions SET undo_hint_json = '{"inverse_action":"trash"}' WHERE id = $1`, a.ID)
		_, err = d.ledger.History(t.Context(), a.AccountID, a.MessageID)
		require.ErrorIs(t, err, ErrAltered, "nor does another action of the message go by it")
		undo, err := d.startUndo(d.completed().ID, "job-1")
		require.NoError(t, err)
		d.exec(`UPDATE actions SET message_id = 'another' WHERE id = $1`, undo.ID)
		original := postroom.Action{}
		require.NoError(t, d.db.Reader().GetContext(t.Context(), &original.ID, `SELECT effect_action_id FROM action_links WHERE cause_action_id = '`+undo.ID+`'`))
		_, err = d.startUndo(original.ID, "job-1")
		require.ErrorIs(t, err, ErrAltered, "an undo that has begun is checked as well")
	})
}

// TestAReplacedKeyStillChecks what it has signed, if it is kept.
func TestAReplacedKeyStillChecks(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		old := newDesk(t, db, keyed(1))
		approved, begun, done := old.forwarded(), old.forwarded(), old.completed()
		_, err := old.start(begun, "job-1")
		require.NoError(t, err)
		waiting := old.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		altered, lost := old.forwarded(), old.forwarded()
		_, err = old.start(lost, "job-1")
		require.NoError(t, err)

		d := newDesk(t, db, keyed(2, 1))
		require.Empty(t, d.faults(t))
		for _, id := range []string{approved, begun} {
			a, err := d.start(id, "job-1")
			require.NoError(t, err)
			require.Equal(t, postroom.ActionExecuting, a.State)
		}
		_, err = d.approve(waiting, "ann")
		require.NoError(t, err)
		undo, err := d.startUndo(done.ID, "job-1")
		require.NoError(t, err)
		require.NoError(t, d.complete(undo.ID, postroom.UndoHint{}))
		d.exec(`UPDATE actions SET parameters_json = '{"to":"mallory@example.com"}' WHERE id = $1`, altered)
		a, err := d.start(altered, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionFailed, a.State)

		without := newDesk(t, db, keyed(3))
		a, err = without.start(lost, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionFailed, a.State)
		require.Contains(t, a.Error, "a key that is not known")
	})
}

// TestWhatWasAlteredIsNotAskedAnew: neither by a renewal nor by Hold, which would sign what was altered.
func TestWhatWasAlteredIsNotAskedAnew(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		hold := func(id string) (postroom.Action, error) {
			return d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
				return d.ledger.Hold(ctx, tx, id, "odd")
			})
		}
		for _, alter := range []string{
			`UPDATE actions SET message_id = 'another' WHERE id = $1`,
			`UPDATE actions SET parameters_json = '{"to":"mallory@example.com"}' WHERE id = $1`,
			`UPDATE decisions SET subject = 'Lottery' WHERE id = (SELECT decision_id FROM actions WHERE id = $1)`,
			`UPDATE decisions SET sender = 'spam@example.com' WHERE id = (SELECT decision_id FROM actions WHERE id = $1)`,
			`UPDATE decisions SET rule_name = 'of the boss' WHERE id = (SELECT decision_id FROM actions WHERE id = $1)`,
		} {
			for _, forge := range []string{``, `0badkey0:0`} {
				id := d.record(message("a@example.com"), model(postroom.Forward, 1, "to", "boss@example.com")).ID
				require.NoError(t, d.check(id))
				d.exec(alter, id)
				if forge != "" {
					d.exec(`UPDATE approvals SET digest = '`+forge+`' WHERE action_id = $1`, id)
				}
				require.ErrorIs(t, d.check(id), ErrApprovalVoid, alter)
				_, err := d.approve(id, "ann")
				require.ErrorIs(t, err, ErrApprovalVoid, alter)
				require.ErrorIs(t, d.renew(id), ErrAltered, alter)
				_, err = d.reject(id, "ann", "odd")
				require.NoError(t, err)
				d.requireFault(t, id, "the answer does not make the fault go away: "+alter)

				id = d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
				d.exec(alter, id)
				if forge != "" {
					d.exec(`UPDATE actions SET seal = '`+forge+`' WHERE id = $1`, id)
				}
				_, err = hold(id)
				require.ErrorIs(t, err, ErrAltered, alter)
				a, err := d.start(id, "job-1")
				require.NoError(t, err)
				require.Equal(t, postroom.ActionFailed, a.State, alter)
			}
		}
	})
}

// TestWhatWasShownIsSigned: what a person reads of the mail and of the decision.
func TestWhatWasShownIsSigned(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		for _, column := range []string{"sender", "subject", "rule_name", "rationale", "model", "safe_mode", "explanations_json", "telemetry_json", "message_id", "account_id", "provider_message_id"} {
			value := `'another'`
			if column == "explanations_json" || column == "telemetry_json" {
				value = `'{}'`
			}
			alter := fmt.Sprintf(`UPDATE decisions SET %s = %s WHERE id = (SELECT decision_id FROM actions WHERE id = $1)`, column, value)
			id := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
			d.exec(alter, id)
			_, err := d.approve(id, "ann")
			require.ErrorIs(t, err, ErrApprovalVoid, column)
			d.exec(`UPDATE decisions SET decision_key = id`)
			id = d.forwarded()
			d.exec(alter, id)
			a, err := d.start(id, "job-1")
			require.NoError(t, err)
			require.Equal(t, postroom.ActionFailed, a.State, column)
		}
	})
}

// TestTheProvidersIdIsThatOfTheDecision, and is handed to whoever carries the action out or undoes it.
func TestTheProvidersIdIsThatOfTheDecision(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		msg := message("a@example.com")
		msg.ProviderID = "18f0"
		id := d.record(msg, rule(postroom.Archive, "")).ID
		a, err := d.start(id, "job-1")
		require.NoError(t, err)
		require.Equal(t, "18f0", a.ProviderMessageID)
		require.Equal(t, "18f0", d.get(id).ProviderMessageID)
		require.NoError(t, d.complete(id, postroom.UndoHint{}))
		undo, err := d.startUndo(id, "job-2")
		require.NoError(t, err)
		require.Equal(t, "18f0", undo.ProviderMessageID)
		require.Empty(t, d.faults(t))
	})
}

// TestAMoveDoesNotLaunder: what was altered before an action went on stays a fault of the log.
func TestAMoveDoesNotLaunder(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		for _, set := range []string{`message_id = 'another'`, `type = 'delete'`, `parameters_json = '{"to":"mallory@example.com"}'`, `content_sha256 = '` + otherHash + `'`, `rev = 7`} {
			for name, goOn := range map[string]func(id string) error{
				"reject": func(id string) error { _, err := d.reject(id, "ann", ""); return err },
				"cancel": func(id string) error { return d.cancel(id, "no") },
			} {
				id := d.record(message("a@example.com"), model(postroom.Forward, 1, "to", "boss@example.com")).ID
				require.Empty(t, d.tamper(t, nil).Faults, "nothing is left of what was tried before")
				err := d.write(func(ctx context.Context, tx queue.Tx) error {
					_, err := tx.ExecContext(ctx, `UPDATE actions SET `+set+` WHERE id = $1`, id)
					return err
				})
				require.NoError(t, err)
				require.NoError(t, goOn(id), name)
				d.requireFault(t, id, name+" "+set)
				d.exec(`DELETE FROM audit_entries`)
				d.exec(`UPDATE audit_lanes SET entries = 0, mac = '', seal = ''`)
				d.exec(`DELETE FROM approvals`)
				d.exec(`DELETE FROM actions`)
				d.exec(`DELETE FROM decisions`)
				d.restart()
			}
		}
		id := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
		_, err := d.start(id, "job-1")
		require.NoError(t, err)
		d.exec(`UPDATE actions SET parameters_json = '{"label":"x"}' WHERE id = $1`, id)
		require.NoError(t, d.complete(id, postroom.UndoHint{}))
		d.requireFault(t, id, "complete")
		id = d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		d.exec(`UPDATE actions SET state = 'queued' WHERE id = $1`, id)
		require.NoError(t, d.fail(id, "gone"))
		d.requireFault(t, id, "fail")
	})
}

// TestTheLogKnowsWhatWasUndone: a link that is gone is missed, and the action is not undone twice.
func TestTheLogKnowsWhatWasUndone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		a := d.completed()
		failed, err := d.startUndo(a.ID, "job-1")
		require.NoError(t, err)
		require.NoError(t, d.fail(failed.ID, "no network"))
		undo, err := d.startUndo(a.ID, "job-2")
		require.NoError(t, err)
		require.NoError(t, d.complete(undo.ID, postroom.UndoHint{}))
		require.Empty(t, d.faults(t))
		for _, alter := range []string{`DELETE FROM action_links`, `UPDATE action_links SET void_at = created_at`, `UPDATE action_links SET effect_action_id = cause_action_id`} {
			faults := d.tamper(t, nil, alter).Faults
			require.True(t, slices.ContainsFunc(faults, func(f AuditFault) bool { return f.Kind == auditLink && f.Subject == undo.ID }), "%s: %v", alter, faults)
		}
		redo, err := d.startUndo(undo.ID, "job-3")
		require.NoError(t, err)
		require.NoError(t, d.complete(redo.ID, postroom.UndoHint{}))
		require.Empty(t, d.faults(t))
		last, err := d.startUndo(a.ID, "job-4")
		require.NoError(t, err, "undone, done again, and undone")
		require.NoError(t, d.complete(last.ID, postroom.UndoHint{}))
		d.exec(`DELETE FROM action_links`)
		_, err = d.startUndo(a.ID, "job-5")
		require.ErrorIs(t, err, ErrAltered)
	})
}

// TestEntriesOfAnotherKey are older than those of the ledger's, or forged.
func TestEntriesOfAnotherKey(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		newDesk(t, db, keyed(1)).completed()
		d := newDesk(t, db, keyed(2))
		id := d.completed().ID
		require.Empty(t, d.faults(t))
		faults := d.tamper(t, nil, `UPDATE actions SET error = 'x' WHERE id = '`+id+`'`,
			`UPDATE audit_entries SET digest = '0badkey0:0', mac = '0badkey0:0' WHERE subject_id = '`+id+`' AND note = 'completed'`).Faults
		require.NotEmpty(t, faults)
		require.Equal(t, "entry", faults[0].Kind)
	})
}

// TestTheShareIsOfMessages: several decisions about one message make no more mail.
func TestTheShareIsOfMessages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(c *Config) { c.Policy = Policy{ModelFree: 1, ModelShare: 0.5} })
		for range 10 {
			msg := message("a@example.com")
			for i, action := range []postroom.ActionType{postroom.MarkRead, postroom.Star, postroom.Archive, postroom.None} {
				dec := rule(action, "")
				dec.Key = strconv.Itoa(i)
				d.record(msg, dec)
			}
			batch := rule(postroom.Archive, "")
			batch.Key = postroom.BatchKeyPrefix + "batch-1:1"
			d.record(message("old@example.com"), batch)
		}
		taken := 0
		for d.record(message("b@example.com"), model(postroom.Trash, 1)).State == postroom.ActionQueued {
			taken++
		}
		require.Equal(t, 9, taken, "nine of the nineteen messages that came")
	})
}

// TestAReplayNeedsTheWholeLog: an approval is used once, whatever is done to the entries about it.
func TestAReplayNeedsTheWholeLog(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		for _, alter := range []string{
			`UPDATE audit_entries SET note = 'x' WHERE subject_id = $1 AND note = 'executing'`,
			`UPDATE audit_entries SET subject_id = 'x' WHERE subject_id = $1 AND note = 'executing'`,
			`DELETE FROM audit_entries WHERE subject_id = $1 AND note = 'executing'`,
			`DELETE FROM audit_entries WHERE subject_id = $1 AND note IN ('executing', 'completed')`,
			`UPDATE audit_entries SET mac = '0badkey0:0', note = 'x' WHERE subject_id = $1 AND note IN ('executing', 'completed')`,
		} {
			id := d.forwarded()
			d.exec(`CREATE TABLE saved AS SELECT id, state, seal, job_id, executed_at, undo_hint_json, turn, rev, updated_at FROM actions`)
			_, err := d.start(id, "job-1")
			require.NoError(t, err)
			require.NoError(t, d.complete(id, postroom.UndoHint{Irreversible: true}))
			d.record(message("a@example.com"), rule(postroom.Archive, ""))
			require.NoError(t, d.ledger.Remember(t.Context()))
			d.exec(`UPDATE actions SET (state, seal, job_id, executed_at, undo_hint_json, turn, rev, updated_at) =
			  (SELECT state, seal, job_id, executed_at, undo_hint_json, turn, rev, updated_at FROM saved WHERE saved.id = actions.id) WHERE id = $1`, id)
			d.exec(`DROP TABLE saved`)
			d.exec(alter, id)
			a, err := d.start(id, "job-2")
			require.NoError(t, err)
			require.NotEqual(t, postroom.ActionExecuting, a.State, alter)
		}
		fresh := d.forwarded()
		a, err := d.start(fresh, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionExecuting, a.State, "what is permitted after that is carried out")
	})
}
