package archive_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/archive"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

func TestMonthsAreCountedByWhenGmailReceivedTheMail(t *testing.T) {
	eachWorld(t, func(w *world) {
		ids := []string{w.deliverAt("2026-10-31T23:59:59Z", letter(1)), w.deliverAt("2026-11-01T00:00:00Z", letter(2)),
			w.deliverAt("2026-11-30T23:59:59Z", letter(3))}
		w.keep()
		require.NoError(w, w.server.Person().Delete(w.Context(), ids[1]))
		w.keep()
		require.NoError(w, os.Remove(w.object(ids[2])))
		w.run(archive.NewVerifyJob(w.account, true))
		months, err := w.archive.Months(w.Context(), w.account)
		require.NoError(w, err)
		size := int64(len(letter(1)))
		require.Equal(w, []archive.Month{{Month: "2026-11", Messages: 2, Bytes: 2 * size, Gone: 1, Faults: 1},
			{Month: "2026-10", Messages: 1, Bytes: size}}, months)
		none, err := w.archive.Months(w.Context(), "nobody")
		require.NoError(w, err)
		require.Empty(w, none)
	})
}

// kept is a row of archive_months.
type kept struct {
	AccountID   string `db:"account_id"`
	Month       string `db:"month"`
	Messages    int    `db:"messages"`
	Bytes       int64  `db:"bytes"`
	Gone        int    `db:"gone"`
	Faults      int    `db:"faults"`
	Unverified  int    `db:"unverified"`
	Removed     int    `db:"removed"`
	RemovedGone int    `db:"removed_gone"`
}

// What is kept of months is what a count of the messages finds, as the migration counts them, after each way to insert,
// change and delete them. Months without a message go.
func TestWhatIsKeptOfMonthsIsWhatThereIs(t *testing.T) {
	eachWorld(t, func(w *world) {
		exec := func(statement string, args ...any) {
			w.Helper()
			require.NoError(w, w.db.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
				_, err := dbquery.Exec(ctx, tx, statement, args...)
				return err
			}), statement)
		}
		months := func() (list []kept) {
			w.Helper()
			require.NoError(w, dbquery.Select(w.Context(), w.db.Reader(), &list,
				"SELECT * FROM archive_months ORDER BY account_id, month")) //nolint:unqueryvet // all that is kept
			return list
		}
		recount := recountOf(w)
		at := func(text string) any {
			of, err := time.Parse(time.DateOnly, text)
			require.NoError(w, err)
			return dbtime.Of(of)
		}
		insert := func(account, id string, size int, received any, state string, verified any, fault string, removed int) {
			w.Helper()
			exec("INSERT INTO archived_messages (account_id, message_id, thread_id, sha256, size, received_at, rfc_message_id, "+
				"labels_json, state, verified_at, fault, removed) VALUES ($1, $2, '', '', $3, $4, '', '[]', $5, $6, $7, $8)",
				account, id, size, received, state, verified, fault, removed)
		}
		november, december := at("2026-11-30"), at("2026-12-01")
		insert("a", "1", 10, november, "present", nil, "", 0)
		insert("a", "2", 20, november, "gone", november, "altered", 0)
		insert("a", "3", 30, december, "present", december, "", 0)
		insert("a", "4", 40, nil, "gone", nil, "", 2)
		insert("b", "1", 50, november, "present", nil, "", 0)
		require.Equal(w, []kept{{"a", "", 0, 0, 0, 0, 0, 1, 1}, {"a", "2026-11", 2, 30, 1, 1, 1, 0, 0},
			{"a", "2026-12", 1, 30, 0, 0, 0, 0, 0}, {"b", "2026-11", 1, 50, 0, 0, 1, 0, 0}}, months())
		for _, change := range []string{
			"UPDATE archived_messages SET fault = 'missing' WHERE message_id = '1'",
			"UPDATE archived_messages SET fault = 'altered' WHERE message_id = '1'",
			"UPDATE archived_messages SET fault = '', verified_at = received_at",
			"UPDATE archived_messages SET state = 'gone', size = size + 1 WHERE message_id = '3'",
			"UPDATE archived_messages SET removed = 1 WHERE message_id IN ('2', '3')",
			"UPDATE archived_messages SET removed = 2 WHERE removed = 1",
			"UPDATE archived_messages SET received_at = NULL WHERE message_id = '2'",
			"UPDATE archived_messages SET labels_json = '[\"X\"]'",
			"DELETE FROM archived_messages WHERE message_id = '1'",
		} {
			exec(change)
			found := months()
			require.NotEmpty(w, found)
			exec("DELETE FROM archive_months")
			exec(recount)
			require.Equal(w, months(), found, change)
		}
		exec("DELETE FROM archived_messages")
		require.Empty(w, months())
	})
}

// recountOf is the statement of the migration that counts what is there.
func recountOf(w *world) string {
	w.Helper()
	text, err := os.ReadFile(filepath.Join("migrations", string(w.db.Dialect()), "0003_months.sql"))
	require.NoError(w, err)
	for statement := range strings.SplitSeq(string(text), ";\n") {
		if statement = strings.TrimSpace(statement); strings.HasPrefix(statement, "INSERT INTO archive_months") {
			return statement
		}
	}
	w.Fatal("the migration counts nothing")
	return ""
}
