package statistics_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/statistics"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// Messages from $2 to $3 of a million in ten years.
const sqlTenYears = `
INSERT INTO messages (id, account_id, thread_id, provider_message_id, history_id, labels_json, rfc_message_id,
  in_reply_to, references_json, from_name, from_email, from_key, recipients_json, subject, snippet, headers_json,
  body_plain, body_html, attachments_json, size, received_at, created_at, updated_at)
WITH RECURSIVE n(i) AS (SELECT $2 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $3)
SELECT $1 || i, $1, $1, CAST(i AS TEXT), 1, '["INBOX"]', '', '', '[]', '', (SELECT name FROM names WHERE id = i % 199999),
  NULL, '[]', '', '', '{}', '', '', '[]', 1, strftime('%Y-%m-%dT%H:%M:%S.000000Z', 1450000000 + i * 315, 'unixepoch'),
  '2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.000000Z'
FROM n`

// nameSenders makes 20,000 senders, of whom few write much.
func (w *world) nameSenders() {
	w.Helper()
	z := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.05, 20, 20_000)
	w.exec(`CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT NOT NULL)`)
	require.NoError(w, w.db.Write(w.ctx, func(ctx context.Context, tx queue.Tx) error {
		for i := range 200_000 {
			_, err := dbquery.Exec(ctx, tx, `INSERT INTO names VALUES ($1, $2)`, i, fmt.Sprintf("s%d@example.org", z.Uint64()))
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

// BenchmarkTenYears measures the first count of a large mailbox, and reading it.
func BenchmarkTenYears(b *testing.B) {
	const messages = 1_000_000
	db := dbtest.SQLite(b)
	require.NoError(b, statistics.Migrate(b.Context(), db))
	w := newWorld(b.Context(), b, db)
	w.nameSenders()
	began := time.Now()
	for i := 0; i < messages; i += 20_000 {
		w.exec(sqlTenYears, w.account, i, i+20_000)
	}
	b.Logf("filled in %v", time.Since(began))
	w.exec(`DELETE FROM statistics_marks`)
	w.exec(`INSERT INTO statistics_marks (account_id, day) VALUES ($1, '')`, w.account)
	longest := &timed{DB: db}
	began = time.Now()
	require.NoError(b, storeOf(b, longest).Count(b.Context()))
	b.Logf("counted in %v, the longest write was %v", time.Since(began), longest.longest)
	for _, span := range []string{"day", "month", "year"} {
		var n int
		require.NoError(b, dbquery.Get(b.Context(), db.Reader(), &n,
			"SELECT COUNT(*) FROM statistics WHERE span = $1", span))
		b.Logf("%d rows of a %s", n, span)
	}
	for name, f := range map[string]statistics.Filter{
		"always": {}, "most-of-it": {From: time.Date(2016, 2, 15, 0, 0, 0, 0, time.UTC),
			To: time.Date(2025, 11, 17, 0, 0, 0, 0, time.UTC)},
		"30-days": {From: time.Date(2016, 3, 15, 0, 0, 0, 0, time.UTC), To: time.Date(2016, 4, 14, 0, 0, 0, 0, time.UTC)},
	} {
		b.Run(name, func(b *testing.B) {
			f.Accounts, f.Dimension, f.Limit = []string{w.account}, statistics.Sender, 20
			for b.Loop() {
				r, err := w.store().Read(b.Context(), f)
				require.NoError(b, err)
				require.Len(b, r.Groups, 20)
			}
		})
	}
	b.Run("one-more", func(b *testing.B) {
		for i := range b.N {
			w.message(fmt.Sprintf("new%d@example.org", i), "[]", at(0))
			w.count()
		}
	})
}

// timed is a database that knows the longest write.
type timed struct {
	queue.DB
	longest time.Duration
}

func (t *timed) Write(ctx context.Context, fn func(ctx context.Context, tx queue.Tx) error) error {
	began := time.Now()
	err := t.DB.Write(ctx, fn)
	t.longest = max(t.longest, time.Since(began))
	return err
}
