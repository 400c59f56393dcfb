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

// entries is the length of the first chain, which transactions that come one after the other take.
func (d *desk) entries() (n int64) {
	require.NoError(d.t, d.db.Reader().GetContext(context.Background(), &n, `SELECT entries FROM audit_lanes WHERE lane = 1`))
	return n
}

// cuts remove from the first chain all entries after the one with the number $1, as SQL without a key.
var cuts = map[string][]string{
	"and nothing else":           {`DELETE FROM audit_entries WHERE lane = 1 AND entry > $1`},
	"and something comes after":  {`UPDATE audit_entries SET entry = entry + 100, subject_id = 'x' WHERE lane = 1 AND entry > $1`},
	"and the seal is of the end": {`DELETE FROM audit_entries WHERE lane = 1 AND entry > $1`, end + `seal = seal WHERE lane = 1`},
	"and the seal is of another": {`DELETE FROM audit_entries WHERE lane = 1 AND entry > $1`, end + `seal = mac WHERE lane = 1`},
	"and there is no seal":       {`DELETE FROM audit_entries WHERE lane = 1 AND entry > $1`, end + `seal = '' WHERE lane = 1`},
	"and no key has sealed it":   {`DELETE FROM audit_entries WHERE lane = 1 AND entry > $1`, end + `seal = '0badkey0:00' WHERE lane = 1`},
}

const end = `UPDATE audit_lanes SET entries = $1, mac = (SELECT mac FROM audit_entries WHERE lane = 1 AND entry = $1), `

// TestAChainThatIsCutShortHasNoEnd: what has happened does not happen again because the entries about it are gone, whether or not the
// process has read what was before.
func TestAChainThatIsCutShortHasNoEnd(t *testing.T) {
	for cut, statements := range cuts {
		for _, read := range []bool{false, true} {
			dbtest.Each(t, func(t *testing.T, db queue.DB) {
				d, other := newDesk(t, db, keyed(1)), newDesk(t, db, keyed(1))
				asked, sent := d.waits(), d.forwarded()
				if read {
					require.NoError(t, d.check(asked))
				} else {
					d = newDesk(t, db, keyed(1))
				}
				last := d.entries()
				d.save()
				_, err := other.reject(asked, "ann", "no")
				require.NoError(t, err)
				_, err = other.start(sent, "job-1")
				require.NoError(t, err)
				require.NoError(t, other.complete(sent, postroom.UndoHint{Irreversible: true}))
				d.restore(asked, sent)
				for _, s := range statements {
					d.exec(s, last)
				}
				require.ErrorIs(t, d.check(asked), ErrApprovalVoid, "%s, %t: it was answered", cut, read)
				_, err = d.approve(asked, "bob")
				require.ErrorIs(t, err, ErrApprovalVoid, "%s, %t", cut, read)
				a, err := d.start(sent, "job-2")
				require.NoError(t, err)
				require.Equal(t, postroom.ActionApprovedPending, a.State, "%s, %t: an approval is used once", cut, read)
			})
		}
	}
}

// TestWhatWasRolledBackWasNotRead: an entry that was read in a transaction which came to nothing does not stand for the one that has its
// number since.
func TestWhatWasRolledBackWasNotRead(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d, other := newDesk(t, db, keyed(1)), newDesk(t, db, keyed(1))
		running, waits := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID, d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		_, err := d.start(running, "job-1")
		require.NoError(t, err)
		rolledBack := func() {
			err := d.write(func(ctx context.Context, tx queue.Tx) error {
				require.NoError(t, d.ledger.SetReport(ctx, tx, running, []byte(`{}`)))
				_, err := d.ledger.Approve(ctx, tx, waits, "ann") // reads the log, with the entry about the report
				require.NoError(t, err)
				return errUndo
			})
			require.ErrorIs(t, err, errUndo)
		}
		honest, sent := d.forwarded(), d.forwarded()
		rolledBack()
		_, err = other.start(honest, "job-1")
		require.NoError(t, err)
		a, err := d.start(honest, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionExecuting, a.State)

		d.save()
		rolledBack()
		_, err = other.start(sent, "job-1")
		require.NoError(t, err)
		d.restore(sent)
		d.exec(hide, sent)
		a, err = d.start(sent, "job-2")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionApprovedPending, a.State, "it was carried out")
	})
}

