package safety

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// A story is a ledger in which everything has happened, by the ids of what it has happened to.
type story struct {
	*desk
	done, undone, undo, waits, approved, rejected, failed string
}

func tell(t *testing.T, db queue.DB) *story {
	s := &story{desk: newDesk(t, db, nil)}
	s.done, s.undone = s.completed().ID, s.completed().ID
	undo, err := s.desk.undo(s.undone, "job-undo")
	require.NoError(t, err)
	s.undo = undo.ID
	require.NoError(t, s.complete(s.undo, postroom.UndoHint{}))
	s.approved = s.forwarded()
	_, err = s.start(s.approved, "job-send")
	require.NoError(t, err)
	require.NoError(t, s.stop("ann", StopOptions{Why: "odd"}))
	require.NoError(t, s.resume("ann"))
	s.rejected = s.record(message("a@example.com"), model(postroom.Delete, 1)).ID
	_, err = s.reject(s.rejected, "bob", "no")
	require.NoError(t, err)
	s.failed = s.record(message("a@example.com"), rule(postroom.Archive, "")).ID
	require.NoError(t, s.fail(s.failed, "gone"))
	s.waits = s.record(message("a@example.com"), model(postroom.Delete, 1)).ID
	require.NoError(t, s.write(func(ctx context.Context, tx queue.Tx) error {
		return errors.Join(s.ledger.RecordSettings(ctx, tx, "test"), s.ledger.RecordSettings(ctx, tx, "test"), s.ledger.Renew(ctx, tx, s.waits))
	}))
	require.NoError(t, s.cancel(s.record(message("a@example.com"), rule(postroom.Archive, "")).ID, "changed their mind"))
	s.record(message("a@example.com"), rule(postroom.None, ""))
	s.record(message("a@example.com"), postroom.Decision{Action: postroom.None, Confidence: 0.3, Rationale: "no rule", Source: postroom.SourceNone})
	asked := model(postroom.None, 1)
	asked.NeedsApproval = true
	_, err = s.approve(s.record(message("a@example.com"), asked).ID, "ann")
	require.NoError(t, err)
	return s
}

var errUndo = errors.New("put it back")

// tamper verifies what the statements leave, and puts it back.
func (d *desk) tamper(t *testing.T, heads []AuditHead, statements ...string) Audit {
	t.Helper()
	v := verifier{l: d.ledger, known: slices.Clone(heads), latest: map[[2]string]version{}}
	err := d.write(func(ctx context.Context, tx queue.Tx) error {
		for _, s := range statements {
			_, err := tx.ExecContext(ctx, s)
			require.NoError(t, err, s)
		}
		v.tx = tx
		require.NoError(t, d.ledger.keys.load(ctx, tx))
		require.NoError(t, v.run(ctx))
		return errUndo
	})
	require.ErrorIs(t, err, errUndo)
	return v.audit
}

