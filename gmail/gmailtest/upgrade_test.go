package gmailtest_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// firstState is a mailbox as version 1 of the tables holds it.
var firstState = []string{
	`INSERT INTO profile VALUES (1, 'Ann@example.com', 1009, 1000, 1)`,
	`INSERT INTO labels VALUES ('INBOX', 'INBOX', 'inbox', 'system', 'hide', 'labelHide', '', ''),
	('TRASH', 'TRASH', 'trash', 'system', 'hide', 'labelHide', '', ''), ('Label_1', 'Work', 'work', 'user', 'show', 'labelShow', '', '')`,
	`INSERT INTO messages VALUES ('b1', 'b1', 'x@example.com', 2000, 1002, 40, 'tea'), ('a2', 'b1', '', 1000, 1009, 40, '')`,
	`INSERT INTO message_raw VALUES ('b1', CAST('Message-ID: <x@example.com>' || char(10, 10) || 'tea' AS BLOB)), ('a2', X'0A')`,
	`INSERT INTO message_labels VALUES ('b1', 'INBOX'), ('b1', 'Label_1'), ('a2', 'TRASH')`,
	`INSERT INTO thread_references VALUES ('x@example.com', 'b1')`,
	`INSERT INTO history VALUES (1002, 'added', 'b1', 'b1', '["INBOX"]', '[]', '[]'), (1009, 'added', 'a2', 'b1', '["TRASH"]', '[]', '[]')`,
	`INSERT INTO imports VALUES ('b1', 'old', 1, '', '', '')`,
}

// writeFirstState makes the file of a mailbox of version 1.
func writeFirstState(t *testing.T, dir string) {
	t.Helper()
	const name = "migrations/sqlite/0001_gmailtest.sql"
	first, err := os.ReadFile(name)
	require.NoError(t, err)
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "gmailtest.db"), nil)
	require.NoError(t, err)
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		if err := migrate.Run(ctx, tx, "sqlite", "gmailtest", fstest.MapFS{name: {Data: first}}); err != nil {
			return err
		}
		for _, statement := range firstState {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	}))
	require.NoError(t, db.Close())
}

func TestAnOldMailboxIsUpgraded(t *testing.T) {
	dir := t.TempDir()
	writeFirstState(t, dir)
	server, err := gmailtest.Open(t.Context(), gmailtest.Config{Dir: dir, Email: "ann@example.com"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	users := client(t, server)

	require.Equal(t, "Ann@example.com", server.Email())
	list, err := users.Messages.List("me").Do()
	require.NoError(t, err)
	require.Len(t, list.Messages, 1, "trash is left out")
	list, err = users.Messages.List("me").Q("tea").Do()
	require.NoError(t, err)
	require.Len(t, list.Messages, 1, "old messages are searched too")
	message, err := users.Messages.Get("me", "b1").Do()
	require.NoError(t, err)
	require.Equal(t, []string{"INBOX", "Label_1"}, message.LabelIds)
	require.Equal(t, "dGVh", message.Payload.Body.Data)
	thread, err := users.Threads.Get("me", "b1").Do()
	require.NoError(t, err)
	require.Len(t, thread.Messages, 2)
	history, err := users.History.List("me").StartHistoryId(1002).Do()
	require.NoError(t, err)
	require.Len(t, history.History, 1)
	position, err := server.Position(t.Context(), "b1")
	require.NoError(t, err)
	require.Equal(t, 1, position)
	_, err = modify(users, "a2", []string{"Label_1"}, []string{"TRASH"})
	require.NoError(t, err)
	list, err = users.Messages.List("me").Do()
	require.NoError(t, err)
	require.Len(t, list.Messages, 2)
}
