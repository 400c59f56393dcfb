package safety

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
)

// TestAnEntryThatHasSeenTooLittleHidesNothing: how many entries there are is what rows without a seal say when an entry is made, so that
// somebody who alters these has the ledger sign an entry at which the reading of the log ends too early.
func TestAnEntryThatHasSeenTooLittleHidesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		id := d.forwarded()
		d.save()
		d.exec(`INSERT INTO audit_lanes (lane, entries, mac, seal) VALUES (-1, 0, '', '')`)
		_, err := d.start(id, "job-1")
		require.NoError(t, err)
		require.NoError(t, d.complete(id, postroom.UndoHint{Irreversible: true}))

		d.exec(`INSERT INTO audit_lanes (lane, entries, mac, seal) VALUES (1000, -1000000, '', '')`)
		d.record(message("b@example.com"), rule(postroom.Archive, "")) // what goes on meanwhile
		d.exec(`DELETE FROM audit_lanes WHERE lane = 1000`)
		d.restore(id)
		d.exec(hide, id)
		d.exec(`UPDATE audit_entries SET kind = 'x' WHERE subject_id = 'x'`)
		require.NotEmpty(t, d.faults(t), "verify finds it")

		later := newDesk(t, db, keyed(1))
		a, err := later.start(id, "job-2")
		require.NoError(t, err)
		require.NotEqual(t, postroom.ActionExecuting, a.State, "it was sent before, and would be sent again")
	})
}

// TestWhoWaitsForAChainHasSeenWhatIsInIt: with more transactions than chains, honest ones all.
func TestWhoWaitsForAChainHasSeenWhatIsInIt(t *testing.T) {
	db, err := postgres.Open(t.Context(), dbtest.With(t, dbtest.PostgresDSN(t), "pool_max_conns", "8"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	d := newDesk(t, db, keyed(1))
	held, full := make(chan struct{}), make(chan struct{})
	others := make(chan error, 1)
	go func() {
		others <- d.write(func(ctx context.Context, tx queue.Tx) error { // the transactions that have all other chains
			_, err := tx.ExecContext(ctx, `SELECT 1 FROM audit_lanes WHERE lane > 1 FOR UPDATE`)
			close(full)
			<-held
			return err
		})
	}()
	<-full
	waits := make(chan error, 1)
	var id string
	require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error {
		a, err := d.ledger.Record(ctx, tx, message("a@example.com"), model(postroom.Delete, 1))
		require.NoError(t, err)
		id = a.ID
		go func() {
			waits <- d.write(func(ctx context.Context, tx queue.Tx) error {
				_, err := d.ledger.Record(ctx, tx, message("b@example.com"), rule(postroom.Archive, ""))
				return err
			})
		}()
		requireBlocked(t, db, tx) // for this one's chain
		return nil
	}))
	require.NoError(t, <-waits)
	close(held)
	require.NoError(t, <-others)

	require.Empty(t, d.faults(t), "nothing was altered")
	require.NoError(t, d.check(id))
	_, err = d.approve(id, "ann")
	require.NoError(t, err)
}

// TestARequestThatChangesMeanwhileWasNotAltered: not for who looks at it, whatever becomes of it then.
func TestARequestThatChangesMeanwhileWasNotAltered(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		id := d.waits()
		require.NoError(t, d.renew(id))
		changed := make(chan error, 1)
		go func() {
			var errs []error
			for range 30 {
				errs = append(errs, d.renew(id))
			}
			changed <- errors.Join(append(errs, d.setContent(id, oneHash))...)
		}()
		for done := false; !done; {
			select {
			case err := <-changed:
				require.NoError(t, err)
				done = true
			default:
			}
			require.NoError(t, d.check(id))
			list, err := d.ledger.Approvals(t.Context(), Filter{})
			require.NoError(t, err)
			require.Len(t, list, 1)
			require.NoError(t, list[0].Fault)
		}
	})
}

// TestWhoAnswersIsAlone: what is read of an action and its request is of one time.
func TestWhoAnswersIsAlone(t *testing.T) {
	db := dbtest.Postgres(t)
	for name, change := range map[string]func(d *desk, id string) error{
		"renewed":  func(d *desk, id string) error { return d.renew(id) },
		"composed": func(d *desk, id string) error { return d.setContent(id, oneHash) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, db, keyed(1))
			id := d.waits()
			changed := make(chan error, 1)
			require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error {
				p, err := d.ledger.permitAlone(ctx, tx, id)
				require.NoError(t, err)
				go func() { changed <- change(d, id) }()
				requireBlocked(t, db, tx)
				r, err := openRequest(ctx, tx, id)
				require.NoError(t, err)
				return d.ledger.checkRequest(ctx, tx, p, r)
			}))
			require.NoError(t, <-changed)
		})
	}
}