// TestTheLogShowsTampering: whatever is altered, removed, added or put back.
func TestTheLogShowsTampering(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		s := tell(t, db)
		clean, err := s.ledger.VerifyAudit(t.Context(), nil)
		require.NoError(t, err)
		require.Empty(t, clean.Faults)
		require.Zero(t, clean.Before+clean.OtherKey)
		require.Positive(t, clean.Rows)
		events, err := s.ledger.Events(t.Context(), 100)
		require.NoError(t, err)
		require.Len(t, events, 3, "the same settings are recorded once")

		action := func(id, set string) []string {
			return []string{"UPDATE actions SET " + set + " WHERE id = '" + id + "'"}
		}
		last := `(lane, entry) IN (SELECT lane, entries FROM audit_lanes)`
		const cut = `UPDATE audit_lanes SET entries = entries - 1 WHERE entries > 0`
		const join = `UPDATE audit_lanes SET mac = (SELECT mac FROM audit_entries e WHERE e.lane = audit_lanes.lane AND e.entry = entries) WHERE entries > 0`
		for name, tc := range map[string]struct {
			kind  string
			alter []string
		}{
			"the state of an action":      {auditAction, action(s.rejected, "state = 'canceled'")},
			"the error of an action":      {auditAction, action(s.failed, "error = 'a fault of Gmail'")},
			"the hint of an action":       {auditAction, action(s.done, `undo_hint_json = '{"inverse_action":"none"}'`)},
			"the job of an action":        {auditAction, action(s.done, "job_id = 'another'")},
			"the bytes that were sent":    {auditAction, action(s.approved, "content_sha256 = NULL")},
			"the message of an action":    {auditAction, action(s.done, "message_id = 'another'")},
			"the time of an action":       {auditAction, action(s.done, "executed_at = created_at, created_at = '2001-01-01T00:00:00.000000Z'")},
			"the revision of an action":   {auditAction, action(s.done, "rev = rev + 1")},
			"the reason of a decision":    {auditDecision, []string{"UPDATE decisions SET rationale = 'the boss asked for it'"}},
			"the check of a decision":     {auditDecision, []string{"UPDATE decisions SET needs_approval = 0"}},
			"the subject of a decision":   {auditDecision, []string{"UPDATE decisions SET subject = 'Lottery'"}},
			"who approved":                {auditApproval, []string{"UPDATE approvals SET approver = 'mallory' WHERE approver = 'ann'"}},
			"why it was rejected":         {auditApproval, []string{"UPDATE approvals SET why = '' WHERE approver = 'bob'"}},
			"an answer taken back":        {auditApproval, []string{"UPDATE approvals SET outcome = 'withdrawn' WHERE approver = 'bob'"}},
			"an approval that is gone":    {auditApproval, []string{"DELETE FROM approvals WHERE approver = 'ann'"}},
			"an action that is gone":      {auditAction, []string{"DELETE FROM actions WHERE id = '" + s.failed + "'"}},
			"a decision that is gone":     {auditDecision, []string{"DELETE FROM actions WHERE id = '" + s.failed + "'", "DELETE FROM decisions WHERE NOT EXISTS (SELECT 1 FROM actions WHERE decision_id = decisions.id)"}},
			"who stopped":                 {auditEvent, []string{"UPDATE safety_events SET changed_by = 'mallory' WHERE kind = 'stopped'"}},
			"the settings":                {auditEvent, []string{"UPDATE safety_events SET why = '{}' WHERE kind = 'settings'"}},
			"a stop that is gone":         {auditEvent, []string{"DELETE FROM safety_events WHERE kind = 'stopped'"}},
			"a switch that is turned":     {"switch", []string{"UPDATE safety_switch SET stopped = 1"}},
			"a row that is added":         {auditDecision, []string{"INSERT INTO decisions SELECT 'ffff', account_id, message_id, 'again', source, action_type, parameters_json, confidence, needs_approval, rationale, rule_id, rule_name, safe_mode, model, explanations_json, telemetry_json, sender, subject, created_at, rule_version, provider_message_id FROM decisions LIMIT 1"}},
			"an entry that is altered":    {"entry", []string{"UPDATE audit_entries SET note = 'completed' WHERE note = 'failed'"}},
			"an entry and its row":        {"entry", append(action(s.failed, "state = 'canceled'"), "UPDATE audit_entries SET note = 'canceled' WHERE note = 'failed'")},
			"an entry that is gone":       {"entry", []string{"DELETE FROM audit_entries WHERE note = 'failed'"}},
			"entries in another order":    {"entry", []string{"UPDATE audit_entries SET entry = -1 WHERE entry = 3", "UPDATE audit_entries SET entry = 3 WHERE entry = 4", "UPDATE audit_entries SET entry = 4 WHERE entry = -1"}},
			"the last entry":              {"head", []string{"DELETE FROM audit_entries WHERE " + last}},
			"the last, and the number":    {"head", []string{"DELETE FROM audit_entries WHERE " + last, cut}},
			"the last, and the whole end": {"head", []string{"DELETE FROM audit_entries WHERE " + last, cut, join}},
			"all entries":                 {auditAction, []string{"DELETE FROM audit_entries"}},
			"all, and the ends":           {auditAction, []string{"DELETE FROM audit_entries", "UPDATE audit_lanes SET entries = 0, mac = '', seal = ''"}},
			"the ends":                    {"head", []string{"DELETE FROM audit_lanes"}},
		} {
			found := s.tamper(t, nil, tc.alter...)
			kinds := map[string]bool{}
			for _, f := range found.Faults {
				kinds[f.Kind] = true
				require.NotEmpty(t, f.Subject)
			}
			require.True(t, kinds[tc.kind], "%s: %v", name, found.Faults)
		}
		require.Empty(t, s.tamper(t, nil).Faults, "all was put back")
	})
}

