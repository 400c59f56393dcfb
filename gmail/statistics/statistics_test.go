package statistics_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/statistics"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
	"github.com/postroom-go/postroom/rules/lessons"
	"github.com/postroom-go/postroom/safety"
)

// A database that was there before is counted from its first day on, and so is one whose triggers a migration of
// another package has dropped.
func TestWhatWasThereBeforeIsCounted(t *testing.T) {
	dbtest.EachEmpty(t, func(t *testing.T, db queue.DB) {
		require.ErrorContains(t, statistics.Migrate(t.Context(), db),
			"migrate mailstore, safety, llm/enrich and rules/lessons")
		for _, migrate := range []dbtest.Migration{mailstore.Migrate, safety.Migrate, lessons.Migrate, enrich.Migrate} {
			require.NoError(t, migrate(t.Context(), db))
		}
		w := newWorld(t.Context(), t, db)
		w.fill()
		require.NoError(t, statistics.Migrate(t.Context(), db))
		p, err := w.store().Progress(t.Context(), w.account)
		require.NoError(t, err)
		require.Equal(t, statistics.Progress{Days: 1}, p)
		w.count()
		require.NotEmpty(t, w.stored())
		require.Equal(t, w.full(), w.stored())

		drop := "DROP TRIGGER statistics_1_message_insert"
		if string(db.Dialect()) == "postgres" {
			drop += " ON messages"
		}
		w.exec(drop)
		w.message("unseen@example.org", "[]", at(3))
		w.count()
		require.NotEqual(t, w.full(), w.stored(), "nobody has marked the day")
		for range 2 {
			require.NoError(t, statistics.Migrate(t.Context(), db))
		}
		require.Equal(t, 1, w.rows("statistics_marks"), "the second call finds the trigger")
		w.count()
		require.Equal(t, w.full(), w.stored())
	})
}

// fill makes something of each kind.
func (w *world) fill() (action string) {
	w.Helper()
	message := w.message("ada@example.org", `["INBOX"]`, at(0))
	w.enrich(message, "work", 0.9, at(0))
	action = w.action(message, byRule, "completed", at(2))
	w.request(w.action(message, decided{source: "llm", model: "m", kind: "archive", confidence: 0.7}, "rejected", at(26)),
		"rejected", at(1), at(26))
	w.undo(action, action, at(30))
	w.feedback(message, action, "moved_back", 1, at(40))
	return action
}

func TestEachDimensionHasItsNames(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newTestWorld(t, db)
		w.fill()
		w.message("ben@example.org", `["INBOX"]`, at(1))
		w.message("ben@example.org", `["SENT"]`, at(1))
		w.count()
		for dimension, groups := range map[statistics.Dimension][]string{
			statistics.Sender:     {"ada@example.org  1", "ben@example.org  1"},
			statistics.Category:   {"work  1"},
			statistics.Rule:       {"News corrected 1"},
			statistics.Model:      {"m corrected 1"},
			statistics.Act:        {"moved_back  1", "rejected  1", "undone  1"},
			statistics.ActionTime: {"deterministic alone 1"},
			statistics.AnswerTime: {"rejected  1"},
		} {
			require.Equal(t, groups, w.groups(statistics.Filter{Dimension: dimension}), dimension)
		}
		r, err := w.store().Read(t.Context(), statistics.Filter{Accounts: []string{w.account},
			Dimension: statistics.ActionTime})
		require.NoError(t, err)
		require.Equal(t, int64(2*time.Hour/time.Millisecond), r.Groups[0].Total)
		require.InDelta(t, 2.2, r.Groups[0].Within(0.5).Hours(), 0.25)
		r, err = w.store().Read(t.Context(), statistics.Filter{Accounts: []string{w.account}, Dimension: statistics.Category})
		require.NoError(t, err)
		require.InDelta(t, 0.9, r.Groups[0].MeanConfidence(), 1e-9)
		require.Equal(t, map[int]int64{9: 1}, r.Groups[0].Bins)
	})
}