// requireBlocked waits until somebody waits for the transaction.
func requireBlocked(t *testing.T, db queue.DB, tx queue.Tx) {
	var pid int
	require.NoError(t, dbquery.Get(t.Context(), tx, &pid, `SELECT pg_backend_pid()`))
	for n := 0; n == 0; {
		require.NoError(t, dbquery.Get(t.Context(), db.Reader(), &n, `SELECT COUNT(*) FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))`, pid))
	}
}

// TestWhoReadsTheLogMakesNobodyWait: who reads it may wait for a connection that somebody has who would wait.
func TestWhoReadsTheLogMakesNobodyWait(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		d.carriedOut(d.forwarded())
		d.ledger.recent.mu.Lock()
		defer d.ledger.recent.mu.Unlock()
		d.carriedOut(d.forwarded())
	})
}

// TestWhatIsListedIsWhatIsChecked: what is shown is read by one statement and checked by another, to which the database may tell another
// story.
func TestWhatIsListedIsWhatIsChecked(t *testing.T) {
	db := dbtest.Postgres(t)
	d := newDesk(t, db, keyed(1))
	id := d.record(message("a@example.com"), model(postroom.Forward, 1, "to", "mallory@example.com")).ID
	d.exec(`ALTER TABLE actions RENAME TO real_actions`)
	d.exec(`CREATE VIEW actions AS SELECT id, account_id, message_id, decision_id, type,
  CASE WHEN current_query() LIKE '%JOIN approvals ON approvals.action_id = actions.id AND%' THEN replace(parameters_json::text, 'mallory', 'boss') ELSE parameters_json::text END AS parameters_json,
  state, error, undo_hint_json, report_json, job_id, turn, created_at, updated_at, executed_at, content_sha256, seal, rev, report_rev
FROM real_actions`)
	shown := d.waiting(t)[0]
	require.Equal(t, postroom.Parameters{"to": "boss@example.com"}, shown.Action.Parameters, "what the person reads")
	require.ErrorIs(t, shown.Fault, ErrAltered)
	shown, err := d.ledger.Waiting(t.Context(), id)
	require.NoError(t, err)
	require.ErrorIs(t, shown.Fault, ErrAltered)
}

// TestALogWhoseEndWasCutIsNotSealedAnew: whoever cuts it need not have kept the seal of before, since the ledger seals any end.
func TestALogWhoseEndWasCutIsNotSealedAnew(t *testing.T) {
	db := dbtest.SQLite(t)
	d := newDesk(t, db, keyed(1))
	id := d.forwarded()
	d.save()
	var cut int64
	require.NoError(t, dbquery.Get(t.Context(), db.Reader(), &cut, `SELECT entries FROM audit_lanes`))
	_, err := d.start(id, "job-1")
	require.NoError(t, err)
	require.NoError(t, d.complete(id, postroom.UndoHint{Irreversible: true}))
	d.restore(id)
	d.exec(`DELETE FROM audit_entries WHERE entry > $1`, cut)
	d.exec(`UPDATE audit_lanes SET entries = $1, mac = (SELECT mac FROM audit_entries WHERE entry = $1), seal = ''`, cut)
	for _, now := range []*desk{d, newDesk(t, db, keyed(1))} {
		now.record(message("b@example.com"), rule(postroom.Archive, ""))
		require.NotEmpty(t, now.faults(t), "the ledger has signed the end that somebody has made")
		require.ErrorIs(t, now.ledger.Remember(t.Context()), ErrLogCut)
		a, err := now.start(id, "job-2")
		require.True(t, err != nil || a.State != postroom.ActionExecuting)
	}
	require.NoError(t, d.accept("ann"))
	require.NoError(t, d.ledger.Remember(t.Context()))
	d.carriedOut(d.forwarded())
	require.Empty(t, d.faults(t))
}

// TestWhatWasSentIsNotAskedAboutAsIfItWasNot: who writes the name of a key that nobody has into an entry makes the log be left unread.
func TestWhatWasSentIsNotAskedAboutAsIfItWasNot(t *testing.T) {
	const unknownKey = `UPDATE audit_entries SET digest = '2.0badkey0:00' WHERE kind = 'action' AND subject_id = $1`
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		sent := d.forwarded()
		d.save()
		_, err := d.start(sent, "job-1")
		require.NoError(t, err)
		require.NoError(t, d.complete(sent, postroom.UndoHint{Irreversible: true}))
		d.restore(sent)
		d.exec(hide, sent)
		d.exec(unknownKey, sent)
		a, err := d.start(sent, "job-2")
		require.NoError(t, err)
		if a.State == postroom.ActionApprovedPending {
			require.Contains(t, d.waiting(t)[0].Approval.Reasons[0], "look at the message first", "it was sent, and the person is not told that it may have been")
		}

		rejected := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		d.save()
		_, err = d.reject(rejected, "ann", "no")
		require.NoError(t, err)
		d.restore(rejected)
		d.exec(hide, rejected)
		d.exec(unknownKey, rejected)
		require.Error(t, d.renew(rejected), "ann has said no, and somebody else is asked as if she had not")
	})
}
