package archive

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
)

// A Selection selects archived messages. The zero Selection selects all.
type Selection struct {
	// Since excludes messages received before it, and Until those received at it or later. Zero: no bound. A message
	// without a time is in no bounds.
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
	// Label is the name of a label that the messages had when their state was last archived, in any case. Empty: any.
	Label string `json:"label,omitempty"`
	// GoneOnly selects the messages that Gmail no longer has.
	GoneOnly bool `json:"gone_only,omitempty"`
	// MessageIDs are Gmail's ids of the messages. Empty: any.
	MessageIDs []string `json:"message_ids,omitempty"`
}

func (s *Selection) selects(e *Entry) bool {
	switch {
	case s.GoneOnly && e.State != Gone,
		!s.Since.IsZero() && (e.ReceivedAt.IsZero() || e.ReceivedAt.Before(s.Since)),
		!s.Until.IsZero() && (e.ReceivedAt.IsZero() || !e.ReceivedAt.Before(s.Until)),
		len(s.MessageIDs) > 0 && !slices.Contains(s.MessageIDs, e.MessageID):
		return false
	}
	return s.Label == "" || slices.ContainsFunc(e.Labels, func(l Label) bool { return strings.EqualFold(l.Name, s.Label) })
}

// selectBatch is how many entries are in memory.
const selectBatch = 500

// Entries yields the archived messages of an account that are selected and come after one, in the order of Gmail's
// ids. An error is yielded last.
func (a *Archive) Entries(ctx context.Context, accountID, after string, s Selection) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for {
			var rows []messageRow
			if err := dbquery.Select(ctx, a.cfg.DB.Reader(), &rows, sqlMessagesAfter, accountID, after,
				selectBatch); err != nil {
				yield(Entry{}, fmt.Errorf("archive: messages of account %s: %w", accountID, err))
				return
			}
			for i := range rows {
				e, err := rows[i].entry()
				if err != nil {
					yield(Entry{}, err)
					return
				}
				if after = e.MessageID; s.selects(&e) && !yield(e, nil) {
					return
				}
			}
			if len(rows) < selectBatch {
				return
			}
		}
	}
}

// Raw returns an archived message, byte for byte. An error that matches [ErrMissing], [ErrAltered], [ErrUnreadable],
// [ErrTooLarge], [ErrNoKey] or [ErrRemoved] says what is wrong with its object.
func (a *Archive) Raw(ctx context.Context, accountID string, e Entry) ([]byte, error) {
	if err := e.check(); err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	raw, err := a.readMail(ctx, accountID, e.SHA256, e.Size)
	if err != nil && e.Removed {
		err = ErrRemoved
	}
	if err != nil {
		return nil, fmt.Errorf("archive: message %s: %w", e.MessageID, err)
	}
	return raw, nil
}
