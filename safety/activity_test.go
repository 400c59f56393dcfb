package safety

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/activity"
)

// What was decided in one time and done in a later one counts when it was done, and once.
func TestWhatWasDoneCountsWhenItEnded(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		yesterday := d.now
		waits := d.record(message("a@example.com"), model(postroom.Trash, 1)).ID
		breaks := d.record(message("a@example.com"), rule(postroom.Star, "")).ID
		sleeps := d.asleep(1)[0].ID
		d.record(message("a@example.com"), nobody())

		today := d.now.Add(12 * time.Hour)
		d.now = today
		_, err := d.approve(waits, "ann")
		require.NoError(t, err)
		d.executes(waits)
		_, err = d.start(breaks, "job-2")
		require.NoError(t, err)
		require.NoError(t, d.fail(breaks, "the label is gone"))
		tomorrow := d.now.Add(12 * time.Hour)
		d.now = tomorrow
		_, err = d.startWakeUp(sleeps, "wake-1")
		require.NoError(t, err)
		require.NoError(t, d.completeWakeUp(sleeps, "wake-1"))

		done := func(from, until time.Time) (words []string) {
			list, err := d.ledger.Activity().Done(t.Context(), "account-1", from, until)
			require.NoError(t, err)
			for _, c := range list {
				words = append(words, strings.Repeat(string(c.Action), c.N))
			}
			return words
		}
		failed := func(from, until time.Time) int {
			list, err := d.ledger.Actions(t.Context(), Filter{AccountID: "account-1", EndedSince: from, EndedUntil: until,
				States: []postroom.ActionState{postroom.ActionFailed}})
			require.NoError(t, err)
			return len(list)
		}
		require.Equal(t, []string{"snooze"}, done(yesterday, today))
		require.Equal(t, []string{"trash"}, done(today, tomorrow))
		require.Empty(t, done(tomorrow, tomorrow.Add(time.Hour)), "a wake-up is no second end")
		require.Equal(t, []int{0, 1, 0}, []int{failed(yesterday, today), failed(today, tomorrow),
			failed(tomorrow, tomorrow.Add(time.Hour))})
		answers, err := d.ledger.Activity().Answers(t.Context(), "account-1", today, tomorrow)
		require.NoError(t, err)
		require.Equal(t, []activity.Answers{{Approver: "ann", Outcome: "approved", N: 1}}, answers)
		answers, err = d.ledger.Activity().Answers(t.Context(), "account-1", yesterday, today)
		require.NoError(t, err)
		require.Empty(t, answers)
	})
}

// A digest reads the failures of its time, however many actions there were before.
func TestWhatFailedIsReadByItsIndex(t *testing.T) {
	db := dbtest.SQLite(t)
	d := newDesk(t, db, nil)
	query, args, err := Filter{AccountID: "account-1", EndedSince: d.now, EndedUntil: d.now,
		States: []postroom.ActionState{postroom.ActionFailed}, Limit: 100}.build(listActions)
	require.NoError(t, err)
	var rows []struct {
		ID, Parent, NotUsed int
		Detail              string
	}
	require.NoError(t, dbquery.Select(t.Context(), db.Reader(), &rows, "EXPLAIN QUERY PLAN "+query, args...))
	require.Contains(t, rows[0].Detail, "actions_ended (account_id=? AND ended_at>? AND ended_at<?)")
}

// What is under way is read without all that was ever done.
func TestWhatIsOpenIsReadByItsIndex(t *testing.T) {
	db := dbtest.SQLite(t)
	newDesk(t, db, nil)
	query, args, err := Filter{AccountID: "account-1", Types: []postroom.ActionType{postroom.Archive}, Limit: 100,
		States: []postroom.ActionState{postroom.ActionQueued, postroom.ActionPendingApproval}}.build(listActions)
	require.NoError(t, err)
	var rows []struct {
		ID, Parent, NotUsed int
		Detail              string
	}
	require.NoError(t, dbquery.Select(t.Context(), db.Reader(), &rows, "EXPLAIN QUERY PLAN "+query, args...))
	require.Contains(t, rows[0].Detail, "actions_open (account_id=?)")
}

