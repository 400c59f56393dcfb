package gmailapi

import (
	"context"

	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
)

// A HistoryPage is one page of the history of the mailbox.
type HistoryPage struct {
	Events        []HistoryEvent // oldest first
	HistoryID     uint64         // of the mailbox's latest change
	NextPageToken string         // empty on the last page
}

// A HistoryEvent is one change of one message.
type HistoryEvent struct {
	HistoryID uint64 // of the record; it may hold several events
	Kind      EventKind
	MessageID string // Gmail's
	LabelIDs  []string
}

// An EventKind is the kind of a change.
type EventKind string

// The kinds of event; LabelIDs are set for the last two.
const (
	MessageAdded   EventKind = "message_added"
	MessageDeleted EventKind = "message_deleted"
	LabelsAdded    EventKind = "labels_added"
	LabelsRemoved  EventKind = "labels_removed"
)

// Change returns the change of a label event.
func (e HistoryEvent) Change() postroom.LabelChange {
	if e.Kind == LabelsAdded {
		return postroom.LabelChange{Add: e.LabelIDs}
	}
	return postroom.LabelChange{Remove: e.LabelIDs}
}

// historyPageSize is the maximum that Gmail returns at once.
const historyPageSize = 500

// ListHistory lists the changes after the history id, oldest first. The error for an id that Gmail no longer has,
// after a week or sooner, is [ClassHistoryExpired].
func (c *Client) ListHistory(ctx context.Context, after uint64, pageToken string) (HistoryPage, error) {
	var page HistoryPage
	err := c.do(ctx, MethodListHistory, "list history", ClassHistoryExpired, func(ctx context.Context) error {
		call := c.service.Users.History.List(c.user).Context(ctx).StartHistoryId(after).MaxResults(historyPageSize)
		if pageToken != "" {
			call.PageToken(pageToken)
		}
		answer, err := call.Do()
		if err != nil {
			return err
		}
		for _, record := range answer.History {
			page.Events = append(page.Events, eventsOf(record)...)
		}
		page.HistoryID, page.NextPageToken = answer.HistoryId, answer.NextPageToken
		return nil
	})
	return page, err
}

// eventsOf reads the specific arrays of a record; its messages array names the same messages once more.
func eventsOf(record *api.History) []HistoryEvent {
	var events []HistoryEvent
	add := func(kind EventKind, m *api.Message, labels []string) {
		if m != nil {
			events = append(events, HistoryEvent{HistoryID: record.Id, Kind: kind, MessageID: m.Id, LabelIDs: labels})
		}
	}
	for _, e := range record.MessagesAdded {
		add(MessageAdded, e.Message, nil)
	}
	for _, e := range record.LabelsAdded {
		add(LabelsAdded, e.Message, e.LabelIds)
	}
	for _, e := range record.LabelsRemoved {
		add(LabelsRemoved, e.Message, e.LabelIds)
	}
	for _, e := range record.MessagesDeleted {
		add(MessageDeleted, e.Message, nil)
	}
	return events
}
