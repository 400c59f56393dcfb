package safety

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// forget makes a row look as if it were from before the log.
func (d *desk) forget(id string) {
	d.exec(`UPDATE actions SET rev = 0 WHERE id = $1`, id)
	d.exec(`UPDATE audit_entries SET subject_id = 'x' WHERE subject_id = $1`, id)
}

// trigger makes the database do something on its own: once a row has been written to a table.
func (d *desk) trigger(table, when, body string) {
	if string(d.db.Dialect()) != "postgres" {
		d.exec(`CREATE TRIGGER lie AFTER ` + when + ` ON ` + table + ` BEGIN ` + body + `; END`)
		return
	}
	d.exec(`CREATE FUNCTION lie() RETURNS trigger AS $$ BEGIN ` + body + `; RETURN NEW; END $$ LANGUAGE plpgsql`)
	d.exec(`CREATE TRIGGER lie AFTER ` + when + ` ON ` + table + ` FOR EACH ROW EXECUTE FUNCTION lie()`)
}

// TestAForgottenRowIsNotSigned: that the log has nothing about it is no reason to begin with what it says.
func TestAForgottenRowIsNotSigned(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		victim := d.completed()
		id := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
		_, err := d.start(id, "job-1")
		require.NoError(t, err)
		d.exec(`UPDATE actions SET message_id = $1, decision_id = $2, seal = '2.0badkey0:00' WHERE id = $3`, victim.MessageID, victim.DecisionID, id)
		d.forget(id)
		require.NoError(t, d.complete(id, postroom.UndoHint{}))
		_, err = d.startUndo(id, "job-2")
		require.ErrorIs(t, err, ErrAltered)

		sent := d.forwarded()
		_, err = d.start(sent, "job-1")
		require.NoError(t, err)
		require.NoError(t, d.complete(sent, postroom.UndoHint{Irreversible: true}))
		d.exec(`UPDATE actions SET state = 'queued', content_sha256 = NULL WHERE id = $1`, sent)
		d.forget(sent)
		require.ErrorIs(t, d.setContent(sent, oneHash), ErrAltered)
		a, err := d.start(sent, "job-2")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionFailed, a.State)

		held := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
		d.exec(`UPDATE actions SET type = 'delete' WHERE id = $1`, held)
		d.exec(`UPDATE decisions SET action_type = 'delete' WHERE id = (SELECT decision_id FROM actions WHERE id = $1)`, held)
		d.forget(held)
		_, err = d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
			return d.ledger.Hold(ctx, tx, held, "odd")
		})
		require.ErrorIs(t, err, ErrAltered)
	})
}

// TestAnAnswerWhoseEntriesAreHiddenStands: a request that was answered does not wait again, nor is it composed anew.
func TestAnAnswerWhoseEntriesAreHiddenStands(t *testing.T) {
	const hideAnswer = `UPDATE audit_entries SET subject_id = 'x' WHERE kind = 'approval' AND rev > (SELECT rev FROM approvals WHERE id = audit_entries.subject_id)`
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		for name, end := range map[string]func(id string) error{
			"rejected": func(id string) error { _, err := d.reject(id, "ann", "no"); return err },
			"canceled": func(id string) error { return d.cancel(id, "no") },
			"executed": func(id string) error {
				_, err := d.approve(id, "ann")
				require.NoError(t, err)
				_, err = d.start(id, "job-1")
				require.NoError(t, err)
				return d.complete(id, postroom.UndoHint{Irreversible: true})
			},
		} {
			id := d.record(message("a@example.com"), model(postroom.Forward, 1, "to", "boss@example.com")).ID
			d.save()
			require.NoError(t, end(id))
			d.restore(id)
			d.exec(hide, id)
			d.exec(hideAnswer)
			require.ErrorIs(t, d.setContent(id, oneHash), ErrAltered, name)
			require.ErrorIs(t, d.check(id), ErrApprovalVoid, name)
			_, err := d.approve(id, "bob")
			require.ErrorIs(t, err, ErrApprovalVoid, name)
			require.ErrorIs(t, d.renew(id), ErrAltered, name)
		}
	})
}

