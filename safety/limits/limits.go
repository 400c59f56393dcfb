// Package limits bounds what is done without a person, whatever is decided: caps, breakers and quiet hours.
package limits

import (
	"context"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// A Query selects what is counted. Its fields are all required but Actions.
type Query struct {
	AccountID string
	Sources   []postroom.Source     // of the decisions
	Actions   []postroom.ActionType // nil: all except none
	Since     time.Time
	Most      int // counting ends there
}

// Counts counts what an account's actions have come to. The ledger implements it.
type Counts interface {
	// Unattended counts the decisions that have led to actions without a person.
	Unattended(ctx context.Context, tx queue.Tx, q Query) (int, error)
	// Failed and Undone count the actions of the first source that have failed or were undone.
	Failed(ctx context.Context, tx queue.Tx, q Query) (int, error)
	Undone(ctx context.Context, tx queue.Tx, q Query) (int, error)
	// Source returns the source of a decision.
	Source(ctx context.Context, tx queue.Tx, decisionID string) (postroom.Source, error)
}

// Lock makes other transactions that count for the account wait until this one ends.
func Lock(ctx context.Context, tx queue.Tx, accountID string) error {
	if _, err := tx.ExecContext(ctx, lockCount, accountID); err != nil {
		return fmt.Errorf("safety: count what was done without a person: %w", err)
	}
	return nil
}

const lockCount = `
INSERT INTO model_counts (account_id, counted)
VALUES ($1, 1)
ON CONFLICT (account_id) DO UPDATE
SET counted = model_counts.counted + 1`
