package safety

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// entries is the length of the first chain, which transactions that come one after the other take.
func (d *desk) entries() (n int64) {
	require.NoError(d.t, d.db.Reader().GetContext(context.Background(), &n, `SELECT entries FROM audit_lanes WHERE lane = 1`))
	return n
}

// cut removes the end of the first chain, and writes of the entry that is the last then that it is the end, with a seal as SQL.
func (d *desk) cut(last int64, seal string) {
	d.exec(`DELETE FROM audit_entries WHERE lane = 1 AND entry > $1`, last)
	d.exec(`UPDATE audit_lanes SET entries = $1, seal = `+seal+`, mac = (SELECT mac FROM audit_entries WHERE lane = 1 AND entry = $1) WHERE lane = 1`, last)
}

// forgedEnds are seals of the end of a chain that whoever has no key can write, as SQL: that of another end is one of them.
var forgedEnds = []string{`seal`, `mac`, `''`, `'0badkey0:00'`}

// TestAChainThatIsCutShortHasNoEnd: what has happened does not happen again because the entries about it are gone, whether or not the
// process has read them.
func TestAChainThatIsCutShortHasNoEnd(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		for _, seal := range forgedEnds {
			for name, again := range map[string]*desk{"that has read it": d, "that begins": newDesk(t, db, keyed(1))} {
				id := d.forwarded()
				last := d.entries()
				d.save()
				_, err := d.start(id, "job-1")
				require.NoError(t, err)
				require.NoError(t, d.complete(id, postroom.UndoHint{Irreversible: true}))
				d.restore(id)
				d.cut(last, seal)
				a, err := again.start(id, "job-2")
				require.NoError(t, err)
				require.Equal(t, postroom.ActionApprovedPending, a.State, "a process %s, seal %s: an approval is used once", name, seal)

				id = d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
				last = d.entries()
				d.save()
				_, err = d.reject(id, "ann", "no")
				require.NoError(t, err)
				d.restore(id)
				d.cut(last, seal)
				require.ErrorIs(t, again.check(id), ErrApprovalVoid, "a process %s, seal %s: it was answered", name, seal)
				_, err = again.approve(id, "bob")
				require.ErrorIs(t, err, ErrApprovalVoid, "a process %s, seal %s", name, seal)
			}
		}
	})
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
