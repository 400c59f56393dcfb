package enrich_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/queue"
)

// What is known of mail is stored whole, and listed by state, category, level and what a person may answer.
func TestEnrichmentsAreListed(t *testing.T) {
	facts := map[string]enrich.Facts{
		"m1": {Category: "Work", CategoryTold: enrich.Told{By: enrich.ByHost, Confidence: 1, Reasoning: "a rule\x00\xff"},
			Level: "high", Score: 0.9, ActionItems: []enrich.ActionItem{{Text: "Call", Due: "2026-03-05"}},
			ImportanceTold: enrich.Told{By: enrich.ByHost, Confidence: 0.5}},
		"m2": {Events: []enrich.Event{{Title: "Tea", Start: "2026-03-05T15:00", Zone: "Europe/Berlin", Attendees: []string{"Ada"}}},
			CalendarTold: enrich.Told{By: enrich.ByHost, Confidence: 0.8}},
	}
	first := func(_ context.Context, msg *postroom.Message) (enrich.Facts, error) { return facts[msg.ID], nil }
	eachWorld(t, func(c *enrich.Config) { c.First = first }, func(t *testing.T, w *world) {
		for i := range 4 {
			msg := letter(fmt.Sprintf("m%d", i+1), "ada@else.example", "Hello.")
			msg.ReceivedAt = received.Add(time.Duration(i/2) * time.Hour) // two at a time
			w.arrive(msg, nil)
		}
		w.work()
		e := w.get("m1")
		require.Equal(t, "work", e.Category, "as the owner writes it")
		require.Equal(t, "a rule��", e.CategoryTold.Reasoning)
		require.Equal(t, []enrich.ActionItem{{Text: "Call", Due: "2026-03-05"}}, e.ActionItems)
		require.Equal(t, facts["m2"].Events, w.get("m2").Events)
		require.Equal(t, received, e.ReceivedAt)
		require.False(t, e.EndedAt.IsZero())

		for name, of := range map[string]struct {
			filter enrich.Filter
			want   []string
		}{
			"all, the newest first": {enrich.Filter{}, []string{"m4", "m3", "m2", "m1"}},
			"a category":            {enrich.Filter{Category: "work"}, []string{"m1"}},
			"a level":               {enrich.Filter{Level: "high"}, []string{"m1"}},
			"another level":         {enrich.Filter{Level: "low"}, nil},
			"unsure":                {enrich.Filter{Unsure: true}, []string{"m1"}},
			"action items":          {enrich.Filter{HasActionItems: true}, []string{"m1"}},
			"events":                {enrich.Filter{HasEvent: true}, []string{"m2"}},
			"states": {enrich.Filter{States: []enrich.State{enrich.StateCompleted, enrich.StateFetched}},
				[]string{"m4", "m3", "m2"}},
			"both":  {enrich.Filter{Category: "work", HasEvent: true}, nil},
			"a few": {enrich.Filter{Limit: 2}, []string{"m4", "m3"}},
		} {
			of.filter.AccountID = account
			require.Equal(t, of.want, w.list(of.filter), name)
		}
		require.Empty(t, w.list(enrich.Filter{AccountID: "another"}))

		known, err := w.service.Of(t.Context(), account, "m1", "m4", "none")
		require.NoError(t, err)
		require.Len(t, known, 2)
		require.Equal(t, w.get("m1"), known["m1"])
		known, err = w.service.Of(t.Context(), "another", "m1")
		require.NoError(t, err)
		require.Empty(t, known)

		var paged []string
		for page := (enrich.Filter{AccountID: account, Limit: 1}); ; {
			list, err := w.service.List(t.Context(), page)
			require.NoError(t, err)
			if len(list) == 0 {
				break
			}
			paged, page.After = append(paged, list[0].MessageID), list[0]
		}
		require.Equal(t, []string{"m4", "m3", "m2", "m1"}, paged)
	})
}

// list returns the ids of the messages of a list.
func (w *world) list(f enrich.Filter) (ids []string) {
	w.Helper()
	list, err := w.service.List(w.Context(), f)
	require.NoError(w, err)
	for _, e := range list {
		ids = append(ids, e.MessageID)
	}
	return ids
}

