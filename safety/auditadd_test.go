package safety

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// TestTheLogGoesOnWhereItEnds, whatever its ledger has written of it last.
func TestTheLogGoesOnWhereItEnds(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d, other := newDesk(t, db, keyed(1)), newDesk(t, db, keyed(1))
		d.completed()
		undone := errors.New("undone")
		require.ErrorIs(t, d.write(func(ctx context.Context, tx queue.Tx) error {
			_, err := d.ledger.Record(ctx, tx, message("a@example.com"), rule(postroom.Archive, ""))
			return errors.Join(err, undone)
		}), undone)
		d.completed()
		other.completed()
		d.completed()
		other.completed()
		require.Empty(t, d.faults(t))
	})
}

// TestAnEndThatIsPutBackIsNotFollowed by what this ledger has written last, also where all that is compared is the same but one.
func TestAnEndThatIsPutBackIsNotFollowed(t *testing.T) {
	for name, alter := range map[string]string{
		"number":        `UPDATE audit_lanes SET entries = entries - 1`,
		"signature":     `UPDATE audit_lanes SET mac = 'another'`,
		"another chain": `INSERT INTO audit_lanes (lane, entries, mac, seal) VALUES (2, 1, 'x', 'x')`,
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, dbtest.SQLite(t), keyed(1))
			d.completed()
			d.exec(alter)
			known, ok := d.ledger.lastEnd.get()
			require.True(t, ok)
			require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error {
				added, err := d.ledger.follow(ctx, tx, known, []AuditEntry{{Kind: auditEvent, Subject: "x"}})
				require.False(t, added)
				return err
			}))
		})
	}
}

// TestManyEntriesAreAddedAtOnce, also more than one statement takes.
func TestManyEntriesAreAddedAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, keyed(1))
		for n := range 2*maxEntries + 2 {
			states := make([]postroom.RuleState, n)
			for i := range states {
				states[i] = postroom.RuleState{Kind: postroom.RuleKindRule, ID: fmt.Sprintf("%d of %d", i, n), State: "enabled", Digest: "d"}
			}
			require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error { return d.ledger.LogRules(ctx, tx, states...) }))
			require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error {
				for _, s := range states {
					fault, err := d.ledger.CheckRule(ctx, tx, s)
					require.Empty(t, fault)
					require.NoError(t, err)
				}
				return nil
			}))
		}
		require.Empty(t, d.faults(t))
	})
}
