package mailstore

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/gmail/mailindex"
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

// AllMessages yields the stored messages of an account, oldest first, without those that were deleted at Gmail and
// those of [Store.Inserted]. It reads them in batches, each as committed by then: no transaction stays open while the
// caller works. An error is yielded last.
func (s *Store) AllMessages(ctx context.Context, accountID string, r MessageRange) iter.Seq2[*postroom.Message, error] {
	return func(yield func(*postroom.Message, error) bool) {
		var after place
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
			after = place{last.At, last.ID}
		}
	}
}

// A place is one in the order of all messages. No message has the zero place.
type place struct {
	at time.Time
	id string
}

func (s *Store) messagesAfter(ctx context.Context, accountID string, r MessageRange,
	after place) ([]mailindex.Message, error) {
	var filter maildb.Filter
	filter.Add("m.account_id = %s", accountID)
	filter.Add("m.deleted_at IS NULL")
	filter.Add("NOT EXISTS (SELECT 1 FROM inserted_messages i WHERE i.message_id = m.id)")
	if !r.Since.IsZero() && after.id == "" {
		filter.Add("COALESCE(m.received_at, m.created_at) >= %s", dbtime.Of(r.Since))
	}
	if !r.Until.IsZero() {
		filter.Add("COALESCE(m.received_at, m.created_at) < %s", dbtime.Of(r.Until))
	}
	if after.id != "" {
		filter.Add("COALESCE(m.received_at, m.created_at) >= %s", dbtime.Of(after.at))
		filter.Add("(COALESCE(m.received_at, m.created_at), m.id) > (%s, %s)", dbtime.Of(after.at), after.id)
	}
	order := "\nORDER BY COALESCE(m.received_at, m.created_at), m.id\nLIMIT " + filter.Arg(allMessagesBatch)
	return indexedMail{s}.Messages(ctx, s.db.Reader(), filter.Where()+order, filter.Args...)
}
