package safety

import (
	"context"
	"fmt"
	"strconv"
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

// BenchmarkVerifyAudit compares a ledger of 10,000 actions with its log.
func BenchmarkVerifyAudit(b *testing.B) {
	db := dbtest.SQLite(b)
	require.NoError(b, Migrate(b.Context(), db))
	ledger, err := NewLedger(Config{DB: db, Execute: func(context.Context, queue.Tx, postroom.Action) error { return nil }})
	require.NoError(b, err)
	require.NoError(b, db.Write(b.Context(), func(ctx context.Context, tx queue.Tx) error {
		for range 10_000 {
			if _, err := ledger.Record(ctx, tx, message("a@example.com"), rule(postroom.Archive, "")); err != nil {
				return err
			}
		}
		return nil
	}))
	for b.Loop() {
		found, err := ledger.VerifyAudit(b.Context(), nil)
		require.NoError(b, err)
		require.Empty(b, found.Faults)
	}
}

// BenchmarkCheckRule is what the decision of a rule takes longer for the rule to be compared with the log.
func BenchmarkCheckRule(b *testing.B) {
	for engine, open := range map[string]func(testing.TB) queue.DB{
		"sqlite":   func(t testing.TB) queue.DB { return dbtest.SQLite(t) },
		"postgres": func(t testing.TB) queue.DB { return dbtest.Postgres(t) },
	} {
		b.Run(engine, func(b *testing.B) {
			db := open(b)
			require.NoError(b, Migrate(b.Context(), db))
			ledger, err := NewLedger(Config{DB: db, Execute: func(context.Context, queue.Tx, postroom.Action) error { return nil }})
			require.NoError(b, err)
			state := postroom.RuleState{Kind: postroom.RuleKindRule, ID: "rule-7", State: postroom.RuleEnabled, Digest: "0f"}
			require.NoError(b, db.Write(b.Context(), func(ctx context.Context, tx queue.Tx) error {
				for i := range 2000 {
					s := state
					s.ID = fmt.Sprint("rule-", i%100)
					s.Digest = strconv.Itoa(i / 100)
					if err := ledger.LogRules(ctx, tx, s); err != nil {
						return err
					}
					if _, err := ledger.Record(ctx, tx, message("a@example.com"), rule(postroom.Archive, "")); err != nil {
						return err
					}
				}
				return ledger.LogRules(ctx, tx, state)
			}))
			require.NoError(b, db.Write(b.Context(), func(ctx context.Context, tx queue.Tx) error {
				for b.Loop() {
					if fault, err := ledger.CheckRule(ctx, tx, state); err != nil || fault != "" {
						return fmt.Errorf("%s, %w", fault, err)
					}
				}
				return nil
			}))
		})
	}
}