// Of what was done, a window is read without what was done before it, the newest first.
func TestAWindowIsReadByItsIndex(t *testing.T) {
	db := dbtest.SQLite(t)
	d := newDesk(t, db, nil)
	query, args, err := Filter{Types: []postroom.ActionType{postroom.Move}, Since: d.now, Until: d.now,
		Limit: 100}.build(listActions)
	require.NoError(t, err)
	var rows []struct {
		ID, Parent, NotUsed int
		Detail              string
	}
	require.NoError(t, dbquery.Select(t.Context(), db.Reader(), &rows, "EXPLAIN QUERY PLAN "+query, args...))
	var plan []string
	for _, row := range rows {
		plan = append(plan, row.Detail)
	}
	require.Contains(t, plan[0], "SEARCH actions USING INDEX sqlite_autoindex_actions_1 (id>?)")
	require.Contains(t, strings.Join(plan, "\n"), "COVERING INDEX actions_created (created_at>?)")
	require.NotContains(t, strings.Join(plan, "\n"), "ORDER BY")
}

// What was done about the mail of a sender is read without all else that was done.
func TestTheActionsOfASenderAreReadByItsIndex(t *testing.T) {
	db := dbtest.SQLite(t)
	newDesk(t, db, nil)
	query, args, err := Filter{Sender: "nobody@example.org", Limit: 51}.build(listActions)
	require.NoError(t, err)
	var rows []struct {
		ID, Parent, NotUsed int
		Detail              string
	}
	require.NoError(t, dbquery.Select(t.Context(), db.Reader(), &rows, "EXPLAIN QUERY PLAN "+query, args...))
	require.Contains(t, rows[0].Detail, "decisions_sender (sender=?)")
}

// What was decided without being sure is read without all else.
func TestTheActionsOfFewDecisionsAreReadByTheirConfidence(t *testing.T) {
	db := dbtest.SQLite(t)
	newDesk(t, db, nil)
	f := Filter{Confidence: &Range{Max: 0.5}, Limit: 51}
	var err error
	f.fewSure, err = fewOf(t.Context(), db, f.Confidence)
	require.NoError(t, err)
	require.True(t, f.fewSure)
	query, args, err := f.build(listActions)
	require.NoError(t, err)
	var rows []struct {
		ID, Parent, NotUsed int
		Detail              string
	}
	require.NoError(t, dbquery.Select(t.Context(), db.Reader(), &rows, "EXPLAIN QUERY PLAN "+query, args...))
	var plan []string
	for _, row := range rows {
		plan = append(plan, row.Detail)
	}
	require.Contains(t, strings.Join(plan, "\n"), "decisions_confidence (confidence>? AND confidence<?)")
	require.NotContains(t, plan[0], "SCAN")
}

// executes carries a queued action out.
func (d *desk) executes(id string) {
	_, err := d.start(id, "job-1")
	require.NoError(d.t, err)
	require.NoError(d.t, d.complete(id, postroom.UndoHint{}))
}

// An action of a database of before this column has ended when it was last written, and a snooze when it began.
func TestWhatHadEndedBefore(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		first := d.now
		id := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
		d.executes(id)
		d.now = d.now.Add(time.Hour)
		d.executes(d.record(message("a@example.com"), rule(postroom.Archive, "")).ID)
		d.record(message("a@example.com"), nobody())
		d.record(message("a@example.com"), rule(postroom.Star, ""))
		text, err := migrations.ReadFile("migrations/" + string(db.Dialect()) + "/0003_ended.sql")
		require.NoError(t, err)
		_, update, _ := strings.Cut(string(text), "UPDATE ")
		update, _, _ = strings.Cut("UPDATE "+update, ";")
		require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE actions SET ended_at = NULL")
			require.NoError(t, err)
			n, err := dbquery.Exec(ctx, tx, update)
			require.EqualValues(t, 2, n)
			return err
		}))
		list, err := d.ledger.Activity().Done(t.Context(), "account-1", first, first.Add(time.Minute))
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, 1, list[0].N)
	})
}
