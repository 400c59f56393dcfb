package safety

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

const altered = "it is not what was permitted: the action, its decision or its approval was altered in the database"

// forwarded is a forward that a person has approved, with its content.
func (d *desk) forwarded() string {
	dec := model(postroom.Forward, 1)
	dec.Parameters = postroom.Parameters{"to": "boss@example.com"}
	id := d.record(message("a@example.com"), dec).ID
	require.NoError(d.t, d.setContent(id, oneHash))
	_, err := d.approve(id, "ann")
	require.NoError(d.t, err)
	return id
}

// alterations of what was permitted, in the database; $1 is the id of the action.
var alterations = map[string]string{
	"account":                `UPDATE actions SET account_id = 'another' WHERE id = $1`,
	"message":                `UPDATE actions SET message_id = 'another' WHERE id = $1`,
	"type":                   `UPDATE actions SET type = 'delete' WHERE id = $1`,
	"parameters":             `UPDATE actions SET parameters_json = '{"to":"mallory@example.com"}' WHERE id = $1`,
	"a blank":                `UPDATE actions SET parameters_json = '{"to": "boss@example.com"}' WHERE id = $1`,
	"content":                `UPDATE actions SET content_sha256 = '` + otherHash + `' WHERE id = $1`,
	"no content":             `UPDATE actions SET content_sha256 = '' WHERE id = $1`,
	"decision":               `UPDATE actions SET decision_id = (SELECT id FROM decisions WHERE message_id = 'decoy') WHERE id = $1`,
	"no approval of its own": `UPDATE actions SET approval_id = 'none' WHERE id = $1`,
	"signature":              `UPDATE approvals SET signature = signature || '0' WHERE action_id = $1`,

	"source":              `UPDATE decisions SET source = 'deterministic' WHERE id = (SELECT decision_id FROM actions WHERE id = $1)`,
	"decided action":      `UPDATE decisions SET action_type = 'archive' WHERE id = (SELECT decision_id FROM actions WHERE id = $1)`,
	"decided parameters":  `UPDATE decisions SET parameters_json = '{}' WHERE id = (SELECT decision_id FROM actions WHERE id = $1)`,
	"rationale":           `UPDATE decisions SET rationale = 'the boss asked for it' WHERE id = (SELECT decision_id FROM actions WHERE id = $1)`,
	"rule":                `UPDATE decisions SET rule_id = 'rule-7' WHERE id = (SELECT decision_id FROM actions WHERE id = $1)`,
	"version of the rule": `UPDATE decisions SET rule_version = 'v7' WHERE id = (SELECT decision_id FROM actions WHERE id = $1)`,
	"model":               `UPDATE decisions SET model = 'another' WHERE id = (SELECT decision_id FROM actions WHERE id = $1)`,

	"approver":          `UPDATE approvals SET approver = 'mallory' WHERE action_id = $1`,
	"expiry":            `UPDATE approvals SET expires_at = '2999-01-01T00:00:00.000000Z' WHERE action_id = $1`,
	"time of asking":    `UPDATE approvals SET requested_at = '2001-01-01T00:00:00.000000Z' WHERE action_id = $1`,
	"time of answering": `UPDATE approvals SET decided_at = '2999-01-01T00:00:00.000000Z' WHERE action_id = $1`,
	"answer":            `UPDATE approvals SET outcome = 'rejected' WHERE action_id = $1`,
	"no approval":       `DELETE FROM approvals WHERE action_id = $1`,
	"another approval":  `UPDATE approvals SET id = 'f' || substr(id, 2) WHERE action_id = $1`,
}

// TestAlteredAfterTheApproval: what is executed is what was approved, or nothing.
func TestAlteredAfterTheApproval(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		decoy := message("b@example.com")
		decoy.ID = "decoy"
		d.record(decoy, model(postroom.Forward, 1, "to", "x@example.com"))
		for name, alter := range alterations {
			id := d.forwarded()
			d.exec(alter, id)
			a, err := d.start(id, "job-1")
			require.NoError(t, err, name)
			require.Equal(t, postroom.ActionFailed, a.State, name)
			require.Equal(t, altered, d.get(id).Error, name)
			_, err = d.start(id, "job-2")
			require.ErrorIs(t, err, ErrState, name)

			id = d.forwarded()
			_, err = d.start(id, "job-1")
			require.NoError(t, err)
			d.exec(alter, id)
			a, err = d.start(id, "job-1")
			require.NoError(t, err, name)
			require.Equal(t, postroom.ActionFailed, a.State, "%s, altered between two attempts", name)
		}
		untouched := d.forwarded()
		a, err := d.start(untouched, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionExecuting, a.State)
		a, err = d.start(untouched, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionExecuting, a.State)
	})
}

