package safety

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/audit"
	"github.com/postroom-go/postroom/safety/checkpoint"
	"github.com/postroom-go/postroom/safety/stop"
)

// remembering is a configuration with a checkpoint and, if logged, an audit log.
func remembering(t *testing.T, db queue.DB, path string, logged bool) func(*Config) {
	return func(c *Config) {
		c.Checkpoint = checkpoint.File(path)
		if logged {
			require.NoError(t, audit.Migrate(t.Context(), db))
			log, err := audit.New(db)
			require.NoError(t, err)
			c.Audit = log
		}
	}
}

var ledgerTables = []string{"audit_entries", "approvals", "action_links", "actions", "decisions", "safety_events",
	"message_locks", "safety_switch"}

// backup keeps the rows of the ledger as they are now; restoreBackup puts them back, as a restored database does.
func (d *desk) backup(tables []string) {
	for _, table := range tables {
		d.exec(`CREATE TABLE old_` + table + ` AS SELECT * FROM ` + table) //nolint:unqueryvet // whatever columns there are
	}
}

func (d *desk) restoreBackup(tables []string) {
	require.NoError(d.t, d.write(func(ctx context.Context, tx queue.Tx) error {
		for _, table := range tables {
			if _, err := tx.ExecContext(ctx, `DELETE FROM `+table); err != nil {
				return err
			}
		}
		for i := range tables {
			table := tables[len(tables)-1-i]
			if _, err := tx.ExecContext(ctx, `INSERT INTO `+table+` SELECT * FROM old_`+table); err != nil { //nolint:unqueryvet // as backup
				return err
			}
		}
		return nil
	}))
}

func (d *desk) accept(by string) error {
	return d.write(func(ctx context.Context, tx queue.Tx) error {
		return d.ledger.AcceptRestore(ctx, tx, by, "the disk broke")
	})
}

// TestARestoredBackupRepeatsNothing, whether or not there is an audit log.
func TestARestoredBackupRepeatsNothing(t *testing.T) {
	for name, logged := range map[string]bool{"with an audit log": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, db queue.DB) {
				path := filepath.Join(t.TempDir(), "checkpoint")
				d := newDesk(t, db, remembering(t, db, path, logged))
				tables := ledgerTables
				if !logged {
					tables = tables[1:]
				}
				sent, passed, begun := d.forwarded(), d.record(message("a@example.com"), rule(postroom.Archive, "")).ID,
					d.sending().ID
				waits, done := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID, d.completed().ID
				d.backup(tables)
				_, err := d.start(sent, "job-1")
				require.NoError(t, err)
				require.NoError(t, d.complete(sent, postroom.UndoHint{Irreversible: true}))
				_, err = d.approve(waits, "ann")
				require.NoError(t, err)

				d.restart()
				require.NoError(t, d.ledger.Remember(t.Context()), "nothing was put back")
				d.restoreBackup(tables)
				d.restart()
				require.ErrorIs(t, d.ledger.Remember(t.Context()), checkpoint.ErrRestored)
				for _, id := range []string{sent, passed, begun} {
					_, err := d.start(id, "job-1")
					require.ErrorIs(t, err, checkpoint.ErrRestored)
					require.ErrorIs(t, err, postroom.ErrHeld)
				}
				_, err = d.startUndo(done, "job-2")
				require.ErrorIs(t, err, checkpoint.ErrRestored)
				_, err = d.approve(waits, "ann")
				require.ErrorIs(t, err, checkpoint.ErrRestored)
				_, err = d.reject(waits, "ann", "")
				require.ErrorIs(t, err, checkpoint.ErrRestored)
				require.ErrorIs(t, d.check(waits), checkpoint.ErrRestored)
				require.ErrorIs(t, d.waiting(t)[0].Fault, checkpoint.ErrRestored)
				require.ErrorIs(t, d.ledger.Held(t.Context()), postroom.ErrHeld)

				other := newDesk(t, db, remembering(t, db, path, logged))
				require.ErrorIs(t, other.ledger.Remember(t.Context()), checkpoint.ErrRestored)
				require.ErrorContains(t, d.accept(" "), "is blank")
				require.NoError(t, d.accept("ann"))
				require.NoError(t, other.ledger.Remember(t.Context()), "another process with the same file goes on")
				require.NoError(t, d.ledger.Remember(t.Context()))

				a, err := d.start(passed, "job-1")
				require.NoError(t, err)
				require.Equal(t, postroom.ActionExecuting, a.State, "it can be undone, and nobody was asked")
				a, err = d.start(begun, "job-1")
				require.NoError(t, err)
				require.Equal(t, postroom.ActionFailed, a.State)
				a, err = d.start(sent, "job-1")
				require.NoError(t, err)
				require.Equal(t, postroom.ActionPendingApproval, a.State)
				w, err := d.ledger.Waiting(t.Context(), sent)
				require.NoError(t, err)
				require.Contains(t, w.Approval.Reasons[0], "does not tell whether it was carried out")
				require.ErrorIs(t, d.check(waits), ErrApprovalVoid)
				_, err = d.approve(waits, "ann")
				require.ErrorIs(t, err, ErrApprovalVoid)

				d.now = d.now.Add(1000)
				require.NoError(t, d.renew(waits))
				_, err = d.approve(waits, "ann")
				require.NoError(t, err)
				_, err = d.startUndo(done, "job-2")
				require.NoError(t, err)
				d.restart()
				require.NoError(t, d.ledger.Remember(t.Context()))
			})
		})
	}
}

