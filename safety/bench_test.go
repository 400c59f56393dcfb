package safety

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// BenchmarkAction is an action from its decision to its end, in three transactions.
func BenchmarkAction(b *testing.B) {
	for engine, open := range map[string]func(testing.TB) queue.DB{
		"sqlite":   func(t testing.TB) queue.DB { return dbtest.SQLite(t) },
		"postgres": func(t testing.TB) queue.DB { return dbtest.Postgres(t) },
	} {
		b.Run(engine, func(b *testing.B) {
			db := open(b)
			require.NoError(b, Migrate(b.Context(), db))
			ledger, err := NewLedger(Config{
				DB: db, Kinds: everyKind(), Execute: func(context.Context, queue.Tx, postroom.Action) error { return nil },
			})
			require.NoError(b, err)
			d := &desk{t: b, db: db, ledger: ledger, now: time.Now()}
			for i := 0; b.Loop(); i++ {
				d.now = d.now.Add(time.Microsecond)
				a := d.record(message("a@example.com"), rule(postroom.Archive, ""))
				_, err := d.start(a.ID, fmt.Sprint("job-", i))
				require.NoError(b, err)
				require.NoError(b, d.complete(a.ID, postroom.UndoHint{}))
			}
		})
	}
}