// TestAlteredWithoutAPerson: what a rule lets happen by itself is what was decided.
func TestAlteredWithoutAPerson(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		for _, alter := range []string{
			`UPDATE actions SET type = 'delete' WHERE id = $1`, `UPDATE actions SET message_id = 'another' WHERE id = $1`,
			`UPDATE actions SET parameters_json = '{"label":"TRASH"}' WHERE id = $1`,
		} {
			id := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
			d.exec(alter, id)
			a, err := d.start(id, "job-1")
			require.NoError(t, err, alter)
			require.Equal(t, postroom.ActionFailed, a.State, alter)
		}
	})
}

// TestForgedApprovals: an approval that nobody gave, or one of another action, or one that was used, executes nothing.
func TestForgedApprovals(t *testing.T) {
	const queued = `UPDATE actions SET state = 'queued' WHERE id = $1`
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		other := d.forwarded()
		for name, forge := range map[string]func(id string){
			"queued by hand": func(id string) { d.exec(queued, id) },
			"and the answer written": func(id string) {
				d.exec(queued, id)
				d.exec(
					`UPDATE approvals SET outcome = 'approved', approver = 'ann', decided_at = requested_at WHERE action_id = $1`, id)
			},
			"and named by the action": func(id string) {
				d.exec(
					`UPDATE approvals SET outcome = 'approved', approver = 'ann', decided_at = requested_at WHERE action_id = $1`, id)
				d.exec(
					`UPDATE actions SET state = 'queued', approval_id = (SELECT id FROM approvals WHERE action_id = $1) WHERE id = $1`, id)
			},
			"with the signature of another": func(id string) {
				d.exec(`UPDATE approvals SET outcome = 'approved', approver = 'ann', decided_at = requested_at,
				  signature = (SELECT signature FROM approvals WHERE action_id = $1) WHERE action_id = $2`, other, id)
				d.exec(
					`UPDATE actions SET state = 'queued', approval_id = (SELECT id FROM approvals WHERE action_id = $1) WHERE id = $1`, id)
			},
			"with the approval of another": func(id string) {
				d.exec(
					`UPDATE actions SET state = 'queued', approval_id = (SELECT id FROM approvals WHERE action_id = $1) WHERE id = $2`, other, id)
			},
			"with the approval of another made its own": func(id string) {
				d.exec(`DELETE FROM approvals WHERE action_id = $1`, id)
				d.exec(`UPDATE approvals SET action_id = $1 WHERE action_id = $2`, id, other)
				d.exec(
					`UPDATE actions SET state = 'queued', approval_id = (SELECT id FROM approvals WHERE action_id = $1) WHERE id = $1`, id)
				other = d.forwarded()
			},
		} {
			id := d.record(message("a@example.com"), model(postroom.Forward, 1, "to", "mallory@example.com")).ID
			forge(id)
			a, err := d.start(id, "job-1")
			require.NoError(t, err, name)
			require.Equal(t, postroom.ActionFailed, a.State, name)
		}

		used := d.forwarded()
		_, err := d.start(used, "job-1")
		require.NoError(t, err)
		require.NoError(t, d.complete(used, postroom.UndoHint{Irreversible: true}))
		d.exec(queued, used)
		a, err := d.start(used, "job-2")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionFailed, a.State, "an approval is used once")
		require.Contains(t, a.Error, "its approval was used before")
	})
}

// TestForgedRequests: a request that was altered, or made by hand, cannot be approved.
func TestForgedRequests(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		other := d.record(message("b@example.com"), model(postroom.Forward, 1, "to", "x@example.com")).ID
		for _, forge := range []string{
			`UPDATE approvals SET reasons_json = '["routine"]' WHERE action_id = $1`,
			`UPDATE approvals SET requested_at = '2001-01-01T00:00:00.000000Z' WHERE action_id = $1`,
			`UPDATE approvals SET digest = (SELECT digest FROM approvals WHERE action_id = '` + other +
				`') WHERE action_id = $1`,
			`UPDATE approvals SET digest = '' WHERE action_id = $1`,
			`UPDATE decisions SET rationale = 'the boss asked for it' WHERE id = (SELECT decision_id FROM actions WHERE id = $1)`,
		} {
			id := d.record(message("a@example.com"), model(postroom.Forward, 1, "to", "x@example.com")).ID
			d.exec(forge, id)
			_, err := d.approve(id, "ann")
			require.ErrorIs(t, err, ErrApprovalVoid, forge)
			require.Equal(t, postroom.ActionPendingApproval, d.get(id).State)
		}
		require.Empty(t, d.executed)
	})
}