// TestAnOldRowPutBackWhole: with its seal, and even with the log as it was then, if somebody has kept a later end.
func TestAnOldRowPutBackWhole(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		d.completed()
		id := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
		for _, table := range []string{"actions", "audit_entries", "audit_lanes"} {
			d.keep(table)
		}
		_, err := d.start(id, "job-1")
		require.NoError(t, err)
		require.NoError(t, d.complete(id, postroom.UndoHint{}))
		now, err := d.ledger.VerifyAudit(t.Context(), nil)
		require.NoError(t, err)
		require.Empty(t, now.Faults)

		row := []string{"DELETE FROM actions WHERE id = '" + id + "'", kept("actions") + " WHERE id = '" + id + "'"}
		require.Equal(t, []AuditFault{{auditAction, id, "it is at revision 1, and the log at 3: the row was put back, or altered"}}, d.tamper(t, nil, row...).Faults)

		all := append(slices.Clone(row), "DELETE FROM audit_entries", "DELETE FROM audit_lanes",
			kept("audit_entries"), kept("audit_lanes"))
		require.Empty(t, d.tamper(t, nil, all...).Faults, "the whole database as it was once")
		faults := d.tamper(t, now.Heads, all...).Faults
		require.Len(t, faults, 1)
		require.Equal(t, AuditFault{"head", now.Heads[0].String(), "the log does not reach to this end, which it had once"}, faults[0])
		require.Empty(t, d.tamper(t, now.Heads).Faults)
		head, err := ParseAuditHead(now.Heads[0].String())
		require.NoError(t, err)
		require.Equal(t, now.Heads[0], head)
		for _, bad := range []string{"", "1", "1:2", "x:2:y", "1:0:y", "1:2:"} {
			_, err := ParseAuditHead(bad)
			require.Error(t, err, bad)
		}
	})
}

// TestTheLogOfManyAtOnce: transactions that change several actions, in any order, do not wait for the log, and it is whole.
func TestTheLogOfManyAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		quiet := func(c *Config) { c.Execute = func(context.Context, queue.Tx, postroom.Action) error { return nil } }
		desks := []*desk{newDesk(t, db, quiet), newDesk(t, db, quiet)}
		const writers, each = 8, 5
		errs := make([]error, writers)
		var wg sync.WaitGroup
		for w := range writers {
			d := desks[w%2]
			wg.Go(func() {
				for i := range each {
					var a, b postroom.Action
					errs[w] = errors.Join(errs[w], d.write(func(ctx context.Context, tx queue.Tx) (err error) {
						if a, err = d.ledger.Record(ctx, tx, message("a@example.com"), rule(postroom.Archive, "")); err == nil {
							b, err = d.ledger.Record(ctx, tx, message("a@example.com"), rule(postroom.Star, ""))
						}
						return err
					}), d.write(func(ctx context.Context, tx queue.Tx) error {
						_, err := d.ledger.Start(ctx, tx, b.ID, fmt.Sprint("job-", w, i))
						return errors.Join(err, d.ledger.Cancel(ctx, tx, a.ID, "no"), d.ledger.Complete(ctx, tx, b.ID, postroom.UndoHint{}))
					}))
				}
			})
		}
		wg.Wait()
		require.NoError(t, errors.Join(errs...))
		found, err := desks[0].ledger.VerifyAudit(t.Context(), nil)
		require.NoError(t, err)
		require.Empty(t, found.Faults)
		require.EqualValues(t, writers*each*7, found.Entries)
		require.EqualValues(t, writers*each*4, found.Rows)

		var exported int64
		heads, err := desks[0].ledger.EachAuditEntry(t.Context(), func(AuditEntry) error { exported++; return nil })
		require.NoError(t, err)
		require.Equal(t, found.Entries, exported)
		require.Equal(t, found.Heads, heads)
		_, err = desks[0].ledger.EachAuditEntry(t.Context(), func(AuditEntry) error { return errUndo })
		require.ErrorIs(t, err, errUndo)
	})
}

