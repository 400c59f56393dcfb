// Package groups joins requests for approval that a person answers together: one notification for many messages.
//
// A group belongs to an account and a key, such as the sender, and lasts a day from its first request. It is named by
// the first request in it.
package groups

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// Window is how long a group takes in requests.
const Window = 24 * time.Hour

// AllAlone is an Alone of which none form a group: they are only counted.
const AllAlone = math.MaxInt32

// A Kind is the requests that belong together.
type Kind struct {
	AccountID string
	// Key tells the kinds of an account apart. An empty key joins nothing.
	Key string
	// Sender is the one of several senders that share the Key; see [Kind.OfSender]. Default empty: it is not counted.
	Sender string
	// Alone is how many requests of a day stand alone before the others form a group.
	Alone int
}

// OfSender returns the part of a kind that is about one sender. Join counts it, and it forms no group of its own.
// Without a Sender it is the kind itself.
func (k Kind) OfSender() Kind {
	if k.Sender == "" {
		return k
	}
	return Kind{AccountID: k.AccountID, Key: k.Key + " " + k.Sender, Alone: AllAlone}
}

// Join counts a request and returns the id of its group; empty if it stands alone. The group of the first is its own
// id. Other transactions that join a group of the kind wait until this one ends.
func Join(ctx context.Context, tx queue.Tx, k Kind, requestID string) (group string, err error) {
	if k.Key == "" {
		return "", nil
	}
	now, first := queue.Now(tx), ""
	if k.Alone == 0 {
		first = requestID
	}
	if _, err := tx.ExecContext(ctx, deleteEnded, k.AccountID, dbtime.Of(now.Add(-Window))); err != nil {
		return "", fmt.Errorf("safety: end the groups of requests: %w", err)
	}
	err = dbquery.Get(ctx, tx, &group, join, k.AccountID, k.Key, dbtime.Of(now), first, k.Alone, requestID)
	if err != nil {
		return "", fmt.Errorf("safety: group request %s: %w", requestID, err)
	}
	if k.Sender != "" {
		_, err = Join(ctx, tx, k.OfSender(), requestID)
	}
	return group, err
}

// Count returns the number of requests of the kind within the day of its group, and when that day ends.
func Count(ctx context.Context, tx queue.Tx, k Kind) (n int, ends time.Time, err error) {
	var row struct {
		Requests int         `db:"requests"`
		OpenedAt dbtime.Time `db:"opened_at"`
	}
	err = dbquery.Get(ctx, tx, &row, count, k.AccountID, k.Key, dbtime.Of(queue.Now(tx).Add(-Window)))
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, ends, fmt.Errorf("safety: count grouped requests: %w", err)
	}
	return row.Requests, row.OpenedAt.Add(Window), nil
}

const (
	deleteEnded = `
DELETE FROM safety_groups
WHERE account_id = $1
  AND opened_at <= $2`

	join = `
INSERT INTO safety_groups (account_id, group_key, opened_at, requests, first_request)
VALUES ($1, $2, $3, 1, $4)
ON CONFLICT (account_id, group_key) DO UPDATE
SET requests = safety_groups.requests + 1,
  first_request = CASE
    WHEN safety_groups.first_request <> '' THEN safety_groups.first_request
    WHEN safety_groups.requests >= $5 THEN $6
    ELSE '' END
RETURNING first_request`

	count = `
SELECT requests, opened_at
FROM safety_groups
WHERE account_id = $1
  AND group_key = $2
  AND opened_at > $3`
)
