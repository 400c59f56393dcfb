package view

import (
	"cmp"
	"context"
	"errors"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/gmail/replies"
)

// DraftWords is the state of a draft of an answer, for people.
func DraftWords(s replies.State) string {
	switch s {
	case replies.Pending:
		return "being written"
	case replies.ReworkRequested:
		return "being written again"
	}
	return string(s)
}

// draftOf returns the state of the draft that answers a message; empty if none does or did.
func draftOf(ctx context.Context, h *app.App, m *postroom.Message) (replies.Reply, error) {
	r, err := h.Replies.Reply(ctx, m.AccountID, m.ProviderThreadID)
	if errors.Is(err, postroom.ErrNotFound) || err == nil && r.MessageID != m.ProviderID {
		return replies.Reply{}, nil
	}
	return r, err
}

// AddDraft adds the state of the draft that answers the message.
func (v *Mail) AddDraft(ctx context.Context, h *app.App, m *postroom.Message) error {
	r, err := draftOf(ctx, h, m)
	v.Draft = r.State
	return err
}

// What a change of a draft is in the history of its message. Those that only begin a check are none.
var draftEvents = map[replies.Event]string{
	replies.EventNeeded: "It seemed to need an answer", replies.EventAsked: "A draft of an answer was asked for",
	replies.EventDrafted: "A draft of an answer was written", replies.EventRework: "The draft was to be written again",
	replies.EventWithdrawn: "The draft was to stay as it is", replies.EventReworked: "The draft was written again",
	replies.EventGaveUp: "The draft was left to a person", replies.EventSent: "It was answered",
	replies.EventSkipped: "It got no draft, or its draft ended", replies.EventDone: "A person was done with it",
	replies.EventNotNeeded: "It got no draft",
}

// DraftEventWords is a change of a draft, for people.
func DraftEventWords(e replies.Event) string {
	return cmp.Or(draftEvents[e], "It was looked for at Gmail")
}

// draftHistory is what happened to the draft that answers a message.
func draftHistory(ctx context.Context, h *app.App, m *postroom.Message) (list []Event, err error) {
	r, err := draftOf(ctx, h, m)
	if err != nil || r.State == "" {
		return nil, err
	}
	changes, err := h.Replies.History(ctx, r.AccountID, r.ThreadID)
	for _, c := range changes {
		if words := draftEvents[c.Event]; words != "" && c.Need == r.Need {
			list = append(list, Event{At: c.At, What: words, Why: c.Reason})
		}
	}
	return list, err
}
