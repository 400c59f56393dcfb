package app

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// A mailbox is there until all that was kept of it is deleted: whoever removes it again after an interruption would
// otherwise find no mailbox, and what was learned from its mail would stay.
func TestARemovalThatIsInterruptedIsFinished(t *testing.T) {
	for engine, database := range map[string]func(t *testing.T) string{"sqlite": func(*testing.T) string { return "" },
		"postgres": func(t *testing.T) string { return dbtest.PostgresDSN(t) }} {
		t.Run(engine, func(t *testing.T) {
			h := openTestApp(t, "", func(c *config.Config) { c.Paths.Database = config.Database(database(t)) })
			id, err := h.AddAccount(t.Context(), sample.Owner)
			require.NoError(t, err)
			exec := func(statement string, args ...any) {
				t.Helper()
				require.NoError(t, h.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
					_, err := tx.ExecContext(ctx, statement, args...)
					return err
				}))
			}
			exec(`INSERT INTO voice_profiles (account_id, body, edited_by, version, mails, lessons, note)
VALUES ($1, 'Begins with Moin.', '', 1, 10, 0, '')`, id)

			for _, table := range []string{"old_mail", "tasks", "unsubscriptions", "replies", "reply_texts", "voice_lessons",
				"statistics"} {
				exec("ALTER TABLE " + table + " RENAME TO locked")
				require.Error(t, h.RemoveAccount(t.Context(), id, "ada"), table)
				exec("ALTER TABLE locked RENAME TO " + table)
				_, err := h.Mail.Account(t.Context(), id)
				require.NoError(t, err, table)
			}
			require.NoError(t, h.RemoveAccount(t.Context(), id, "ada"))
			_, err = h.Mail.Account(t.Context(), id)
			require.ErrorIs(t, err, postroom.ErrNotFound)
			var left int
			require.NoError(t, h.DB.Reader().GetContext(t.Context(), &left, "SELECT count(*) FROM voice_profiles"))
			require.Zero(t, left)
		})
	}
}
