package safety

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// answered checks that the file has the last answer about an action, which a process that is killed now leaves behind.
func (d *desk) answered(t assert.TestingT, actionID string) {
	var lane int
	var entry int64
	err := d.db.Reader().QueryRow(`SELECT lane, entry FROM audit_entries WHERE kind = 'action' AND subject_id = $1 ORDER BY rev DESC LIMIT 1`, actionID).Scan(&lane, &entry)
	assert.NoError(t, err)
	again := &seenLog{path: d.ledger.cfg.SeenFile}
	_, _, err = again.now()
	assert.NoError(t, err)
	assert.GreaterOrEqual(t, again.end(lane).Entries, entry, "it can be taken back")
}

// TestAnswersOfOneCommitAreKept: several transactions may be committed at once, and others add to the log between answers.
func TestAnswersOfOneCommitAreKept(t *testing.T) {
	for name, order := range map[string][]int{"in their order": {0, 1, 2}, "the last first": {2, 1, 0}} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, db queue.DB) {
				d := newDesk(t, db, remembering(filepath.Join(t.TempDir(), "log.seen")))
				var ids []string
				for range order {
					ids = append(ids, d.record(message("a@example.com"), model(postroom.Delete, 1)).ID)
				}
				require.NoError(t, d.ledger.Remember(t.Context()))
				writes := make([]*driver.WriteTx, len(order))
				require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
					for i, id := range ids {
						writes[i] = driver.NewWriteTx(tx, db.Dialect(), d.now)
						_, err := d.ledger.Record(ctx, writes[i], message("a@example.com"), rule(postroom.Archive, ""))
						require.NoError(t, err)
						_, err = d.ledger.Reject(ctx, writes[i], id, "ann", "no")
						require.NoError(t, err)
						require.NoError(t, writes[i].Ending(ctx))
					}
					return nil
				}))
				for _, i := range order {
					writes[i].Committed()
					d.answered(t, ids[i])
				}
				require.Empty(t, d.ledger.seen.steps)
			})
		})
	}
}

// TestAnswersAreKeptBeforeWriteReturns, while rules decide.
func TestAnswersAreKeptBeforeWriteReturns(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, remembering(filepath.Join(t.TempDir(), "log.seen")))
		d.ledger.cfg.Execute, d.ledger.cfg.Ask = func(context.Context, queue.Tx, postroom.Action) error { return nil }, nil
		ids := make(chan string, 60)
		for range cap(ids) {
			ids <- d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		}
		close(ids)
		require.NoError(t, d.ledger.Remember(t.Context()))
		write := func(fn func(ctx context.Context, tx queue.Tx) (postroom.Action, error)) {
			assert.NoError(t, db.Write(context.Background(), func(ctx context.Context, tx queue.Tx) error {
				_, err := fn(ctx, tx)
				return err
			}))
		}
		stop := make(chan struct{})
		var mail, answers sync.WaitGroup
		for range 4 {
			mail.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					write(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
						return d.ledger.Record(ctx, tx, message("a@example.com"), rule(postroom.Archive, ""))
					})
				}
			})
			answers.Go(func() {
				for id := range ids {
					write(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
						return d.ledger.Reject(ctx, tx, id, "ann", "no")
					})
					d.answered(t, id)
				}
			})
		}
		answers.Wait()
		close(stop)
		mail.Wait()
	})
}
