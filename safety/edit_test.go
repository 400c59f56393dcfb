package safety

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/checkpoint"
)

// toSend is a forward that a person is asked about, with its content, and the request about it.
func (d *desk) toSend() (id string, shown Approval) {
	id = d.record(message("a@example.com"), model(postroom.Forward, 1, "to", "boss@example.com")).ID
	require.NoError(d.t, d.setContent(id, oneHash))
	w, err := d.ledger.Waiting(context.Background(), id)
	require.NoError(d.t, err)
	return id, w.Approval
}

func (d *desk) edit(shown Approval, by, sha256 string) (next Approval, err error) {
	err = d.write(func(ctx context.Context, tx queue.Tx) error {
		next, err = NewEditor(d.ledger).Edit(ctx, tx, shown, by, sha256)
		return err
	})
	return next, err
}

// What is approved after an edit is what was edited; the request before it is answered by nobody.
func TestAnEditMakesAnotherRequest(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		var heard []Approval
		d := newDesk(t, db, func(c *Config) {
			remembering(t, db, filepath.Join(t.TempDir(), "checkpoint"), true)(c)
			c.OnAnswer = func(_ context.Context, _ queue.Tx, r Approval) error {
				heard = append(heard, r)
				return nil
			}
		})
		id, shown := d.toSend()
		require.Equal(t, oneHash, shown.ContentSHA256)
		d.now = d.now.Add(time.Hour)
		next, err := d.edit(shown, "ann", otherHash)
		require.NoError(t, err)
		require.Equal(t, []string{id, id}, d.asked)
		require.Empty(t, d.executed, "nothing is approved yet")

		w, err := d.ledger.Waiting(t.Context(), id)
		require.NoError(t, err)
		require.NoError(t, w.Fault)
		require.Equal(t, next, w.Approval)
		require.Equal(t, otherHash, w.Action.ContentSHA256)
		require.Equal(t, otherHash, next.ContentSHA256)
		require.Equal(t, shown.Reasons, next.Reasons)
		require.Equal(t, postroom.Parameters{"to": "boss@example.com"}, w.Action.Parameters)

		old, err := d.ledger.Request(t.Context(), shown.ID)
		require.NoError(t, err)
		require.NoError(t, old.Fault, "it is as it was asked")
		require.Equal(t, []any{OutcomeWithdrawn, "ann", "edited", oneHash, next.ID}, []any{old.Approval.Outcome,
			old.Approval.Approver, old.Approval.Why, old.Approval.ContentSHA256, old.Approval.ReplacedBy})
		require.Equal(t, []Approval{old.Approval}, heard)
		for _, outcome := range []Outcome{OutcomeApproved, OutcomeRejected} {
			err := d.answerShown(shown, outcome)
			require.ErrorIs(t, err, ErrEdited)
			require.ErrorIs(t, err, ErrApprovalVoid)
			require.ErrorContains(t, err, "was edited since, look again")
		}
		_, err = d.edit(shown, "bob", strings.Repeat("3c", 32))
		require.ErrorIs(t, err, ErrEdited, "somebody else was first")

		require.NoError(t, d.answerShown(next, OutcomeApproved))
		for _, id := range []string{shown.ID, next.ID} {
			asked, err := d.ledger.Request(t.Context(), id)
			require.NoError(t, err)
			require.NoError(t, asked.Fault)
		}
		require.ErrorIs(t, d.answerShown(shown, OutcomeApproved), ErrState, "another has answered")
		a, err := d.start(id, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionExecuting, a.State, a.Error)
		require.Equal(t, otherHash, a.ContentSHA256)

		require.Empty(t, d.faults(t))
		var note string
		require.NoError(t, dbquery.Get(t.Context(), db.Reader(), &note,
			"SELECT note FROM audit_entries WHERE subject_id = $1 ORDER BY number DESC LIMIT 1", shown.ID))
		require.Equal(t, "edited by ann: it was about SHA-256 "+oneHash+"; request "+next.ID+" replaces it", note)
		d.exec("UPDATE approvals SET content_sha256 = $1 WHERE id = $2", otherHash, shown.ID)
		require.Len(t, d.faults(t), 1)
		old, err = d.ledger.Request(t.Context(), shown.ID)
		require.NoError(t, err)
		require.ErrorIs(t, old.Fault, ErrAltered)
	})
}

// An earlier approval of an action that waits again names what it was given for, whatever is edited since.
func TestAnEditAfterAnApproval(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		id, shown := d.toSend()
		require.NoError(t, d.answerShown(shown, OutcomeApproved))
		require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error {
			_, err := d.ledger.Hold(ctx, tx, id, "look again")
			return err
		}))
		w, err := d.ledger.Waiting(t.Context(), id)
		require.NoError(t, err)
		_, err = d.edit(w.Approval, "ann", otherHash)
		require.NoError(t, err)
		given, err := d.ledger.Request(t.Context(), shown.ID)
		require.NoError(t, err)
		require.NoError(t, given.Fault)
		require.Equal(t, oneHash, given.Approval.ContentSHA256)
		require.ErrorIs(t, d.answerShown(w.Approval, OutcomeApproved), ErrEdited)

		d.exec("UPDATE actions SET content_sha256 = $1 WHERE id = $2", oneHash, id)
		_, err = d.approve(id, "ann")
		require.ErrorIs(t, err, ErrApprovalVoid, "what was before the edit is not approved")
	})
}