// TestParallelChains: a transaction takes a chain that no other holds; a chain that loses all its entries is missed by the others.
func TestParallelChains(t *testing.T) {
	d := newDesk(t, dbtest.Postgres(t), nil)
	d.record(message("a@example.com"), rule(postroom.Archive, ""))
	holding, held := make(chan struct{}), make(chan struct{})
	done := make(chan error, 1)
	go func() {
		done <- d.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := d.ledger.Record(ctx, tx, message("a@example.com"), rule(postroom.Archive, ""))
			close(holding)
			<-held
			return err
		})
	}()
	<-holding
	for range 2 {
		d.record(message("a@example.com"), rule(postroom.Archive, ""))
	}
	close(held)
	require.NoError(t, <-done)
	found, err := d.ledger.VerifyAudit(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, found.Faults)
	require.Len(t, found.Heads, 2)
	d.record(message("a@example.com"), rule(postroom.Archive, ""))
	faults := d.tamper(t, nil, `DELETE FROM actions WHERE id IN (SELECT subject_id FROM audit_entries WHERE lane = 2)`,
		`DELETE FROM decisions WHERE id IN (SELECT subject_id FROM audit_entries WHERE lane = 2)`,
		`DELETE FROM audit_entries WHERE lane = 2`, `UPDATE audit_lanes SET entries = 0, mac = '', seal = '' WHERE lane = 2`).Faults
	require.Equal(t, []AuditFault{{"head", "all", "there were 10 entries, and there are 6: the end of a chain was removed"}}, faults)
}

// TestTheLogBeganLater: rows from before it are counted, and nothing stands for them.
func TestTheLogBeganLater(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		id := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
		d.exec(`DELETE FROM audit_entries`)
		d.exec(`UPDATE audit_lanes SET entries = 0, mac = '', seal = ''`)
		d.exec(`UPDATE actions SET rev = 0`)
		d.restart()
		found, err := d.ledger.VerifyAudit(t.Context(), nil)
		require.NoError(t, err)
		require.Equal(t, Audit{Before: 2}, found)
		d.now = d.now.Add(1e9)
		d.record(message("a@example.com"), rule(postroom.Archive, ""))
		found, err = d.ledger.VerifyAudit(t.Context(), nil)
		require.NoError(t, err)
		require.Empty(t, found.Faults)
		require.EqualValues(t, 2, found.Before)
		another := newDesk(t, db, func(c *Config) { c.Key = make([]byte, 32) })
		found, err = another.ledger.VerifyAudit(t.Context(), nil)
		require.NoError(t, err)
		require.Empty(t, found.Faults)
		require.Positive(t, found.OtherKey)

		require.NoError(t, d.cancel(id, "no"))
		d.requireFault(t, id, "nobody knows what it was: whoever removes its entries can make a row look so")
	})
}

