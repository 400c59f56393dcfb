package safety

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// TestAnOldStateIsNoLogThatWasCut: a transaction of the host's own may see what was there when it began, and the log has gone on since.
func TestAnOldStateIsNoLogThatWasCut(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		waits, sent := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID, d.forwarded()
		var level sql.IsolationLevel // SQLite has one only
		if db.Dialect() == "postgres" {
			level = sql.LevelRepeatableRead
		}
		approve := func(meanwhile func()) error {
			tx, err := db.Reader().BeginTx(t.Context(), &sql.TxOptions{Isolation: level})
			require.NoError(t, err)
			defer func() { require.NoError(t, tx.Rollback()) }()
			require.NoError(t, tx.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM actions`).Scan(new(int)))
			meanwhile()
			_, err = d.ledger.Approve(t.Context(), tx, waits, "ann")
			return err
		}
		d.saveAll()
		err := approve(func() { d.carriedOut(sent) })
		require.ErrorIs(t, err, ErrOldState)
		require.NotErrorIs(t, err, ErrLogCut)
		d.cutBack(sent)
		require.ErrorIs(t, approve(func() {}), ErrLogCut)
	})
}
