package gmail

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
)

// A MessageRange selects stored messages of an account by when Gmail received them; see [Store.AllMessages].
type MessageRange struct {
	// Since excludes messages received before it, and Until those received at it or later. Zero: no bound.
	Since, Until time.Time
	// SkipLabels leaves out messages that carry one of these labels, by their ids. Default nil: none is left out.
	SkipLabels []string
}

// allMessagesBatch is how many messages are in memory besides the one that is yielded.
const allMessagesBatch = 200

// AllMessages yields the stored messages of an account, oldest first, without those that were deleted at Gmail. It reads them in
// batches, each as committed by then: no transaction stays open while the caller works. An error is yielded last.
func (s *Store) AllMessages(ctx context.Context, accountID string, r MessageRange) iter.Seq2[*postroom.Message, error] {
	return func(yield func(*postroom.Message, error) bool) {
		var after searchCursor
		for {
			batch, err := s.messagesAfter(ctx, accountID, r, after)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, m := range batch {
				if !slices.ContainsFunc(r.SkipLabels, m.HasLabel) && !yield(m.Message, nil) {
					return
				}
			}
			if len(batch) < allMessagesBatch {
				return
			}
			last := batch[len(batch)-1]
			after = searchCursor{last.at, last.ID}
		}
	}
}

func (s *Store) messagesAfter(ctx context.Context, accountID string, r MessageRange, after searchCursor) ([]searchedMessage, error) {
	var filter searchFilter
	filter.add("m.account_id = %s", accountID)
	filter.add("m.deleted_at IS NULL")
	if !r.Since.IsZero() && after.isZero() {
		filter.add("COALESCE(m.received_at, m.created_at) >= %s", dbtime.Of(r.Since))
	}
	if !r.Until.IsZero() {
		filter.add("COALESCE(m.received_at, m.created_at) < %s", dbtime.Of(r.Until))
	}
	if !after.isZero() {
		filter.add("COALESCE(m.received_at, m.created_at) >= %s", dbtime.Of(after.at))
		filter.add("(COALESCE(m.received_at, m.created_at), m.id) > (%s, %s)", dbtime.Of(after.at), after.id)
	}
	limit := filter.arg(allMessagesBatch)
	return readMessages(ctx, s.db.Reader(), sqlSearch+filter.where()+"\nORDER BY COALESCE(m.received_at, m.created_at), m.id\nLIMIT "+limit, filter.args)
}

// readMessages reads messages by a query that begins with sqlSearch.
func readMessages(ctx context.Context, q dbquery.Querier, query string, args []any) ([]searchedMessage, error) {
	var rows []struct {
		messageRow
		At dbtime.Time `db:"at"`
	}
	if err := dbquery.Select(ctx, q, &rows, query, args...); err != nil {
		return nil, fmt.Errorf("gmail: search: %w", err)
	}
	batch := make([]searchedMessage, len(rows))
	for i := range rows {
		m, err := rows[i].message()
		if err != nil {
			return nil, err
		}
		batch[i] = searchedMessage{m, rows[i].At.Time}
	}
	return batch, nil
}
