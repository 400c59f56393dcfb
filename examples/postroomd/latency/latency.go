// Package latency measures how long mail waits: from its arrival at Gmail until the first thing was done about it.
package latency

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// A Day has the latencies of the mail that came on one day.
type Day struct {
	From     time.Time
	Messages int           // about which something was done by now
	P50, P95 time.Duration // zero without messages
}

// maxActions bounds how many actions of a mailbox are looked at, the newest first.
const maxActions = 20_000

// ByDay measures the latencies of the mail of accounts on days that begin at the instants, which ascend; the last one
// is the end. Mail that came before its account was to be decided about does not count, nor does what a person did, or
// had done to many at once; what waited for an approval does, with its wait. Of each account the newest 20,000 actions
// are read.
func ByDay(ctx context.Context, db queue.DB, accounts []mailstore.Account, instants []time.Time) ([]Day, error) {
	days := make([]Day, max(0, len(instants)-1))
	if len(days) == 0 {
		return days, nil
	}
	waits := make([][]time.Duration, len(days))
	for i := range accounts {
		since := instants[0]
		if a := &accounts[i]; a.DecideSince.After(since) {
			since = a.DecideSince
		}
		rows, err := read(ctx, db, accounts[i].ID, since)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			day, found := slices.BinarySearchFunc(instants, row.Came.Time, time.Time.Compare)
			if !found {
				day--
			}
			if day < len(days) {
				waits[day] = append(waits[day], max(0, row.Done.Sub(row.Came.Time)))
			}
		}
	}
	for i := range days {
		slices.Sort(waits[i])
		days[i] = Day{From: instants[i], Messages: len(waits[i]), P50: percentile(waits[i], 50),
			P95: percentile(waits[i], 95)}
	}
	return days, nil
}

// percentile is the least value that so many percent of the sorted ones do not exceed.
func percentile(sorted []time.Duration, percent int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*percent+99)/100-1]
}

type wait struct {
	ID   string      `db:"id"` // of the message
	Came dbtime.Time `db:"came"`
	Done dbtime.Time `db:"done"`
}

// read returns the first action on each message.
func read(ctx context.Context, db queue.DB, accountID string, since time.Time) ([]wait, error) {
	var rows []wait
	err := dbquery.Select(ctx, db.Reader(), &rows, sqlWaits, accountID, dbtime.Of(since), postroom.BatchKeyPrefix+"%",
		maxActions)
	if err != nil {
		return nil, fmt.Errorf("measure how long mail waits: %w", err)
	}
	slices.Reverse(rows) // the oldest first
	seen := make(map[string]bool, len(rows))
	return slices.DeleteFunc(rows, func(w wait) bool {
		again := seen[w.ID]
		seen[w.ID] = true
		return again
	}), nil
}

// By the index actions_ended, in this order of the tables, which SQLite keeps for a CROSS JOIN. No action on a message
// ended before that came. The type of an undo is not that of its decision.
const sqlWaits = `
SELECT m.id, COALESCE(m.received_at, m.created_at) AS came, a.ended_at AS done
FROM actions a
CROSS JOIN decisions d
CROSS JOIN messages m
WHERE a.account_id = $1
  AND a.ended_at >= $2
  AND a.state = 'completed'
  AND d.id = a.decision_id
  AND d.action_type = a.type
  AND d.source IN ('deterministic', 'llm')
  AND d.decision_key NOT LIKE $3
  AND m.id = a.message_id
  AND COALESCE(m.received_at, m.created_at) >= $2
ORDER BY a.ended_at DESC
LIMIT $4`
