package safety

import (
	"context"
	"fmt"
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

func nobody() postroom.Decision {
	return postroom.Decision{Action: postroom.None, Rationale: "no rule matched", Source: postroom.SourceNone}
}

func TestActionsFilter(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		now := d.now
		record := func(ago time.Duration, account, from string, dec postroom.Decision) postroom.Action {
			d.now = now.Add(-ago)
			msg := message(from)
			msg.AccountID = account
			return d.record(msg, dec)
		}
		day := 24 * time.Hour
		ids := map[string]string{}
		message := record(10*day, "one", "Ann@Example.com", rule(postroom.Archive, ""))
		ids["archive"] = message.ID
		ids["subdomain"] = record(3*day, "one", "bot@mail.example.com", model(postroom.MarkRead, 0.8)).ID
		ofBatch := model(postroom.Star, 0.2)
		ofBatch.Key = "apply:b1:1"
		ids["lookalike"] = record(2*day, "one", "bot@notexample.com", ofBatch).ID
		ids["wildcard"] = record(time.Hour, "two", "x@exampleXcom", model(postroom.Delete, 0.9)).ID
		ids["nobody"] = record(0, "two", "", nobody()).ID

		for name, tc := range map[string]struct {
			filter Filter
			want   string
		}{
			"all, newest first":          {Filter{}, "nobody wildcard lookalike subdomain archive"},
			"account":                    {Filter{AccountID: "two"}, "nobody wildcard"},
			"message":                    {Filter{MessageID: message.MessageID}, "archive"},
			"type":                       {Filter{Types: []postroom.ActionType{postroom.Star, postroom.Archive}}, "lookalike archive"},
			"undo type":                  {Filter{Types: []postroom.ActionType{"undo_star"}}, ""},
			"state":                      {Filter{States: []postroom.ActionState{postroom.ActionPendingApproval}}, "wildcard lookalike"},
			"two states":                 {Filter{States: []postroom.ActionState{postroom.ActionQueued, postroom.ActionCompleted}}, "nobody subdomain archive"},
			"source":                     {Filter{Sources: []postroom.Source{postroom.SourceNone}}, "nobody"},
			"since":                      {Filter{Since: now.Add(-7 * day)}, "nobody wildcard lookalike subdomain"},
			"exact sender":               {Filter{Sender: "ANN@example.COM"}, "archive"},
			"domain and its subdomains":  {Filter{Sender: "Example.com"}, "subdomain archive"},
			"a domain is no pattern":     {Filter{Sender: "example_com"}, ""},
			"confidence, both ends":      {Filter{Confidence: &Range{0.2, 0.8}}, "lookalike subdomain"},
			"confidence leaves none out": {Filter{Confidence: &Range{0, 1}}, "wildcard lookalike subdomain archive"},
			"batch":                      {Filter{KeyPrefix: "apply:b1:"}, "lookalike"},
			"a batch is no pattern":      {Filter{KeyPrefix: "apply:%:"}, ""},
			"limit":                      {Filter{Limit: 2}, "nobody wildcard"},
			"next page":                  {Filter{Limit: 2, Before: ids["wildcard"]}, "lookalike subdomain"},
			"several at once":            {Filter{AccountID: "one", Since: now.Add(-7 * day), Sender: "example.com"}, "subdomain"},
		} {
			t.Run(name, func(t *testing.T) {
				entries, err := d.ledger.Actions(t.Context(), tc.filter)
				require.NoError(t, err)
				var got []string
				for _, e := range entries {
					require.Equal(t, e.Action.DecisionID, e.Decision.ID)
					for name, id := range ids {
						if id == e.Action.ID {
							got = append(got, name)
						}
					}
				}
				require.Equal(t, tc.want, strings.Join(got, " "))

				decisions, err := d.ledger.Decisions(t.Context(), tc.filter)
				require.NoError(t, err)
				require.Len(t, decisions, len(entries))
			})
		}
	})
}