// TestAnApprovalIsUsedInTime: an action that starts long after it was approved asks again.
func TestAnApprovalIsUsedInTime(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(c *Config) { c.ApprovalExpiry = time.Hour })
		id := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		d.now = d.now.Add(59 * time.Minute)
		_, err := d.approve(id, "ann")
		require.NoError(t, err)
		d.now = d.now.Add(time.Hour)
		a, err := d.start(id, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionPendingApproval, a.State)
		require.Contains(t, d.waiting(t)[0].Approval.Reasons[0], "the approval by ann was given on ")

		_, err = d.approve(id, "bob")
		require.NoError(t, err)
		a, err = d.start(id, "job-2")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionExecuting, a.State)
		d.now = d.now.Add(2 * time.Hour)
		a, err = d.start(id, "job-2")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionExecuting, a.State, "what has begun goes on")
	})
}

// keyed is a configuration with a key of its own.
func keyed(n byte, old ...byte) func(*Config) {
	key := func(n byte) []byte { return slices.Repeat([]byte{n}, 32) }
	return func(c *Config) {
		c.Key = key(n)
		for _, o := range old {
			c.OldKeys = append(c.OldKeys, key(o))
		}
	}
}

// TestAnotherKey: what is signed with a key that is not known is asked again, and what has begun by it ends. What an
// old key has signed holds.
func TestAnotherKey(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		first := newDesk(t, db, keyed(1))
		approved, begun, kept := first.forwarded(), first.sending().ID, first.forwarded()
		passed := first.record(message("a@example.com"), rule(postroom.Archive, "")).ID
		waits, open := first.record(message("a@example.com"), model(postroom.Delete, 1)).ID,
			first.record(message("a@example.com"), model(postroom.Delete, 1)).ID

		rotated := newDesk(t, db, keyed(2, 1))
		a, err := rotated.start(kept, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionExecuting, a.State)
		_, err = rotated.approve(open, "ann")
		require.NoError(t, err)

		d := newDesk(t, db, keyed(2))
		a, err = d.start(open, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionExecuting, a.State, "it was approved under the new key")
		a, err = d.start(approved, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionPendingApproval, a.State)
		_, err = d.approve(approved, "ann")
		require.NoError(t, err)
		a, err = d.start(begun, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionFailed, a.State)
		a, err = d.start(passed, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionExecuting, a.State, "no person was asked")
		_, err = d.approve(waits, "ann")
		require.ErrorIs(t, err, ErrApprovalVoid)
		require.NotErrorIs(t, err, ErrAltered)
		require.NoError(t, d.renew(waits))
		_, err = d.approve(waits, "ann")
		require.NoError(t, err)
	})
}

// TestAStateSetByHandStartsNothing: an action about which a person was asked starts only with an approval.
func TestAStateSetByHandStartsNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		held := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
		_, err := d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
			return d.ledger.Hold(ctx, tx, held, "odd")
		})
		require.NoError(t, err)
		rejected := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		_, err = d.reject(rejected, "ann", "no")
		require.NoError(t, err)
		canceled := d.forwarded()
		require.NoError(t, d.cancel(canceled, "no"))
		for _, id := range []string{held, rejected, d.record(message("a@example.com"), model(postroom.Delete, 1)).ID} {
			d.exec(`UPDATE actions SET state = 'queued' WHERE id = $1`, id)
			require.Error(t, d.check(id))
			a, err := d.start(id, "job-1")
			require.NoError(t, err)
			require.Equal(t, postroom.ActionFailed, a.State)
			require.Contains(t, a.Error, "a person was asked to approve it, and none has")
			_, err = d.ledger.Waiting(t.Context(), id)
			require.ErrorIs(t, err, ErrState)
		}
		for _, id := range []string{d.record(message("a@example.com"), model(postroom.Delete, 1)).ID, canceled} {
			d.exec(`UPDATE actions SET state = 'executing', job_id = 'job-1' WHERE id = $1`, id)
			a, err := d.start(id, "job-1")
			require.NoError(t, err)
			require.Equal(t, postroom.ActionFailed, a.State)
		}
	})
}

// check is what is asked before a request is shown as genuine.
func (d *desk) check(id string) error {
	w, err := d.ledger.Waiting(context.Background(), id)
	return errors.Join(err, w.Fault)
}

