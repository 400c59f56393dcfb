package safety

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// remembering configures a ledger that keeps what it has seen in a file.
func remembering(path string) func(*Config) {
	return func(c *Config) {
		keyed(1)(c)
		c.SeenFile = path
	}
}

// saveAll keeps the rows of the ledger and the ends of its log; cutBack puts back what belongs to some actions, and the log.
func (d *desk) saveAll() {
	d.save()
	d.exec(`DROP TABLE IF EXISTS old_lanes`)
	d.exec(`CREATE TABLE old_lanes AS SELECT lane, entries, mac, seal FROM audit_lanes`)
}

func (d *desk) cutBack(ids ...string) {
	d.restore(ids...)
	d.exec(`DELETE FROM audit_entries WHERE entry > (SELECT o.entries FROM old_lanes o WHERE o.lane = audit_entries.lane)`)
	d.exec(`UPDATE audit_lanes SET (entries, mac, seal) = (SELECT o.entries, o.mac, o.seal FROM old_lanes o WHERE o.lane = audit_lanes.lane)`)
}

// carriedOut starts an action, and completes it.
func (d *desk) carriedOut(id string) {
	a, err := d.start(id, "job-1")
	require.NoError(d.t, err)
	require.Equal(d.t, postroom.ActionExecuting, a.State)
	require.NoError(d.t, d.complete(id, postroom.UndoHint{Irreversible: true}))
}

func (d *desk) accept(by string) error {
	return d.write(func(ctx context.Context, tx queue.Tx) error { return d.ledger.AcceptLog(ctx, tx, by, "the disk broke") })
}

// requireCut checks that nothing starts from a log that was cut, and that nobody is asked or can answer.
func (d *desk) requireCut(sent, archived, waits string) {
	for _, id := range []string{sent, archived} {
		_, err := d.start(id, "job-2")
		require.ErrorIs(d.t, err, ErrLogCut)
		require.ErrorIs(d.t, err, postroom.ErrHeld, "it waits, and spends no attempt")
		require.Equal(d.t, postroom.ActionQueued, d.get(id).State)
	}
	require.ErrorIs(d.t, d.check(waits), ErrLogCut)
	_, err := d.approve(waits, "ann")
	require.ErrorIs(d.t, err, ErrLogCut)
	require.ErrorIs(d.t, d.renew(waits), ErrLogCut)
	require.ErrorIs(d.t, d.ledger.Remember(context.Background()), ErrLogCut)
	heads := 0
	for _, f := range d.faults(d.t.(*testing.T)) {
		if f.What == "the log does not reach to this end, which it had once" {
			heads++
		}
	}
	require.Positive(d.t, heads)
}

// TestNothingStartsFromALogThatWasCut: an approval that was used is not used again when the end of the log goes with what it says.
func TestNothingStartsFromALogThatWasCut(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		path := filepath.Join(t.TempDir(), "log.seen")
		d := newDesk(t, db, remembering(path))
		sent, archived := d.forwarded(), d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
		waits := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		d.saveAll()
		d.carriedOut(archived)
		_, err := d.reject(waits, "ann", "no")
		require.NoError(t, err)
		d.carriedOut(sent)
		d.cutBack(sent, archived, waits)
		d.requireCut(sent, archived, waits)
		d.restart()
		d.requireCut(sent, archived, waits)
		for range 20 { // the log grows beyond what it was
			d.record(message("a@example.com"), rule(postroom.Archive, ""))
		}
		d.requireCut(sent, archived, waits)
		d.restart()
		_, err = d.start(sent, "job-2")
		require.ErrorIs(t, err, ErrLogCut)
		unknowing := newDesk(t, db, keyed(1))
		_, err = unknowing.start(archived, "job-2")
		require.NoError(t, err, "it has seen nothing")
	})
}

// TestALogThatWasCutIsAccepted: what may have been carried out is asked again.
func TestALogThatWasCutIsAccepted(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		path := filepath.Join(t.TempDir(), "log.seen")
		d := newDesk(t, db, remembering(path))
		daemon := newDesk(t, db, remembering(path))
		sent, begun := d.forwarded(), d.forwarded()
		waits := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		_, err := d.start(begun, "job-1")
		require.NoError(t, err)
		d.saveAll()
		d.carriedOut(sent)
		require.NoError(t, d.complete(begun, postroom.UndoHint{Irreversible: true}))
		_, err = d.approve(waits, "ann")
		require.NoError(t, err)
		require.NoError(t, daemon.ledger.Remember(t.Context()))
		d.cutBack(sent, begun, waits)
		require.ErrorIs(t, daemon.ledger.Remember(t.Context()), ErrLogCut)
		require.ErrorContains(t, d.accept(" "), "blank")
		require.NoError(t, d.accept("ann"))
		for _, now := range []*desk{d, daemon} {
			require.NoError(t, now.ledger.Remember(t.Context()))
			require.ErrorContains(t, now.check(waits), "ask again, or reject it")
			require.ErrorIs(t, now.check(waits), ErrApprovalVoid)
		}
		daemon.restart()
		a, err := daemon.start(sent, "job-2")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionApprovedPending, a.State)
		a, err = daemon.start(begun, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionFailed, a.State)
		require.Equal(t, logWasCut, a.Error)
		require.NoError(t, d.renew(waits))
		for _, id := range []string{sent, waits} {
			require.NoError(t, d.check(id))
			_, err := d.approve(id, "ann")
			require.NoError(t, err)
			d.carriedOut(id)
		}
		events, err := d.ledger.Events(t.Context(), 1)
		require.NoError(t, err)
		require.Equal(t, EventLogAccepted, events[0].Kind)
		require.Equal(t, "ann", events[0].By)
		require.Empty(t, d.faults(t))
	})
}

