package sqlite

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

// However long the log, the writer copies only the last pages of it in its turn; all others are copied beside it.
func TestLogIsCopiedBackBesideTheWriter(t *testing.T) {
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "test.db"),
		&Config{Durability: Normal, SingleProcess: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	exec := func(text string) {
		t.Helper()
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx driver.Tx) error {
			_, err := tx.ExecContext(ctx, text)
			return err
		}))
	}
	log := func() (frames, left int) {
		frames, left, err := walCheckpoint(t.Context(), db.engine.reader, "NOOP")
		require.NoError(t, err)
		return frames, left
	}
	finish := func() {
		db.engine.writer.askToFinish()
		for len(db.engine.writer.finishes) > 0 {
			exec("UPDATE blobs SET b = 1 WHERE FALSE")
		}
		exec("UPDATE blobs SET b = 1 WHERE FALSE") // the writer has finished before it began this
	}
	exec("CREATE TABLE blobs (b BLOB)")
	require.NoError(t, db.engine.checkpointer.close())
	for range 4 {
		exec("INSERT INTO blobs (b) VALUES (zeroblob(8000000))")
	}
	frames, left := log()
	long := frames
	require.Greater(t, left, 4*8_000_000/4096, "no commit has copied anything")
	finish()
	_, unfinished := log()
	require.GreaterOrEqual(t, unfinished, left, "it is not the writer's task")

	own := newConnections("file:"+db.engine.file.path, map[string][]string{"_synchronous": {"NORMAL"}},
		Config{BusyTimeout: time.Second})
	conn, err := own.beside(t.Context())
	require.NoError(t, err)
	db.engine.checkpointer = startCheckpointer(conn, db.engine.writer)
	for left > littleOf(frames) {
		_ = db.engine.checkpointer.checkpoint(t.Context()) // it may meet the writer, which finishes
		frames, left = log()
	}
	finish()
	exec("INSERT INTO blobs (b) VALUES (1)")
	again, _ := log()
	require.Less(t, again, long/10, "the log has begun anew")
}
