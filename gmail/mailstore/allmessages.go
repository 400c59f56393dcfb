package mailstore

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
)

// A MessageRange selects stored messages of an account by when Gmail received them; see [Store.AllMessages].
type MessageRange struct {
	// Since excludes messages received before it, and Until those received at it or later. Zero: no bound.
	Since, Until time.Time
	// SkipLabels leaves out messages that carry one of these labels, by their ids. Default nil: none is left out.
	SkipLabels []string
	// Senders selects the messages from one of these addresses, in the form in which package rules compares addresses.
	// Default nil: those from anyone.
	Senders []string
	// NewestFirst reverses the order.
	NewestFirst bool
	// WithoutBodies leaves BodyPlain and BodyHTML empty, which is faster.
	WithoutBodies bool
}

// allMessagesBatch is how many messages are in memory besides the one that is yielded.
const allMessagesBatch = 200

// AllMessages yields the stored messages of an account, oldest first by default, without those that were deleted at
// Gmail and those of [Store.Inserted]. It reads them in batches, each as committed by then: no transaction stays open
// while the caller works. An error is yielded last.
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
	if len(r.Senders) == 0 {
		filter.Add("m.deleted_at IS NULL")
	} else {
		filter.Add(maildb.NotDeleted) // without the indexes of all that is not deleted: that of senders is left
	}
	filter.Add("NOT EXISTS (SELECT 1 FROM inserted_messages i WHERE i.message_id = m.id)")
	r.addTime(&filter, after)
	r.addSenders(&filter)
	order := "\nORDER BY COALESCE(m.received_at, m.created_at), m.id\nLIMIT "
	if r.NewestFirst {
		order = "\nORDER BY COALESCE(m.received_at, m.created_at) DESC, m.id DESC\nLIMIT "
	}
	query := sqlSearch
	if r.WithoutBodies {
		query = sqlSearchBare
	}
	order += filter.Arg(allMessagesBatch)
	return selectFound(ctx, s.db.Reader(), query+filter.Where()+order, filter.Args...)
}

// addTime adds the bounds of the messages after a place. SQLite reads an index from there by a condition on the time
// alone.
func (r *MessageRange) addTime(filter *maildb.Filter, after place) {
	begins, goesOn := after.id == "", ">"
	if r.NewestFirst {
		goesOn = "<"
	}
	if !r.Since.IsZero() && (begins || r.NewestFirst) {
		filter.Add("COALESCE(m.received_at, m.created_at) >= %s", dbtime.Of(r.Since))
	}
	if !r.Until.IsZero() && (begins || !r.NewestFirst) {
		filter.Add("COALESCE(m.received_at, m.created_at) < %s", dbtime.Of(r.Until))
	}
	if !begins {
		filter.Add("COALESCE(m.received_at, m.created_at) "+goesOn+"= %s", dbtime.Of(after.at))
		filter.Add("(COALESCE(m.received_at, m.created_at), m.id) "+goesOn+" (%s, %s)", dbtime.Of(after.at), after.id)
	}
}

// addSenders compares what the index messages_sender has, and the whole addresses.
func (r *MessageRange) addSenders(filter *maildb.Filter) {
	if len(r.Senders) == 0 {
		return
	}
	var indexed, whole []string
	for _, sender := range r.Senders {
		arg := filter.Arg(dbvalue.Clean(sender)) // as what is stored
		indexed = append(indexed, "SUBSTR(CAST("+arg+" AS TEXT), 1, 320)")
		whole = append(whole, arg)
	}
	filter.Add("SUBSTR(COALESCE(m.from_key, LOWER(m.from_email)), 1, 320) IN (" + strings.Join(indexed, ", ") + ")")
	filter.Add("COALESCE(m.from_key, LOWER(m.from_email)) IN (" + strings.Join(whole, ", ") + ")")
}