// What cannot be edited says why, and nothing is written.
func TestWhatIsNotEdited(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(c *Config) { c.Approvers = []string{"ann"} })
		for name, c := range map[string]struct {
			change func(id string, shown *Approval)
			by     string
			hash   string
			is     error
			says   string
		}{
			"by a stranger":   {by: "mallory", is: ErrNotApprover},
			"no hash":         {hash: "abc", says: "is not a SHA-256"},
			"the same":        {hash: oneHash, says: "already"},
			"another request": {change: func(_ string, r *Approval) { r.ID = "none" }, is: postroom.ErrNotFound},
			"another action":  {change: func(_ string, r *Approval) { r.ActionID = "none" }, is: postroom.ErrNotFound},
			"shown otherwise": {change: func(_ string, r *Approval) { r.Digest = "x" }, is: ErrApprovalVoid},
			"answered": {change: func(_ string, r *Approval) { require.NoError(t, d.answerShown(*r, OutcomeApproved)) },
				is: ErrState, says: "ann has approved it"},
			"renewed": {change: func(id string, _ *Approval) { require.NoError(t, d.renew(id)) }, is: ErrApprovalVoid,
				says: "another one waits"},
			"expired": {change: func(string, *Approval) { d.now = d.now.Add(8 * 24 * time.Hour) }, is: ErrApprovalExpired},
			"altered": {change: func(id string, _ *Approval) {
				d.exec(`UPDATE actions SET parameters_json = '{"to":"mallory@example.com"}' WHERE id = $1`, id)
			}, is: ErrAltered},
			"other content": {change: func(id string, _ *Approval) {
				d.exec(`UPDATE actions SET content_sha256 = $1 WHERE id = $2`, strings.Repeat("4d", 32), id)
			}, is: ErrAltered},
		} {
			id, shown := d.toSend()
			by, hash, before := "ann", otherHash, d.now
			if c.by != "" {
				by = c.by
			}
			if c.hash != "" {
				hash = c.hash
			}
			if c.change != nil {
				c.change(id, &shown)
			}
			was := d.get(id)
			_, err := d.edit(shown, by, hash)
			require.Error(t, err, name)
			if c.hash == "" && c.change != nil && d.now.Equal(before) {
				_, early := NewEditor(d.ledger).Action(t.Context(), shown, by)
				require.EqualError(t, early, err.Error(), name)
			}
			if c.is != nil {
				require.ErrorIs(t, err, c.is, name)
				require.NotErrorIs(t, err, ErrEdited, name)
			}
			require.ErrorContains(t, err, c.says, name)
			require.Equal(t, was, d.get(id), name)
			d.now = before
		}
		unseen := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		w, err := d.ledger.Waiting(t.Context(), unseen)
		require.NoError(t, err)
		_, err = d.edit(w.Approval, "ann", otherHash)
		require.ErrorContains(t, err, "what it sends was not shown")
	})
}

// Of an edit and an answer, or two edits, at once the first stands, and the other is told.
func TestEditsAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(c *Config) {
			c.Execute, c.Ask = func(context.Context, queue.Tx, postroom.Action) error { return nil }, nil
		})
		for range 20 {
			id, shown := d.toSend()
			errs := make([]error, 3)
			var all sync.WaitGroup
			all.Go(func() { _, errs[0] = d.edit(shown, "ann", otherHash) })
			all.Go(func() { _, errs[1] = d.edit(shown, "bob", strings.Repeat("3c", 32)) })
			all.Go(func() { errs[2] = d.answerShown(shown, OutcomeApproved) })
			all.Wait()
			a, won := d.get(id), 0
			for i, err := range errs {
				if err == nil {
					won++
					require.Equal(t, []string{otherHash, strings.Repeat("3c", 32), oneHash}[i], a.ContentSHA256)
					continue
				}
				if a.State == postroom.ActionPendingApproval {
					require.ErrorIs(t, err, ErrEdited)
				} else {
					require.ErrorIs(t, err, ErrState)
				}
			}
			require.Equal(t, 1, won, "%v", errs)
			require.Equal(t, errs[2] == nil, a.State == postroom.ActionQueued)
			requests, err := d.ledger.ApprovalsOf(t.Context(), id)
			require.NoError(t, err)
			require.Len(t, requests, map[bool]int{true: 1, false: 2}[errs[2] == nil])
		}
	})
}

// A database that was put back from before an edit is noticed, as from before any other change.
func TestAnEditThatWasPutBack(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, remembering(t, db, filepath.Join(t.TempDir(), "checkpoint"), true))
		id, shown := d.toSend()
		require.NoError(t, d.ledger.Remember(t.Context()))
		d.backup(ledgerTables)
		_, err := d.edit(shown, "ann", otherHash)
		require.NoError(t, err)
		require.NoError(t, d.ledger.Remember(t.Context()))
		d.restoreBackup(ledgerTables)
		d.restart()
		_, err = d.edit(shown, "ann", otherHash)
		require.ErrorIs(t, err, checkpoint.ErrRestored)
		require.NoError(t, d.accept("ann"))
		_, err = d.edit(shown, "ann", otherHash)
		require.ErrorIs(t, err, ErrApprovalVoid)
		d.now = d.now.Add(time.Second)
		require.NoError(t, d.renew(id))
		w, err := d.ledger.Waiting(t.Context(), id)
		require.NoError(t, err)
		_, err = d.edit(w.Approval, "ann", otherHash)
		require.NoError(t, err)
	})
}