func TestTheLargestSendersAreRead(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newTestWorld(t, db)
		hostile := strings.Repeat("ü", 400) + "@example.org"
		for from, n := range map[string]int{"ada@example.org": 3, "ben@example.org": 2, hostile: 1} {
			for range n {
				w.message(from, "[]", at(0))
			}
		}
		other := newWorld(t.Context(), t, db)
		other.message("theirs@example.org", "[]", at(0))
		w.count()
		r, err := w.store().Read(t.Context(), statistics.Filter{Accounts: []string{w.account}, Dimension: statistics.Sender,
			Limit: 2})
		require.NoError(t, err)
		require.EqualValues(t, 6, r.N, "also of those beyond the limit, and not of another account")
		require.Len(t, r.Groups, 2)
		require.Equal(t, "ben@example.org", r.Groups[1].Name)
		none, err := w.store().Read(t.Context(), statistics.Filter{Dimension: statistics.Sender})
		require.NoError(t, err)
		require.Zero(t, none, "without an account")
		for _, wrong := range []statistics.Filter{{}, {Dimension: "size"}, {Dimension: statistics.Act, Limit: -1}} {
			_, err := w.store().Read(t.Context(), wrong)
			require.Error(t, err)
		}
	})
}

// However a time is divided into years, months and days, each of its days is read once.
func TestATimeIsTheSumOfItsDays(t *testing.T) {
	db := dbtest.SQLite(t)
	w := newTestWorld(t, db)
	first := time.Date(2023, 11, 29, 0, 0, 0, 0, time.UTC)
	const days = 830
	for i := range days {
		d := first.AddDate(0, 0, i)
		for _, p := range []struct{ span, day string }{{"day", d.Format(time.DateOnly)}, {"month", d.Format("2006-01-01")},
			{"year", d.Format("2006") + "-01-01"}} {
			if p.span == "month" {
				p.day = d.Format("2006-01") + "-01"
			}
			w.exec(`INSERT INTO statistics VALUES ($1, 'act', $2, $3, 'undone', '', 0, 1, 0) ON CONFLICT DO UPDATE
				SET n = n + 1`, w.account, p.span, p.day)
		}
	}
	rapid.Check(t, func(r *rapid.T) {
		from := rapid.IntRange(0, days).Draw(r, "from")
		to := rapid.IntRange(0, days).Draw(r, "to")
		f := statistics.Filter{Accounts: []string{w.account}, Dimension: statistics.Act, From: first.AddDate(0, 0, from),
			To: first.AddDate(0, 0, to)}
		wanted := max(0, to-from)
		if rapid.Bool().Draw(r, "always") {
			f.From, wanted = time.Time{}, to
		}
		if rapid.Bool().Draw(r, "still") {
			f.To = time.Time{}
			wanted += days - to
			if !f.From.IsZero() {
				wanted = days - from
			}
		}
		result, err := w.store().Read(context.Background(), f)
		require.NoError(r, err)
		require.EqualValues(r, wanted, result.N)
	})
}

func TestARemovedAccountLeavesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newTestWorld(t, db)
		w.fill()
		w.count()
		w.message("late@example.org", "[]", at(0))
		w.exec(`UPDATE accounts SET state = 'removing' WHERE id = $1`, w.account)
		forget := func() {
			require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
				return statistics.Forget(ctx, tx, w.account)
			}))
		}
		// The account is forgotten while it is counted, and what is written late is not counted any more.
		require.NoError(t, storeOf(t, &disturbed{DB: db, before: forget}).Count(t.Context()))
		w.exec(`DELETE FROM messages WHERE account_id = $1`, w.account)
		w.exec(`DELETE FROM feedback WHERE account_id = $1`, w.account)
		w.exec(`DELETE FROM enrichments WHERE account_id = $1`, w.account)
		require.Zero(t, w.rows("statistics_marks"), "nobody marks the days of an account that is being removed")
		w.exec(`DELETE FROM accounts WHERE id = $1`, w.account)
		w.action("gone", byRule, "failed", at(0))
		require.Equal(t, 1, w.rows("statistics_marks"))
		w.count()
		for _, table := range []string{"statistics", "statistics_marks", "statistics_accounts"} {
			require.Zero(t, w.rows(table), table)
		}
	})
}