// TestOnlyWhatIsCommittedIsRemembered, and of the host's own transactions once they were seen.
func TestOnlyWhatIsCommittedIsRemembered(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, remembering(filepath.Join(t.TempDir(), "log.seen")))
		id := d.forwarded()
		errNo := errors.New("no")
		require.ErrorIs(t, d.write(func(ctx context.Context, tx queue.Tx) error {
			_, err := d.ledger.Start(ctx, tx, id, "job-1")
			require.NoError(t, err)
			return errNo
		}), errNo)
		d.carriedOut(id)
		require.NoError(t, d.ledger.Remember(t.Context()))

		another := newDesk(t, db, keyed(1))
		sent := another.forwarded()
		d.saveAll()
		another.carriedOut(sent)
		require.NoError(t, d.ledger.Remember(t.Context()))
		d.cutBack(sent)
		_, err := d.start(sent, "job-2")
		require.ErrorIs(t, err, ErrLogCut, "another has done it")
	})
}

// TestWhatTheHostBeginsIsRememberedLater, and nothing is accepted in it.
func TestWhatTheHostBeginsIsRememberedLater(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		sent := d.forwarded()
		d.saveAll()
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			plain := struct{ queue.Tx }{tx}
			require.ErrorContains(t, d.ledger.AcceptLog(ctx, plain, "ann", ""), "use Queue.Write")
			_, err := d.ledger.Start(ctx, plain, sent, "job-1")
			return err
		}))
		require.NoError(t, d.ledger.Remember(t.Context()))
		d.cutBack(sent)
		_, err := d.start(sent, "job-2")
		require.ErrorIs(t, err, ErrLogCut)
	})
}

// TestOthersGoOn: a chain that others have added to is no chain that was cut.
func TestOthersGoOn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		one, two := newDesk(t, db, keyed(1)), newDesk(t, db, keyed(1))
		for range 5 {
			id := one.forwarded()
			two.forwarded()
			two.carriedOut(id)
			one.carriedOut(two.forwarded())
		}
		require.NoError(t, one.ledger.Remember(t.Context()))
		require.NoError(t, two.ledger.Remember(t.Context()))
	})
}

// TestARuleWhoseLastEntriesAreGoneDecidesNothing: a rule that was disabled does not come back with what the log said about it before.
func TestARuleWhoseLastEntriesAreGoneDecidesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, remembering(filepath.Join(t.TempDir(), "log.seen")))
		enabled := postroom.RuleState{Kind: postroom.RuleKindRule, ID: "rule 1", AccountID: "account-1", State: "enabled", Digest: "1"}
		disabled := enabled
		disabled.State = "disabled"
		log := func(s postroom.RuleState) {
			require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error { return d.ledger.LogRules(ctx, tx, s) }))
		}
		fault := func(s postroom.RuleState) (fault string) {
			require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) (err error) {
				fault, err = d.ledger.CheckRule(ctx, tx, s)
				return err
			}))
			return fault
		}
		log(enabled)
		require.Empty(t, fault(enabled))
		log(disabled)
		d.completed()
		d.exec(`DELETE FROM audit_entries WHERE kind = 'rule' AND rev = 2`)
		require.Equal(t, ruleCut, fault(enabled))
		d.restart()
		require.Equal(t, ruleCut, fault(enabled))
		require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error {
			faults, err := d.ledger.CheckRules(ctx, tx, enabled.Kind, []postroom.RuleState{enabled})
			require.Len(t, faults, 1)
			return err
		}))
		d.requireFault(t, "rule 1", "its last entry is gone")
		log(enabled)
		require.Empty(t, fault(enabled), "a person has confirmed it")
	})
}