// TestWhatWasShownIsSigned: a request whose text was altered is shown as such.
func TestWhatWasShownIsSigned(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		for _, alter := range []string{
			`UPDATE decisions SET sender = 'bank@example.com' WHERE id = (SELECT decision_id FROM actions WHERE id = $1)`,
			`UPDATE decisions SET subject = 'Hi' WHERE id = (SELECT decision_id FROM actions WHERE id = $1)`,
			`UPDATE decisions SET provider_message_id = '18f1' WHERE id = (SELECT decision_id FROM actions WHERE id = $1)`,
			`UPDATE approvals SET reasons_json = '["routine"]' WHERE action_id = $1`,
			`UPDATE actions SET parameters_json = '{"to":"mallory@example.com"}' WHERE id = $1`,
		} {
			id := d.record(message("a@example.com"), model(postroom.Forward, 1, "to", "x@example.com")).ID
			require.NoError(t, d.check(id))
			require.NoError(t, d.waiting(t)[0].Fault)
			d.exec(alter, id)
			require.ErrorIs(t, d.check(id), ErrAltered, alter)
			require.ErrorIs(t, d.waiting(t)[0].Fault, ErrAltered, alter)
			w, err := d.ledger.Waiting(t.Context(), id)
			require.NoError(t, err)
			require.ErrorIs(t, w.Fault, ErrAltered)
			w, err = d.ledger.Request(t.Context(), w.Approval.ID)
			require.NoError(t, err)
			require.ErrorIs(t, w.Fault, ErrAltered)
			require.ErrorIs(t, d.renew(id), ErrAltered)
		}
		id := d.forwarded()
		requests, err := d.ledger.ApprovalsOf(t.Context(), id)
		require.NoError(t, err)
		w, err := d.ledger.Request(t.Context(), requests[0].ID)
		require.NoError(t, err)
		require.NoError(t, w.Fault)
		d.exec(`UPDATE approvals SET approver = 'mallory' WHERE action_id = $1`, id)
		w, err = d.ledger.Request(t.Context(), requests[0].ID)
		require.NoError(t, err)
		require.ErrorIs(t, w.Fault, ErrAltered)
	})
}

// TestTheKeyOfTheDatabase is made once, and shared by all that share the database.
func TestTheKeyOfTheDatabase(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		one := newDesk(t, db, nil)
		id := one.forwarded()
		another := newDesk(t, db, nil)
		a, err := another.start(id, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionExecuting, a.State)

		one.exec(`UPDATE safety_keys SET secret = 'abcd'`)
		broken := newDesk(t, db, nil)
		_, err = broken.start(one.forwarded(), "job-1")
		require.ErrorContains(t, err, "read the key of the signatures: it is too short")
	})
}

// TestTheFirstAnswerStands, and the other is told who gave it.
func TestTheFirstAnswerStands(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		id := d.forwarded()
		_, err := d.reject(id, "bob", "no")
		var state *StateError
		require.ErrorAs(t, err, &state)
		require.Equal(t, postroom.ActionQueued, state.State)
		require.Equal(t, OutcomeApproved, state.Answer.Outcome)
		require.Equal(t, "ann", state.Answer.Approver)
		require.ErrorContains(t, err, "it is queued; ann has approved it on ")
		a, err := d.start(id, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionExecuting, a.State)

		id = d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		_, err = d.reject(id, "bob", "no")
		require.NoError(t, err)
		_, err = d.approve(id, "ann")
		require.ErrorAs(t, err, &state)
		require.Equal(t, "bob", state.Answer.Approver)
		require.Equal(t, OutcomeRejected, state.Answer.Outcome)
	})
}

// TestTwoAnswersAtOnce: one wins, and the action, the request and the loser's answer all say which.
func TestTwoAnswersAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(c *Config) {
			c.Execute = func(context.Context, queue.Tx, postroom.Action) error { return nil }
			c.Ask = nil
		})
		for range 10 {
			id := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
			var errs [2]error
			var wg sync.WaitGroup
			wg.Go(func() { _, errs[0] = d.approve(id, "ann") })
			wg.Go(func() { _, errs[1] = d.reject(id, "bob", "no") })
			wg.Wait()
			won, state, loser := OutcomeApproved, postroom.ActionQueued, errs[1]
			if errs[0] != nil {
				won, state, loser = OutcomeRejected, postroom.ActionRejected, errs[0]
			}
			require.True(t, (errs[0] == nil) != (errs[1] == nil), "approve: %v, reject: %v", errs[0], errs[1])
			require.Equal(t, state, d.get(id).State)
			requests, err := d.ledger.ApprovalsOf(t.Context(), id)
			require.NoError(t, err)
			require.Len(t, requests, 1)
			require.Equal(t, won, requests[0].Outcome)
			var told *StateError
			require.ErrorAs(t, loser, &told)
			require.Equal(t, &requests[0], told.Answer)
		}
	})
}
