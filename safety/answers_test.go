package safety

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// Of an approval and a rejection of one request that two programs give at once, one stands, and the other learns which.
func TestAnApprovalAndARejectionAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		var mu sync.Mutex
		answered := map[string]int{}
		d := newDesk(t, db, func(c *Config) {
			c.Execute = func(context.Context, queue.Tx, postroom.Action) error { return nil }
			c.OnAnswer = func(_ context.Context, _ queue.Tx, r Approval) error {
				mu.Lock()
				defer mu.Unlock()
				answered[r.ActionID]++
				return nil
			}
		})
		other, err := NewLedger(*d.ledger.cfg)
		require.NoError(t, err)
		for i := range 10 {
			// After the third the requests are a group, whose lock both answers take as well.
			a := d.record(received("ann@example.com"), model(postroom.Trash, 1))
			begin := make(chan struct{})
			results := [2]error{}
			var wg sync.WaitGroup
			for n, answer := range []func(ctx context.Context, tx queue.Tx) (postroom.Action, error){
				func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
					return d.ledger.Approve(ctx, tx, a.ID, "ann")
				},
				func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
					return other.Reject(ctx, tx, a.ID, "bob", "no")
				},
			} {
				wg.Go(func() {
					<-begin
					results[n] = db.Write(context.Background(), func(ctx context.Context, tx queue.Tx) error {
						_, err := answer(ctx, tx)
						return err
					})
				})
			}
			close(begin)
			wg.Wait()

			approved := results[0] == nil
			require.NotEqual(t, approved, results[1] == nil, "request %d: one of them stands: %v", i, results)
			lost, outcome, state := results[0], OutcomeRejected, postroom.ActionRejected
			if approved {
				lost, outcome, state = results[1], OutcomeApproved, postroom.ActionQueued
			}
			var late *StateError
			require.ErrorAs(t, lost, &late)
			require.Equal(t, outcome, late.Answer.Outcome)
			require.Equal(t, state, d.get(a.ID).State)
			requests, err := d.ledger.ApprovalsOf(t.Context(), a.ID)
			require.NoError(t, err)
			require.Len(t, requests, 1)
			require.Equal(t, outcome, requests[0].Outcome)
			require.Equal(t, 1, answered[a.ID], "one answer is handed on")
		}
	})
}