// TestTheFileOfWhatWasSeen: it survives what happens to files.
func TestTheFileOfWhatWasSeen(t *testing.T) {
	head := func(entries int64) AuditHead { return AuditHead{Lane: 1, Entries: entries, MAC: "aa:bb"} }
	open := func(t *testing.T, path string) *seenLog {
		t.Helper()
		l := &seenLog{path: path}
		_, _, err := l.now()
		require.NoError(t, err)
		return l
	}
	path := func(t *testing.T) string { return filepath.Join(t.TempDir(), "log.seen") }
	ends := func(l *seenLog) []AuditHead {
		ends, _, err := l.now()
		require.NoError(t, err)
		return ends
	}
	t.Run("a process is killed while it writes", func(t *testing.T) {
		file := path(t)
		l := open(t, file)
		l.reach(head(5))
		require.NoError(t, l.keep())
		require.NoError(t, appendTo(file, "1:7:aa"))
		require.Equal(t, []AuditHead{head(5)}, ends(open(t, file)))
		l.reach(head(6), head(5))
		require.NoError(t, l.keep())
		require.Equal(t, []AuditHead{head(6)}, ends(open(t, file)))
	})
	t.Run("somebody removes it", func(t *testing.T) {
		file := path(t)
		l := open(t, file)
		l.reach(head(5))
		l.wrote(seenRule{"rule", "my \"rule\"\n"}, 3)
		require.NoError(t, l.keep())
		require.NoError(t, os.Remove(file))
		require.NoError(t, l.keep())
		again := open(t, file)
		require.Equal(t, []AuditHead{head(5)}, ends(again))
		rev, err := again.rev(seenRule{"rule", "my \"rule\"\n"})
		require.NoError(t, err)
		require.Equal(t, 3, rev)
	})
	t.Run("somebody truncates it", func(t *testing.T) {
		file := path(t)
		l := open(t, file)
		l.accept(acceptance{7, "once"})
		l.reach(head(5))
		require.NoError(t, l.keep())
		require.NoError(t, os.Truncate(file, 0))
		other := open(t, file)
		other.reach(AuditHead{Lane: 2, Entries: 9, MAC: "aa:cc"})
		require.NoError(t, other.keep(), "it has not seen what was accepted")
		require.NoError(t, l.keep())
		again := open(t, file)
		require.ElementsMatch(t, []AuditHead{head(5), {Lane: 2, Entries: 9, MAC: "aa:cc"}}, ends(again))
		_, accepted, err := again.now()
		require.NoError(t, err)
		require.Equal(t, acceptance{7, "once"}, accepted)
	})
	t.Run("another replaces it, which has seen less", func(t *testing.T) {
		file := path(t)
		l := open(t, file)
		l.reach(head(5))
		l.reach(AuditHead{Lane: 2, Entries: 3, MAC: "aa:cc"})
		require.NoError(t, l.keep())
		require.NoError(t, appendTo(file+".new", "1:4:aa:bb .\n2:8:aa:cc .\n"))
		require.NoError(t, os.Rename(file+".new", file))
		require.NoError(t, l.keep())
		require.ElementsMatch(t, []AuditHead{head(5), {Lane: 2, Entries: 8, MAC: "aa:cc"}}, ends(open(t, file)))
	})
	t.Run("it has grown", func(t *testing.T) {
		file := path(t)
		l := open(t, file)
		other := open(t, file)
		l.accept(acceptance{7, "once"})
		for i := range int64(40_000) {
			l.reach(head(i+1), head(i))
			if i%100 == 0 {
				require.NoError(t, l.keep())
			}
		}
		require.NoError(t, appendTo(file, strings.Repeat("1:3:aa:bb .\n", longSeen/12+1)))
		l.reach(head(50_000), head(40_000))
		require.NoError(t, l.keep())
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Less(t, info.Size(), int64(200))
		require.Equal(t, []AuditHead{head(50_000)}, ends(other), "who has read the old file reads the new one")
		_, accepted, err := open(t, file).now()
		require.NoError(t, err)
		require.Equal(t, acceptance{7, "once"}, accepted)
	})
	t.Run("it is no such file", func(t *testing.T) {
		for _, text := range []string{"rubbish .\n", "accepted x y .\n", "accepted 3 .\n", "rule x rule \"a\" .\n", "rule 3 rule a .\n", "no 7 .\n", "1:x:y .\n"} {
			file := path(t)
			require.NoError(t, appendTo(file, text))
			_, err := NewLedger(Config{SeenFile: file, DB: dbtest.SQLite(t), Execute: func(context.Context, queue.Tx, postroom.Action) error { return nil }})
			require.ErrorContains(t, err, "remove it if you stand by the log as it is", text)
		}
	})
}

func appendTo(path, text string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// TestWhatCannotBeKeptHolds what a person has approved, until it can be kept.
func TestWhatCannotBeKeptHolds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	require.NoError(t, os.Mkdir(dir, 0o700))
	d := newDesk(t, dbtest.SQLite(t), remembering(filepath.Join(dir, "log.seen")))
	id := d.forwarded()
	require.NoError(t, os.RemoveAll(dir))
	_, err := d.start(id, "job-1")
	require.ErrorIs(t, err, postroom.ErrHeld)
	require.ErrorContains(t, err, "log.seen")
	_, err = d.start(d.record(message("a@example.com"), rule(postroom.Archive, "")).ID, "job-1")
	require.NoError(t, err, "what can be taken back goes on")
	require.ErrorIs(t, d.ledger.Remember(t.Context()), postroom.ErrHeld)
	require.NoError(t, os.Mkdir(dir, 0o700))
	d.carriedOut(id)
	require.NoError(t, d.ledger.Remember(t.Context()))
}