func TestFilterNamesTheBadField(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t), nil)
	for name, tc := range map[string]struct {
		filter Filter
		want   string
	}{
		"limit too high":     {Filter{Limit: 101}, "Filter.Limit is 101; it must be within 1 and 100"},
		"limit negative":     {Filter{Limit: -1}, "Filter.Limit is -1"},
		"range upside down":  {Filter{Confidence: &Range{0.9, 0.1}}, "Filter.Confidence is 0.9 to 0.1"},
		"range out of range": {Filter{Confidence: &Range{0, 1.5}}, "Filter.Confidence"},
		"unknown type":       {Filter{Types: []postroom.ActionType{"erase"}}, `"erase" is no action`},
		"unknown source":     {Filter{Sources: []postroom.Source{"gpt"}}, `"gpt" is no source`},
		"unknown state":      {Filter{States: []postroom.ActionState{"done"}}, `"done" is no state`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := d.ledger.Actions(t.Context(), tc.filter)
			require.ErrorContains(t, err, tc.want)
			_, err = d.ledger.Decisions(t.Context(), tc.filter)
			require.Error(t, err)
			_, err = d.ledger.Approvals(t.Context(), tc.filter)
			require.Error(t, err)
		})
	}
	_, err := d.ledger.Approvals(t.Context(), Filter{States: []postroom.ActionState{postroom.ActionPendingApproval}})
	require.ErrorContains(t, err, "must be empty")
}

func TestFilterDefaultLimit(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t), nil)
	for range 25 {
		d.record(message("a@example.com"), rule(postroom.Archive, ""))
	}
	entries, err := d.ledger.Actions(t.Context(), Filter{})
	require.NoError(t, err)
	require.Len(t, entries, 20)
}

func TestDecisionsLeaveUndosOut(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		original := d.completed()
		undo, err := d.startUndo(original.ID, "undo-job")
		require.NoError(t, err)

		entries, err := d.ledger.Actions(t.Context(), Filter{})
		require.NoError(t, err)
		require.Equal(t, undo, entries[0].Action)
		require.Equal(t, original, entries[1].Action)
		require.Equal(t, entries[1].Decision, entries[0].Decision)

		decisions, err := d.ledger.Decisions(t.Context(), Filter{})
		require.NoError(t, err)
		require.Equal(t, []DecisionRecord{entries[1].Decision}, decisions)
	})
}

func TestApprovalsFilter(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		d.record(message("a@example.com"), rule(postroom.Archive, ""))
		id := d.record(message("b@example.com"), model(postroom.Delete, 1)).ID
		other := message("c@example.com")
		other.AccountID = "account-2"
		d.record(other, model(postroom.Delete, 1))

		w, err := d.ledger.Approvals(t.Context(), Filter{AccountID: "account-1"})
		require.NoError(t, err)
		require.Len(t, w, 1)
		require.Equal(t, id, w[0].Action.ID)
		require.Equal(t, OutcomeWaiting, w[0].Approval.Outcome)
		require.Equal(t, id, w[0].Approval.ActionID)
		n, err := d.ledger.CountApprovals(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2, n, "of both accounts")
	})
}

// A count and a list of what waits read the requests that wait, also when SQLite knows how many actions there are, and
// not how many requests.
func TestWhatWaitsIsReadByItsRequests(t *testing.T) {
	db := dbtest.SQLite(t)
	newDesk(t, db, nil)
	list, args, err := Filter{AccountID: "account-1", Limit: 20}.build(listApprovals)
	require.NoError(t, err)
	type step struct {
		ID, Parent, NotUsed int
		Detail              string
	}
	var count, listed []step
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		for _, statement := range []string{"ANALYZE", "DELETE FROM sqlite_stat1",
			"INSERT INTO sqlite_stat1 VALUES ('actions', 'sqlite_autoindex_actions_1', '200000 1')", "ANALYZE sqlite_schema"} {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		if err := dbquery.Select(ctx, tx, &count, "EXPLAIN QUERY PLAN "+countApprovals); err != nil {
			return err
		}
		return dbquery.Select(ctx, tx, &listed, "EXPLAIN QUERY PLAN "+list, args...)
	}))
	require.Len(t, count, 2)
	for _, plan := range [][]step{count, listed} {
		require.Contains(t, plan[0].Detail, "SCAN approvals USING")
		require.Contains(t, plan[0].Detail, "INDEX approvals_waiting")
		require.Contains(t, plan[1].Detail, "SEARCH actions USING INDEX")
	}
}

