package safety

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// TestWhatASavepointUndoesIsNotRemembered: a host may undo a part of a transaction of the queue's, and commit the rest.
func TestWhatASavepointUndoesIsNotRemembered(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, remembering(filepath.Join(t.TempDir(), "log.seen")))
		id := d.forwarded()
		rule := postroom.RuleState{Kind: postroom.RuleKindRule, ID: "rule 1", AccountID: "account-1", State: "enabled", Digest: "1"}
		require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error {
			for _, text := range []string{"SAVEPOINT part", "", "ROLLBACK TO SAVEPOINT part", "RELEASE SAVEPOINT part"} {
				if text == "" {
					_, err := d.ledger.Start(ctx, tx, id, "job-1")
					require.NoError(t, err)
					require.NoError(t, d.ledger.LogRules(ctx, tx, rule, rule))
					continue
				}
				if _, err := tx.ExecContext(ctx, text); err != nil {
					return err
				}
			}
			return nil
		}))
		require.NoError(t, d.ledger.Remember(t.Context()), "nothing was removed")
		d.restart()
		d.carriedOut(id)
		require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error {
			require.NoError(t, d.ledger.LogRules(ctx, tx, rule))
			fault, err := d.ledger.CheckRule(ctx, tx, rule)
			require.Empty(t, fault)
			return err
		}))
	})
}

// TestNobodyWritesWhileTheLogIsAccepted, or a chain would be set back to an end that it had a moment ago.
func TestNobodyWritesWhileTheLogIsAccepted(t *testing.T) {
	db := dbtest.Postgres(t)
	d, daemon := newDesk(t, db, keyed(1)), newDesk(t, db, keyed(1))
	d.forwarded()
	done := make(chan string, 1)
	require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error {
		require.NoError(t, d.ledger.AcceptLog(ctx, tx, "ann", "the disk broke"))
		go func() { done <- daemon.forwarded() }()
		requireBlocked(t, db, tx)
		return nil
	}))
	daemon.carriedOut(<-done)
	require.Empty(t, d.faults(t))
}

// TestProcessesShareALongFile: when one replaces it, what the others add to the old one at that moment is not lost.
func TestProcessesShareALongFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.seen")
	long := strings.Repeat("1:1:aa:bb .\n", longSeen/12+1)
	const keeps = 200
	head := func(lane int, n int64) AuditHead { return AuditHead{Lane: lane, Entries: n, MAC: "aa:bb"} }
	var processes sync.WaitGroup
	for lane := range 3 {
		processes.Go(func() {
			l := &seenLog{path: path}
			for n := range int64(keeps) {
				l.reach(head(lane, n+1), head(lane, n))
				assert.NoError(t, l.keep())
				if lane == 0 && n%10 == 0 {
					assert.NoError(t, appendTo(path, long))
				}
			}
		})
	}
	processes.Wait()
	again := &seenLog{path: path}
	ends, _, err := again.now()
	require.NoError(t, err)
	require.Subset(t, ends, []AuditHead{head(0, keeps), head(1, keeps), head(2, keeps)})
}

// TestALongFileThatCannotBeReplaced: it is added to: its directory may be read-only, or it is mounted by itself.
func TestALongFileThatCannotBeReplaced(t *testing.T) {
	file := filepath.Join(t.TempDir(), strings.Repeat("s", 250)) // a name beside it is too long
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("1:3:aa:bb .\n", longSeen/12+1)), 0o600))
	l := &seenLog{path: file}
	for range 2 {
		l.reach(AuditHead{Lane: 1, Entries: 5, MAC: "aa:cc"}, AuditHead{Lane: 1, Entries: 3, MAC: "aa:bb"})
		require.NoError(t, l.keep())
	}
	again := &seenLog{path: file}
	ends, _, err := again.now()
	require.NoError(t, err)
	require.Equal(t, []AuditHead{{Lane: 1, Entries: 5, MAC: "aa:cc"}}, ends)
}