// TestWhatWasAlteredIsNotUndone: the hint of an undo is what was recorded when the action was completed.
func TestWhatWasAlteredIsNotUndone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		other := d.completed()
		for _, alter := range []string{
			`UPDATE actions SET undo_hint_json = '{"inverse_action":"trash","before":{"label_ids":["TRASH"]},"after":{"label_ids":[]}}' WHERE id = $1`,
			`UPDATE actions SET message_id = 'another' WHERE id = $1`, `UPDATE actions SET account_id = 'another' WHERE id = $1`,
			`UPDATE actions SET type = 'trash' WHERE id = $1`, `UPDATE actions SET seal = '' WHERE id = $1`, `UPDATE actions SET seal = NULL WHERE id = $1`,
			`UPDATE actions SET seal = (SELECT seal FROM actions WHERE id = '` + other.ID + `') WHERE id = $1`,
		} {
			a := d.completed()
			d.exec(alter, a.ID)
			_, err := d.undo(a.ID, "job-1")
			require.ErrorIs(t, err, ErrAltered, alter)
		}
		undo, err := d.undo(other.ID, "job-1")
		require.NoError(t, err)
		require.NoError(t, d.complete(undo.ID, postroom.UndoHint{}))
		d.exec(`UPDATE actions SET undo_hint_json = '{}' WHERE id = $1`, undo.ID)
		_, err = d.undo(undo.ID, "job-2")
		require.ErrorIs(t, err, ErrAltered, "an undo is an action")
		forged := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
		d.exec(`UPDATE actions SET state = 'completed', undo_hint_json = '{}' WHERE id = $1`, forged)
		_, err = d.undo(forged, "job-3")
		require.ErrorIs(t, err, ErrAltered, "it was never carried out")
	})
}

// TestTheLogHasBreakersReportsAndSettings: what is altered of them shows.
func TestTheLogHasBreakersReportsAndSettings(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(c *Config) { c.Policy.Breaker = Breaker{Failures: 1} })
		undo, err := d.undo(d.completed().ID, "job-undo")
		require.NoError(t, err)
		require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error {
			return errors.Join(d.ledger.SetReport(ctx, tx, undo.ID, []byte(`{"a":1}`)), d.ledger.SetReport(ctx, tx, undo.ID, []byte(`{"a":2}`)),
				d.ledger.RecordSettings(ctx, tx, "test"))
		}))
		require.NoError(t, d.complete(undo.ID, postroom.UndoHint{}))
		require.NoError(t, d.fail(d.record(message("a@example.com"), rule(postroom.Archive, "")).ID, "gone"))
		closed, err := d.closeBreakers("ann")
		require.NoError(t, err)
		require.Equal(t, 1, closed)
		other := message("a@example.com")
		other.AccountID = "account-2"
		require.NoError(t, d.fail(d.record(other, rule(postroom.Archive, "")).ID, "gone"))
		clean, err := d.ledger.VerifyAudit(t.Context(), nil)
		require.NoError(t, err)
		require.Empty(t, clean.Faults)
		require.Zero(t, clean.Before)
		for want, statement := range map[string]string{
			"breaker account-2 deterministic: the row was altered":                                            "UPDATE safety_breakers SET open_until = opened_at WHERE account_id = 'account-2'",
			"breaker account-2 deterministic: the log has the row, and it is gone":                            "DELETE FROM safety_breakers WHERE account_id = 'account-2'",
			"breaker account-1 deterministic: the row was altered":                                            "UPDATE safety_breakers SET why = 'nothing' WHERE account_id = 'account-1'",
			"report " + undo.ID + ": the row was altered":                                                     `UPDATE actions SET report_json = '{"a":1}' WHERE report_rev > 0`,
			"report " + undo.ID + ": the log has the row, and it is gone":                                     "UPDATE actions SET report_json = NULL WHERE report_rev > 0",
			"report " + undo.ID + ": it is at revision 0, and the log at 2: the row was put back, or altered": "UPDATE actions SET report_rev = 0 WHERE report_rev > 0",
			": the row was altered": "UPDATE safety_events SET why = '{}' WHERE kind = 'settings'",
		} {
			faults := d.tamper(t, nil, statement).Faults
			require.Len(t, faults, 1, statement)
			require.Contains(t, fmt.Sprintf("%s %s: %s", faults[0].Kind, faults[0].Subject, faults[0].What), want)
		}
	})
}
