// Package drafts has the views of drafts of answers: one struct and text for each thing that is shown.
package drafts

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/replies"
)

// A Draft is the answer that a thread needs, or needed.
type Draft struct {
	ID        string        `json:"id"` // Gmail's id of the thread
	Mailbox   string        `json:"mailbox"`
	MessageID string        `json:"message_id"` // Gmail's, of the message that is answered
	From      string        `json:"from"`
	Reminder  bool          `json:"reminder,omitempty" jsonschema:"it reminds of a message of the owner's, and from is whom it went to"`
	Subject   string        `json:"subject"`
	State     replies.State `json:"state"`
	Reason    string        `json:"reason,omitempty"`
	Reworks   int64         `json:"reworks"`
	Turn      int64         `json:"turn"` // names what was shown, for a rework or a discard
	Since     time.Time     `json:"since"`
}

// Ready reports whether a draft lies ready at Gmail.
func (d Draft) Ready() bool { return slices.Contains(Ready(), d.State) }

// Open reports whether the need has not ended.
func (d Draft) Open() bool { return !d.State.Ended() }

// Words is the state for people.
func (d Draft) Words() string { return view.DraftWords(d.State) }

// Ready are the states of drafts that lie ready at Gmail.
func Ready() []replies.State { return []replies.State{replies.Drafted, replies.ReworkRequested} }

// Open are the states of drafts that have not ended.
func Open() []replies.State { return append(Ready(), replies.Pending) }

// States are all states, in the order of a draft's life.
func States() []replies.State {
	return []replies.State{replies.Pending, replies.Drafted, replies.ReworkRequested, replies.Sent, replies.Archived,
		replies.Skipped}
}

// A Page is a page of drafts, the latest change first.
type Page struct {
	List []Draft `json:"drafts"`
	Next string  `json:"next,omitempty"` // continues the list; empty on the last page
}

// NewPage lists drafts. The error of a cursor of another list is the fault of who has given it.
func NewPage(ctx context.Context, h *app.App, f replies.Filter) (v Page, err error) {
	list, next, err := h.Replies.List(ctx, f)
	if errors.Is(err, replies.ErrCursor) {
		err = usage.Errorf("this page is of no list of drafts: begin at the first page")
	}
	if err != nil {
		return v, err
	}
	mailboxes, err := view.Mailboxes(ctx, h)
	if err != nil {
		return v, err
	}
	v = Page{make([]Draft, len(list)), next}
	for i := range list {
		if v.List[i], err = newDraft(ctx, h, &list[i], mailboxes); err != nil {
			return v, err
		}
	}
	return v, nil
}

func newDraft(ctx context.Context, h *app.App, r *replies.Reply, mailboxes map[string]string) (Draft, error) {
	thread, err := threadOf(ctx, h, r)
	return draftOf(r, thread, mailboxes), err
}

func draftOf(r *replies.Reply, thread []*postroom.Message, mailboxes map[string]string) Draft {
	d := Draft{ID: r.ThreadID, Mailbox: mailboxes[r.AccountID], MessageID: r.MessageID, State: r.State, Reason: r.Reason,
		Reworks: r.Reworks, Turn: r.Turn, Since: r.UpdatedAt}
	for _, m := range thread { // the newest of others, or the one that is answered
		if m.ProviderID == r.MessageID || r.MessageID == "" && !m.HasLabel(postroom.LabelSent) {
			d.From, d.Subject, d.MessageID = m.From.String(), m.Subject, m.ProviderID
			if m.HasLabel(postroom.LabelSent) && len(m.To) > 0 {
				d.From, d.Reminder = m.To[0].String(), true
			}
		}
	}
	return d
}

// threadOf returns the conversation of a reply, oldest first, without drafts.
func threadOf(ctx context.Context, h *app.App, r *replies.Reply) ([]*postroom.Message, error) {
	id, err := h.Mail.ThreadID(ctx, r.AccountID, r.ThreadID)
	if errors.Is(err, postroom.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := h.Mail.ThreadMessages(ctx, r.AccountID, id)
	return slices.DeleteFunc(list, func(m *postroom.Message) bool { return m.HasLabel(postroom.LabelDraft) }), err
}