func TestSummary(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		original := d.completed()
		d.record(message("a@example.com"), rule(postroom.Archive, ""))
		d.record(message("a@example.com"), model(postroom.Delete, 1))
		d.record(message("a@example.com"), nobody())
		elsewhere := message("a@example.com")
		elsewhere.AccountID = "account-2"
		d.record(elsewhere, rule(postroom.Star, ""))
		_, err := d.startUndo(original.ID, "undo-job")
		require.NoError(t, err)

		s, err := d.ledger.Activity().Summary(t.Context(), "account-1")
		require.NoError(t, err)
		require.Equal(t, activity.Summary{
			Actions: map[postroom.ActionType]int{postroom.Archive: 2, postroom.Delete: 1, postroom.None: 1, "undo_archive": 1},
			States: map[postroom.ActionState]int{
				postroom.ActionCompleted: 2, postroom.ActionQueued: 1, postroom.ActionPendingApproval: 1,
				postroom.ActionExecuting: 1,
			},
			Rules:     map[string]int{"Receipts": 2},
			Models:    map[string]int{model(postroom.Delete, 1).Model: 1},
			Approvals: 1,
			Unmatched: 1,
		}, s)

		all, err := d.ledger.Activity().Summary(t.Context(), "")
		require.NoError(t, err)
		require.Equal(t, 1, all.Actions[postroom.Star])
		require.Equal(t, map[string]int{"Receipts": 3}, all.Rules)
	})
}

func TestResolve(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		ids := []string{"0a1b0000-0000-7000-8000-000000000001", "0a1b0000-0000-7000-8000-000000000002",
			"0a2c0000-0000-7000-8000-000000000001"}
		a := d.record(message("a@example.com"), rule(postroom.Archive, ""))
		for _, id := range ids {
			require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error {
				a.ID = id
				_, _, err := d.ledger.actions.insertAction(ctx, tx, a, &decisionRow{}, 0)
				return err
			}))
		}
		for _, prefix := range []string{"0a2c", " 0A2C0000-", ids[2]} {
			id, err := d.ledger.Resolve(t.Context(), prefix)
			require.NoError(t, err)
			require.Equal(t, ids[2], id)
		}
		_, err := d.ledger.Resolve(t.Context(), "0a1b")
		require.ErrorIs(t, err, ErrAmbiguous)
		require.ErrorContains(t, err, ids[0]+", "+ids[1])
		for _, prefix := range []string{"", "ffff", "%", "0a2c%", "zebra"} {
			_, err := d.ledger.Resolve(t.Context(), prefix)
			require.ErrorIs(t, err, postroom.ErrNotFound, "%q", prefix)
		}
	})
}

func TestResolveNamesTenCandidates(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t), nil)
	a := d.record(message("a@example.com"), rule(postroom.Archive, ""))
	for i := range 12 {
		require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error {
			a.ID = fmt.Sprintf("ff%02d", i)
			_, _, err := d.ledger.actions.insertAction(ctx, tx, a, &decisionRow{}, 0)
			return err
		}))
	}
	_, err := d.ledger.Resolve(t.Context(), "ff")
	require.ErrorContains(t, err, "ff09, …")
	require.NotContains(t, err.Error(), "ff10")
}