// TestAnIrreversibleActionDoesNotStartTwice, though its row was put back and no person had to approve it.
func TestAnIrreversibleActionDoesNotStartTwice(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		path := filepath.Join(t.TempDir(), "checkpoint")
		d := newDesk(t, db, func(c *Config) {
			remembering(t, db, path, false)(c)
			c.Rules = shelf{"rule-1": storedRule(postroom.Delete, postroom.SafeDangerousOverride, nil)}
		})
		deletes := rule(postroom.Delete, postroom.SafeDangerousOverride)
		deletes.RuleVersion = "v1"
		id := d.record(message("a@example.com"), deletes).ID
		_, err := d.start(id, "job-1")
		require.NoError(t, err)
		require.NoError(t, d.complete(id, postroom.UndoHint{Irreversible: true}))
		d.exec(`UPDATE actions SET state = 'queued' WHERE id = $1`, id)
		d.restart()
		a, err := d.start(id, "job-2")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionFailed, a.State)
		require.Contains(t, a.Error, "it was carried out before")
	})
}

// TestACheckpointThatCannotBeUsedHolds what cannot be undone.
func TestACheckpointThatCannotBeUsedHolds(t *testing.T) {
	db := dbtest.SQLite(t)
	path := filepath.Join(t.TempDir(), "checkpoint")
	d := newDesk(t, db, remembering(t, db, path, false))
	one, two, archive := d.forwarded(), d.forwarded(), d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
	require.NoError(t, d.ledger.Remember(t.Context()))
	require.NoError(t, os.Rename(path, path+".moved"))
	require.NoError(t, os.Mkdir(path, 0o700))
	_, err := NewLedger(*d.ledger.cfg)
	require.ErrorContains(t, err, "Config.Checkpoint")
	d.record(message("a@example.com"), rule(postroom.Archive, ""))
	require.ErrorIs(t, d.ledger.Remember(t.Context()), postroom.ErrHeld)
	_, err = d.start(one, "job-1")
	require.ErrorIs(t, err, postroom.ErrHeld)
	a, err := d.start(archive, "job-2")
	require.NoError(t, err)
	require.Equal(t, postroom.ActionExecuting, a.State)

	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Rename(path+".moved", path))
	require.NoError(t, d.ledger.Remember(t.Context()))
	a, err = d.start(two, "job-3")
	require.NoError(t, err)
	require.Equal(t, postroom.ActionExecuting, a.State)
}

// TestARestoredStopIsNoticed: a stop changes no action, and a backup from before it would let all go on.
func TestARestoredStopIsNoticed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, remembering(t, db, filepath.Join(t.TempDir(), "checkpoint"), true))
		sent := d.forwarded()
		d.backup(ledgerTables)
		require.NoError(t, d.stop("ann", stop.Options{Why: "something is wrong"}))
		require.NoError(t, d.ledger.Remember(t.Context()))
		d.restoreBackup(ledgerTables)
		d.restart()
		require.ErrorIs(t, d.ledger.Remember(t.Context()), checkpoint.ErrRestored)
		_, err := d.start(sent, "job-1")
		require.ErrorIs(t, err, checkpoint.ErrRestored)
		require.NoError(t, d.accept("ann"))
		require.NoError(t, d.ledger.Remember(t.Context()))
	})
}
