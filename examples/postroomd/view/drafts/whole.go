package drafts

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/mime/htmltext"
)

// A Whole is a draft with its conversation and its life.
type Whole struct {
	Draft
	Thread   []Message `json:"thread"`            // the last 20, oldest first
	Earlier  int       `json:"earlier,omitempty"` // messages of the conversation before those
	History  []Change  `json:"history"`           // oldest first
	Text     string    `json:"text"`              // as written last, without a person's changes; empty if none is kept
	Versions []Text    `json:"versions"`          // oldest first; none once it has ended
	AtGmail  *AtGmail  `json:"at_gmail,omitempty"`
	Unread   string    `json:"unread,omitempty"` // why it could not be read at Gmail
}

// A Message is a message of the conversation of a draft.
type Message struct {
	ID         string    `json:"id"`
	From       string    `json:"from"`
	Subject    string    `json:"subject"`
	Snippet    string    `json:"snippet"`
	Text       string    `json:"text"` // as a person sees it
	ReceivedAt time.Time `json:"received_at"`
	Answered   bool      `json:"answered,omitempty"` // the draft answers it
}

// A Change is a line of the history of a draft.
type Change struct {
	At     time.Time     `json:"at"`
	Event  replies.Event `json:"event"`
	State  replies.State `json:"state"` // afterwards
	Reason string        `json:"reason,omitempty"`
}

// A Text is a version of the text of a draft, or an instruction for the next one.
type Text struct {
	At          time.Time       `json:"at"`
	By          drafting.Author `json:"by"`
	Text        string          `json:"text,omitempty"`
	Instruction string          `json:"instruction,omitempty"`
}

// An AtGmail is a draft as it is at Gmail.
type AtGmail struct {
	Text    string `json:"text"`    // without what it answers
	Touched bool   `json:"touched"` // a person has changed it

	SHA256     string                `json:"sha256"` // names all of it as it was shown, to send it
	From       string                `json:"from"`
	Recipients []view.Recipient      `json:"recipients"`
	Subject    string                `json:"subject"`
	Whole      string                `json:"whole"`         // all of its text
	HTML       view.SentHTML         `json:"html,omitzero"` // what a recipient sees of its HTML
	Files      []postroom.Attachment `json:"files"`
}

// Sendable reports whether it may be sent as it is: it has no facts to check, and a page can show all of it.
func (v *AtGmail) Sendable() bool {
	return Checks(v.Text) == 0 && len(v.Recipients) > 0 && len(v.Whole) <= view.MaxSent && len(v.HTML.Text) <= view.MaxSent
}

// HTMLDiffers reports whether the HTML shows another text.
func (v *AtGmail) HTMLDiffers() bool {
	return v.HTML.Text != "" && !slices.Equal(strings.Fields(v.HTML.Text), strings.Fields(v.Whole))
}

func newAtGmail(ctx context.Context, h *app.App, accountID string, l drafting.Look) (*AtGmail, error) {
	m := l.Message
	v := &AtGmail{Text: l.Text, Touched: l.Touched, SHA256: l.SHA256, Subject: m.Subject, Whole: m.Text,
		HTML: view.NewSentHTML(m.HTML), Files: []postroom.Attachment{}}
	if len(m.From) > 0 {
		v.From = postroom.Address{Name: m.From[0].Name, Email: m.From[0].Email}.String()
	}
	for _, f := range m.Attachments {
		v.Files = append(v.Files, postroom.Attachment{Filename: f.Filename, ContentType: f.ContentType,
			Size: int64(len(f.Content))})
	}
	var err error
	v.Recipients, err = view.Recipients(ctx, h, accountID, m)
	return v, err
}

// Find returns the reply of a thread of a mailbox, by their whole ids, or [postroom.ErrNotFound].
func Find(ctx context.Context, h *app.App, mailbox, id string) (replies.Reply, error) {
	account, err := h.Mail.AccountByEmail(ctx, mailbox)
	if err != nil {
		return replies.Reply{}, err
	}
	return h.Replies.Reply(ctx, account.ID, id)
}

// maxThread is the most messages of the conversation that are shown.
const maxThread = 20

// patience bounds how long Gmail is waited for.
const patience = 5 * time.Second

// NewWhole views the draft of a thread. One that lies ready is read at Gmail.
func NewWhole(ctx context.Context, h *app.App, r replies.Reply) (v Whole, err error) {
	mailboxes, err := view.Mailboxes(ctx, h)
	if err != nil {
		return v, err
	}
	thread, err := threadOf(ctx, h, &r)
	if err != nil {
		return v, err
	}
	v.Draft = draftOf(&r, thread, mailboxes)
	v.Earlier = max(0, len(thread)-maxThread)
	v.Thread = printer.List(thread[v.Earlier:], func(m *postroom.Message) Message {
		return Message{m.ProviderID, m.From.String(), m.Subject, m.Snippet, htmltext.ReadBody(m.BodyPlain, m.BodyHTML).Text,
			m.ReceivedAt, m.ProviderID == v.MessageID}
	})
	history, err := h.Replies.History(ctx, r.AccountID, r.ThreadID)
	if err != nil {
		return v, err
	}
	v.History = printer.List(history, func(c replies.Change) Change { return Change{c.At, c.Event, c.To, c.Reason} })
	return v, v.addTexts(ctx, h, r)
}

// addTexts adds the versions, and the draft as it is at Gmail.
func (v *Whole) addTexts(ctx context.Context, h *app.App, r replies.Reply) error {
	if h.Drafting == nil {
		v.Versions, v.Unread = []Text{}, "no drafts are written by these settings"
		return nil
	}
	texts, err := h.Drafting.Texts(ctx, r)
	if err != nil {
		return err
	}
	v.Versions = printer.List(texts, func(t drafting.Text) Text {
		if t.Author == drafting.ByWriter {
			v.Text = t.Body
		}
		return Text{t.WrittenAt, t.Author, t.Body, t.Instruction}
	})
	if !v.Ready() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	look, err := h.Drafting.Look(ctx, r)
	switch {
	case err != nil:
		v.Unread = err.Error()
	case look.Gone:
		v.Unread = "there is none any more"
	default:
		v.AtGmail, err = newAtGmail(ctx, h, r.AccountID, look)
		return err
	}
	return nil
}