// TestTheEndIsTheEntryThatWasSealed, and no other that was signed with its number: the database may have been put back as it was once, and
// another entry made there before that.
func TestTheEndIsTheEntryThatWasSealed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		running, sent := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID, d.forwarded()
		_, err := d.start(running, "job-1")
		require.NoError(t, err)
		last := d.entries()
		var once AuditEntry
		require.ErrorIs(t, d.write(func(ctx context.Context, tx queue.Tx) error {
			require.NoError(t, d.ledger.SetReport(ctx, tx, running, []byte(`{}`)))
			require.NoError(t, dbquery.Get(ctx, tx, &once, selectEntries, 1, last, 1))
			return errUndo
		}), errUndo)
		d.save()
		_, err = d.start(sent, "job-1")
		require.NoError(t, err)
		d.restore(sent)
		d.exec(`UPDATE audit_entries SET kind = $1, subject_id = $2, rev = $3, note = $4, digest = $5, mac = $6 WHERE lane = 1 AND entry = $7`,
			once.Kind, once.Subject, once.Rev, once.Note, once.Digest, once.MAC, once.Entry)
		a, err := newDesk(t, db, keyed(1)).start(sent, "job-2")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionApprovedPending, a.State)
	})
}

// TestAChainThatWasReadIsNotGone: that there is nothing new to read is not so because there is nothing.
func TestAChainThatWasReadIsNotGone(t *testing.T) {
	for _, alter := range []string{`UPDATE audit_lanes SET entries = 0, mac = '', seal = ''`, `DELETE FROM audit_lanes WHERE lane = 1`} {
		dbtest.Each(t, func(t *testing.T, db queue.DB) {
			d, other := newDesk(t, db, keyed(1)), newDesk(t, db, keyed(1))
			waits, id := d.waits(), d.forwarded()
			require.NoError(t, d.check(waits)) // reads the log from then on
			d.save()
			_, err := other.start(id, "job-1")
			require.NoError(t, err)
			require.NoError(t, other.complete(id, postroom.UndoHint{Irreversible: true}))
			d.restore(id)
			d.exec(`DELETE FROM audit_entries WHERE subject_id <> $1 OR note IN ('executing', 'completed')`, id)
			d.exec(alter)
			a, _ := d.start(id, "job-2") // without any chain it fails
			require.NotEqual(t, postroom.ActionExecuting, a.State, alter)
			require.NotEqual(t, postroom.ActionExecuting, d.get(id).State, alter)
		})
	}
}

// TestHowFarTheLogIsReadIsSigned: an entry that has been read does not say later that there is less to read.
func TestHowFarTheLogIsReadIsSigned(t *testing.T) {
	db := dbtest.Postgres(t)
	d, other := newDesk(t, db, keyed(1)), newDesk(t, db, keyed(1))
	id := d.waits()
	_, err := d.approve(id, "ann")
	require.NoError(t, err)
	require.NoError(t, d.setContent(id, oneHash))
	d.save()
	var asked string
	other.inSecondChain(func() {
		_, err := other.start(id, "job-1")
		require.NoError(t, err)
		require.NoError(t, other.complete(id, postroom.UndoHint{Irreversible: true}))
		asked = other.waits()
	})
	d = newDesk(t, db, keyed(1))
	require.NoError(t, d.check(asked)) // reads the last entry of the first chain, and of the second what came after it was completed
	d.restore(id)
	d.exec(hide, id)
	d.exec(`UPDATE audit_entries SET seen = 1000 WHERE kind = 'action' AND subject_id = $1`, id)
	a, err := d.start(id, "job-2")
	require.NoError(t, err)
	require.Equal(t, postroom.ActionApprovedPending, a.State)

	require.NoError(t, d.accept("ann"))
	id = d.forwarded()
	d.exec(`UPDATE audit_entries SET seen = -1 WHERE kind = 'action' AND subject_id = $1`, id)
	a, err = d.start(id, "job-1")
	require.NoError(t, err)
	require.Equal(t, postroom.ActionApprovedPending, a.State)
}

// inSecondChain runs fn while another transaction holds the first chain.
func (d *desk) inSecondChain(fn func()) {
	holding, held := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- d.write(func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, `SELECT 1 FROM audit_lanes WHERE lane = 1 FOR UPDATE`)
			close(holding)
			<-held
			return err
		})
	}()
	<-holding
	fn()
	close(held)
	require.NoError(d.t, <-done)
}
