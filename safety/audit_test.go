package safety

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/audit"
	"github.com/postroom-go/postroom/safety/events"
	"github.com/postroom-go/postroom/safety/stop"
)

// everything is a ledger with an audit log, in which everything has happened.
func everything(t *testing.T, db queue.DB) (d *desk, done, waits string) {
	d = newDesk(t, db, remembering(t, db, filepath.Join(t.TempDir(), "checkpoint"), true))
	done, undone := d.completed().ID, d.completed().ID
	undo, err := d.startUndo(undone, "job-undo")
	require.NoError(t, err)
	require.NoError(t, d.complete(undo.ID, postroom.UndoHint{}))
	begun, err := d.startUndo(undo.ID, "job-redo")
	require.NoError(t, err)
	require.NoError(t, d.fail(begun.ID, "no network"))
	sent := d.sending()
	_, err = d.declare(sent, aSend)
	require.NoError(t, err)
	require.NoError(t, d.stop("ann", stop.Options{Why: "odd"}))
	require.NoError(t, d.resume("ann"))
	_, err = d.reject(d.record(message("a@example.com"), model(postroom.Delete, 1)).ID, "bob", "no")
	require.NoError(t, err)
	_, err = d.start(d.record(message("a@example.com"), rule(postroom.Archive, "")).ID, "job-1")
	require.NoError(t, err)
	waits = d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
	require.NoError(t, d.renew(waits))
	_, shown := d.toSend()
	_, err = d.edit(shown, "ann", otherHash)
	require.NoError(t, err)
	require.NoError(t, d.cancel(d.record(message("a@example.com"), rule(postroom.Archive, "")).ID, "changed their mind"))
	d.record(message("a@example.com"), rule(postroom.None, ""))
	return d, done, waits
}

func (d *desk) faults(t *testing.T, heads ...audit.Head) []audit.Fault {
	t.Helper()
	found, err := d.ledger.VerifyAudit(t.Context(), heads)
	require.NoError(t, err)
	return found.Faults
}

// TestTheAuditLogShowsTampering, and nothing that the ledger does itself.
func TestTheAuditLogShowsTampering(t *testing.T) {
	for name, tt := range map[string]struct{ kind, statement string }{
		"an action":              {auditAction, `UPDATE actions SET error = 'x' WHERE id = $1`},
		"its type":               {auditDecision, `UPDATE actions SET type = 'trash' WHERE id = $1`},
		"its decision":           {auditDecision, `UPDATE decisions SET subject = 'x' WHERE id = (SELECT decision_id FROM actions WHERE id = $1)`},
		"a row that is put back": {auditAction, `UPDATE actions SET state = 'queued', rev = 1 WHERE id = $1`},
		"an approval":            {auditApproval, `UPDATE approvals SET approver = 'mallory' WHERE approver = 'ann' AND action_id <> $1`},
		"an event":               {events.AuditKind, `UPDATE safety_events SET changed_by = 'mallory' WHERE id <> $1`},
		"an event that is gone":  {events.AuditKind, `DELETE FROM safety_events WHERE id <> $1`},
		"an entry":               {"entry", `UPDATE audit_entries SET note = 'x' WHERE number = 3 AND subject_id <> $1`},
		"an entry that is gone":  {"entry", `DELETE FROM audit_entries WHERE number = 4 AND subject_id <> $1`},
		"the end":                {"head", `DELETE FROM audit_entries WHERE number > (SELECT MAX(number) - 2 FROM audit_entries) AND hash <> $1`},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, db queue.DB) {
				d, done, _ := everything(t, db)
				require.NoError(t, d.ledger.Remember(t.Context()))
				require.Empty(t, d.faults(t))
				d.exec(tt.statement, done)
				faults := d.faults(t)
				require.True(t, slices.ContainsFunc(faults, func(f audit.Fault) bool { return f.Kind == tt.kind }), "%v", faults)
			})
		})
	}
}

// TestTheAuditLogOfManyAtOnce is one chain.
func TestTheAuditLogOfManyAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(c *Config) {
			remembering(t, db, filepath.Join(t.TempDir(), "checkpoint"), true)(c)
			c.Execute, c.Ask = func(context.Context, queue.Tx, postroom.Action) error { return nil }, nil
		})
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 10 {
					d.completed()
					_ = d.write(func(ctx context.Context, tx queue.Tx) error {
						_, err := d.ledger.Record(ctx, message("a@example.com"), rule(postroom.Archive, ""))(ctx, tx)
						return errors.Join(err, errors.New("rolled back"))
					})
				}
			})
		}
		all.Wait()
		report, err := d.ledger.VerifyAudit(t.Context(), nil)
		require.NoError(t, err)
		require.Empty(t, report.Faults)
		require.EqualValues(t, 2*40, report.Entries, "a decision, and its end")
	})
}

func TestALedgerWithoutAnAuditLog(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t), nil)
	_, err := d.ledger.VerifyAudit(t.Context(), nil)
	require.ErrorIs(t, err, ErrNoAudit)
}
