package safety

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// reads returns a waiting action and its request as a transaction reads them that is overtaken by what comes next.
func (d *desk) reads(id string) (p *permitRow, r *openRow) {
	require.NoError(d.t, d.write(func(ctx context.Context, tx queue.Tx) (err error) {
		p, r, err = d.ledger.request(ctx, tx, id, "read")
		return err
	}))
	return p, r
}

// answers answers a request as it was read.
func (d *desk) answers(r *openRow) (closed bool, err error) {
	err = d.write(func(ctx context.Context, tx queue.Tx) (err error) {
		closed, err = d.ledger.close(ctx, tx, r, OutcomeRejected, "ann", "no")
		return err
	})
	return closed, err
}

// waits returns a forward that waits for a person.
func (d *desk) waits() string {
	return d.record(message("a@example.com"), model(postroom.Forward, 1, "to", "boss@example.com")).ID
}

// TestARequestIsStoredAsItIsSigned: what something in the database makes of an answer is not the answer.
func TestARequestIsStoredAsItIsSigned(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		for _, set := range []string{`reasons_json = '["the boss asked for it"]'`, `expires_at = requested_at`, `requested_at = expires_at`} {
			id := d.waits()
			_, r := d.reads(id)
			d.exec(`UPDATE approvals SET `+set+` WHERE action_id = $1`, id)
			_, err := d.answers(r)
			require.ErrorIs(t, err, ErrAltered, set)
			require.Len(t, d.waiting(t), 1, "nothing was written")
			d.exec(`DELETE FROM approvals`)
		}
	})
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		id := d.waits()
		if string(db.Dialect()) == "postgres" {
			d.exec(`CREATE FUNCTION another() RETURNS trigger AS $$ BEGIN NEW.approver = 'mallory'; RETURN NEW; END $$ LANGUAGE plpgsql`)
			d.exec(`CREATE TRIGGER another BEFORE UPDATE ON approvals FOR EACH ROW EXECUTE FUNCTION another()`)
		} else {
			d.exec(`CREATE TRIGGER another BEFORE UPDATE ON approvals BEGIN UPDATE approvals SET reasons_json = '["mallory"]' WHERE id = NEW.id; END`)
		}
		_, err := d.approve(id, "ann")
		require.ErrorIs(t, err, ErrAltered)
		require.ErrorIs(t, d.setContent(id, oneHash), ErrAltered)
		require.ErrorIs(t, d.renew(id), ErrAltered)
		require.Equal(t, postroom.ActionApprovedPending, d.get(id).State, "nothing was written")
		require.Empty(t, d.executed)
	})
}

// TestARequestIsAnsweredAsItWasRead, or not at all.
func TestARequestIsAnsweredAsItWasRead(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		id := d.waits()
		_, r := d.reads(id)
		require.NoError(t, d.setContent(id, oneHash))
		closed, err := d.answers(r)
		require.NoError(t, err)
		require.False(t, closed, "it names a content now")
		require.NoError(t, d.check(id))
		_, r = d.reads(id)
		d.exec(`UPDATE approvals SET outcome = 'withdrawn' WHERE action_id = $1`, id)
		closed, err = d.answers(r)
		require.NoError(t, err)
		require.False(t, closed, "it does not wait")
	})
}

// TestAnActionIsChangedAsItWasRead, or not at all.
func TestAnActionIsChangedAsItWasRead(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		id := d.waits()
		cancel := func(p *permitRow) error {
			return d.write(func(ctx context.Context, tx queue.Tx) error {
				_, err := d.ledger.move(ctx, tx, &p.actionRow, change{op: "cancel", to: postroom.ActionCanceled})
				return err
			})
		}
		p, _ := d.reads(id)
		require.NoError(t, d.setContent(id, oneHash))
		require.ErrorContains(t, cancel(p), "another has changed it at this moment: try again")
		require.Equal(t, oneHash, d.get(id).ContentSHA256)
		p, _ = d.reads(id)
		d.exec(`UPDATE actions SET state = 'executing' WHERE id = $1`, id)
		require.ErrorIs(t, cancel(p), ErrState)
		require.Equal(t, postroom.ActionExecuting, d.get(id).State)
	})
}

// TestWhoComesSecondIsToldSo, and not that something was altered: the log has more about what was read than there was then.
func TestWhoComesSecondIsToldSo(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		id := d.waits()
		goOn := func(p *permitRow, r *openRow) error {
			return d.write(func(ctx context.Context, tx queue.Tx) error { return d.ledger.checkRequest(ctx, tx, p, r) })
		}
		p, r := d.reads(id)
		require.NoError(t, goOn(p, r))
		require.NoError(t, d.setContent(id, oneHash))
		require.ErrorContains(t, goOn(p, r), "another has changed it at this moment: try again")
		p, r = d.reads(id)
		_, err := d.approve(id, "bob")
		require.NoError(t, err)
		var late *StateError
		require.ErrorAs(t, goOn(p, r), &late)
		require.Equal(t, postroom.ActionQueued, late.State)
		require.Equal(t, "bob", late.Answer.Approver)

		id = d.waits()
		p, r = d.reads(id)
		d.exec(`UPDATE actions SET state = 'queued' WHERE id = $1`, id)
		d.exec(`UPDATE audit_entries SET subject_id = 'x' WHERE subject_id = $1`, id)
		require.ErrorIs(t, goOn(p, r), ErrApprovalVoid, "nobody has changed it who counts its changes")
	})
}