func TestAListIsOfOneMailboxAndBounded(t *testing.T) {
	s, err := enrich.NewStore(dbtest.SQLite(t))
	require.NoError(t, err)
	_, err = s.List(t.Context(), enrich.Filter{})
	require.ErrorContains(t, err, "Filter.AccountID is empty")
	for _, limit := range []int{-1, 1001} {
		_, err = s.List(t.Context(), enrich.Filter{AccountID: account, Limit: limit})
		require.ErrorContains(t, err, "Filter.Limit")
	}
	_, err = enrich.NewStore(nil)
	require.ErrorContains(t, err, "llm/enrich: NewStore: db")
	require.ErrorContains(t, enrich.Migrate(t.Context(), nil), "llm/enrich: Migrate: db")
}

func TestEnrichmentsAreForgotten(t *testing.T) {
	eachWorld(t, nil, func(t *testing.T, w *world) {
		for i := range 3 {
			msg := newsletter(fmt.Sprintf("m%d", i+1))
			msg.ReceivedAt = received.Add(time.Duration(i) * time.Hour)
			w.arrive(msg, nil)
		}
		n, err := enrich.Prune(t.Context(), w.q.DB(), received.Add(time.Hour))
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, []string{"m3", "m2"}, w.list(enrich.Filter{AccountID: account}))
		_, err = w.service.Get(t.Context(), account, "m1")
		require.ErrorIs(t, err, postroom.ErrNotFound)
		w.work()
		require.Equal(t, []string{"m2 completed", "m3 completed"}, w.sortedEnds(), "the job of what was pruned ends")
		require.NoError(t, w.q.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			return enrich.Forget(ctx, tx, account)
		}))
		require.Empty(t, w.list(enrich.Filter{AccountID: account}))
	})
}

// What is too old is found by an index, and so is what lists of few show, however much is known.
func TestWhatIsOldIsPrunedByAnIndex(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, enrich.Migrate(t.Context(), db))
		fill(t, db, 20_000)
		for query, index := range map[string]string{
			enrich.SQLPrune: "enrichments_pruned",
			"SELECT message_id FROM enrichments WHERE account_id = $1 AND event_count > 0 " +
				"ORDER BY received_at DESC, message_id DESC LIMIT $2": "enrichments_events",
			"SELECT message_id FROM enrichments WHERE account_id = $1 AND action_count > 0 " +
				"ORDER BY received_at DESC, message_id DESC LIMIT $2": "enrichments_todo",
		} {
			var first any = "a"
			if query == enrich.SQLPrune {
				first = dbtime.Of(received.Add(50 * time.Minute))
			}
			plan := planOf(t, db, query, first)
			require.Contains(t, plan, index, "%s\n%s", query, plan)
			require.NotRegexp(t, `SCAN enrichments|Seq Scan|TEMP B-TREE|Sort`, plan)
		}
		n, err := enrich.Prune(t.Context(), db, received.Add(50*time.Minute))
		require.NoError(t, err)
		require.Equal(t, 50, n)
	})
}

// fill stores what is known of mail that was received a minute after each other.
func fill(t *testing.T, db queue.DB, n int) {
	t.Helper()
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		for from := 0; from < n; from += 1000 {
			var rows []string
			for i := from; i < from+1000; i++ {
				at := dbtime.Format(received.Add(time.Duration(i) * time.Minute))
				rows = append(rows, fmt.Sprintf("('a', 'm%d', '%s', 'completed', %d, %d, '%s', '%s')", i, at, i%500/499, i%500/499,
					at, at))
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO enrichments (account_id, message_id, received_at, state, "+
				"action_count, event_count, created_at, updated_at) VALUES "+strings.Join(rows, ", ")); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, "ANALYZE enrichments")
		return err
	}))
}

// planOf is how the engine goes about a statement.
func planOf(t *testing.T, db queue.DB, query string, first any) string {
	t.Helper()
	explain := "EXPLAIN "
	if db.Dialect() == "sqlite" {
		explain = "EXPLAIN QUERY PLAN "
	}
	rows, err := db.Reader().QueryContext(t.Context(), explain+query, first, 100)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	columns, err := rows.Columns()
	require.NoError(t, err)
	var plan strings.Builder
	for rows.Next() {
		fields := make([]any, len(columns))
		for i := range fields {
			fields[i] = new(any)
		}
		require.NoError(t, rows.Scan(fields...))
		fmt.Fprintln(&plan, *fields[len(fields)-1].(*any))
	}
	require.NoError(t, rows.Err())
	return plan.String()
}