// TestWhatIsReadIsWhatIsSigned, and not what the database has made of it meanwhile.
func TestWhatIsReadIsWhatIsSigned(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		msg := message("a@example.com")
		msg.ProviderID = "18f0"
		id := d.record(msg, model(postroom.Delete, 1)).ID
		_, err := d.approve(id, "ann")
		require.NoError(t, err)
		d.trigger("message_turns", "INSERT", `UPDATE decisions SET provider_message_id = 'victim'`)
		a, err := d.start(id, "job-1")
		require.ErrorIs(t, err, ErrAltered)
		require.NotEqual(t, "victim", a.ProviderMessageID)
		require.Equal(t, postroom.ActionQueued, d.get(id).State, "nothing was written")
	})
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		d.trigger("decisions", "INSERT", `UPDATE decisions SET subject = 'Lottery', sender = 'spam@example.com'`)
		id := d.record(message("boss@example.com"), model(postroom.Delete, 1)).ID
		require.ErrorIs(t, d.check(id), ErrApprovalVoid, "a person is shown what was decided about")
	})
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		id := d.forwarded()
		var before *permitRow
		require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) (err error) {
			before, err = d.ledger.permit(ctx, tx, id)
			return err
		}))
		d.exec(`UPDATE actions SET rev = rev + 1 WHERE id = $1`, id)
		err := d.write(func(ctx context.Context, tx queue.Tx) error {
			_, err := d.ledger.move(ctx, tx, &before.actionRow, change{op: "start", to: postroom.ActionExecuting, jobID: "job-1"})
			return err
		})
		require.ErrorContains(t, err, "another has changed it at this moment: try again")
	})
}

// TestALogThatIsNotWrittenStopsTheLedger: nothing is done that leaves no trace.
func TestALogThatIsNotWrittenStopsTheLedger(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		id := d.forwarded()
		if string(db.Dialect()) == "postgres" {
			d.exec(`CREATE FUNCTION leave_out() RETURNS trigger AS $$ BEGIN RETURN NULL; END $$ LANGUAGE plpgsql`)
			d.exec(`CREATE TRIGGER leave_out BEFORE INSERT ON audit_entries FOR EACH ROW EXECUTE FUNCTION leave_out()`)
		} else {
			d.exec(`CREATE TRIGGER leave_out BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(IGNORE); END`)
		}
		_, err := d.start(id, "job-1")
		require.ErrorContains(t, err, "the database has left it out; look for triggers on audit_entries and audit_lanes")
		require.Equal(t, postroom.ActionQueued, d.get(id).State)
	})
}

// TestAClockThatGoesBackIsNoFault: the log goes by what was there, and not by when.
func TestAClockThatGoesBackIsNoFault(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		id, begun := d.forwarded(), d.forwarded()
		_, err := d.start(begun, "job-1")
		require.NoError(t, err)
		d.now = d.now.Add(-time.Hour)
		d.completed()
		for _, id := range []string{id, begun} {
			a, err := d.start(id, "job-1")
			require.NoError(t, err)
			require.Equal(t, postroom.ActionExecuting, a.State)
		}
		require.Empty(t, d.faults(t))
	})
}

// TestAKeyEndsWhereTheNextBegan, whatever keys come after that.
func TestAKeyEndsWhereTheNextBegan(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		one := newDesk(t, db, keyed(1))
		first := one.completed().ID
		two := newDesk(t, db, keyed(2, 1))
		second := two.completed().ID
		forged := one.completed().ID
		three := newDesk(t, db, keyed(3, 2, 1))
		three.completed()
		_, err := three.startUndo(forged, "job-1")
		require.ErrorIs(t, err, ErrAltered)
		three.requireFault(t, forged, "the first key had ended")
		for _, id := range []string{first, second} {
			_, err := three.startUndo(id, "job-1")
			require.NoError(t, err)
		}
	})
}

// TestAChainThatIsEmptiedIsMissed by those that go on.
func TestAChainThatIsEmptiedIsMissed(t *testing.T) {
	d := newDesk(t, dbtest.Postgres(t), keyed(1))
	id := d.forwarded()
	d.save()
	d.inSecondChain(func() {
		_, err := d.start(id, "job-1")
		require.NoError(t, err)
		require.NoError(t, d.complete(id, postroom.UndoHint{Irreversible: true}))
	})
	d.completed()
	d.restore(id)
	d.exec(`DELETE FROM audit_entries WHERE lane = 2`)
	d.exec(`UPDATE audit_lanes SET entries = 0, mac = '', seal = '' WHERE lane = 2`)
	_, err := d.start(id, "job-2")
	require.ErrorIs(t, err, ErrLogCut)
	d.restart()
	a, err := d.start(id, "job-2")
	require.NoError(t, err)
	require.NotEqual(t, postroom.ActionExecuting, a.State)
}