// Two transactions that change the same day do not wait for each other.
func TestWritersDoNotWaitForEachOther(t *testing.T) {
	db := dbtest.Postgres(t)
	w := newTestWorld(t, db)
	first, second := w.message("ada@example.org", "[]", at(0)), w.message("ada@example.org", "[]", at(0))
	remove := func(ctx context.Context, tx queue.Tx, id string) error {
		_, err := dbquery.Exec(ctx, tx, `UPDATE messages SET deleted_at = created_at WHERE id = $1`, id)
		return err
	}
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		if err := remove(ctx, tx, first); err != nil {
			return err
		}
		inner, err := db.Reader().BeginTxx(ctx, nil) // another connection
		if err != nil {
			return err
		}
		_, err = inner.ExecContext(ctx, `SET LOCAL lock_timeout = '5s'`)
		if err == nil {
			err = remove(ctx, inner, second)
		}
		return errors.Join(err, inner.Commit())
	}))
	w.count()
	require.Equal(t, w.full(), w.stored())
}

func TestTheJobCountsWhatIsMarked(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newTestWorld(t, db)
		w.fill()
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		require.NoError(t, q.SetSchedule(t.Context(), statistics.Schedule()))
		for range 2 {
			_, err := q.Enqueue(t.Context(), statistics.NewJob())
			require.NoError(t, err)
		}
		jobs, err := q.Jobs(t.Context(), queue.Filter{Types: []string{string(statistics.Job)}, Limit: 10})
		require.NoError(t, err)
		require.Len(t, jobs, 1)
		queuetest.Work(t, q, func(d *queue.Dispatcher) { require.NoError(t, w.store().Register(d)) })
		require.Equal(t, w.full(), w.stored())
		p, err := w.store().Progress(t.Context(), w.account)
		require.NoError(t, err)
		require.Zero(t, p.Days)
		require.False(t, p.CountedAt.IsZero())
	})
}

// A day of a mailbox with a million messages is counted by indexes, and so is what is read.
func TestPlansUseIndexes(t *testing.T) {
	db := dbtest.SQLite(t)
	for query, args := range statistics.Queries() {
		var plan []struct {
			ID, Parent, NotUsed int
			Detail              string
		}
		require.NoError(t, dbquery.Select(t.Context(), db.Reader(), &plan, "EXPLAIN QUERY PLAN "+query, args...))
		for _, p := range plan {
			require.NotRegexp(t, `^SCAN (\w+)$`, strings.ReplaceAll(p.Detail, "SCAN parts", "parts"), query)
		}
		all := fmt.Sprint(plan)
		if strings.Contains(query, "FROM messages") {
			require.Contains(t, all, "messages_received", query)
		}
	}
}

// After an import, how far it is counted is told from few of the marks, and never that all is counted.
func TestProgressReadsFewMarks(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, statistics.Migrate(t.Context(), db))
		w := newWorld(t.Context(), t, db)
		require.NoError(t, w.store().Count(t.Context()))
		at, err := w.store().Progress(t.Context(), w.account)
		require.NoError(t, err)
		require.Zero(t, at.Days)
		w.exec(`INSERT INTO statistics_marks (account_id, day)
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT 'another', '2026-01-01' FROM n`)
		w.exec(`INSERT INTO statistics_marks (account_id, day) VALUES ($1, '2026-01-01'), ($1, '2026-01-02')`, w.account)
		at, err = w.store().Progress(t.Context(), w.account)
		require.NoError(t, err)
		require.Equal(t, 1, at.Days)
		w.exec(`DELETE FROM statistics_marks WHERE account_id = 'another'`)
		at, err = w.store().Progress(t.Context(), w.account)
		require.NoError(t, err)
		require.Equal(t, 2, at.Days)
	})
}

// A day with many changes is written in parts, so that other writers wait for none of them long; after a part that
// cannot be written it goes on from there.
func TestADayWithManyChangesIsWrittenInParts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newTestWorld(t, db)
		for i := range 1600 {
			w.message(fmt.Sprintf("s%d@example.org", i), "[]", at(0))
		}
		failing := &failingDB{DB: db, fails: 3}
		require.ErrorIs(t, storeOf(t, failing).Count(t.Context()), errDown)
		require.Equal(t, 2*500, len(w.stored())/3, "of the day, its month and its year")
		w.count()
		require.Equal(t, w.full(), w.stored())
		require.Zero(t, w.rows("statistics_marks"))
	})
}

var errDown = errors.New("the database is down")

// failingDB refuses the write with a number.
type failingDB struct {
	queue.DB
	fails, writes int
}

func (f *failingDB) Write(ctx context.Context, fn func(ctx context.Context, tx queue.Tx) error) error {
	if f.writes++; f.writes == f.fails {
		return errDown
	}
	return f.DB.Write(ctx, fn)
}
