package view

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/replies"
)

// A Draft is the answer that a thread needs, or needed.
type Draft struct {
	ID        string        `json:"id"` // Gmail's id of the thread
	Mailbox   string        `json:"mailbox"`
	MessageID string        `json:"message_id"` // Gmail's, of the message that is answered
	From      string        `json:"from"`
	Subject   string        `json:"subject"`
	State     replies.State `json:"state"`
	Reason    string        `json:"reason,omitempty"`
	Reworks   int64         `json:"reworks"`
	Turn      int64         `json:"turn"` // names what was shown, for a rework or a discard
	Since     time.Time     `json:"since"`
}

// Ready reports whether a draft lies ready at Gmail.
func (d Draft) Ready() bool { return d.State == replies.Drafted || d.State == replies.ReworkRequested }

// Open reports whether the need has not ended.
func (d Draft) Open() bool { return !d.State.Ended() }

// Words is the state for people.
func (d Draft) Words() string {
	switch d.State {
	case replies.Pending:
		return "being written"
	case replies.Drafted:
		return "drafted"
	case replies.ReworkRequested:
		return "being written again"
	}
	return string(d.State)
}

// Drafts are drafts, the latest change first.
type Drafts struct {
	List []Draft `json:"drafts"`
	More bool    `json:"more,omitempty"` // there are more than were asked for
}

// A DraftFilter says which drafts are listed.
type DraftFilter struct {
	AccountID string // empty: of all
	Ready     bool   // only those that lie ready at Gmail
	All       bool   // also those that have ended
	Limit     int
}

func (f *DraftFilter) states() []replies.State {
	switch {
	case f.Ready:
		return []replies.State{replies.Drafted, replies.ReworkRequested}
	case f.All:
		return []replies.State{replies.Pending, replies.Drafted, replies.ReworkRequested, replies.Sent, replies.Archived,
			replies.Skipped}
	}
	return []replies.State{replies.Pending, replies.Drafted, replies.ReworkRequested}
}

// NewDrafts lists drafts.
func NewDrafts(ctx context.Context, h *app.App, f DraftFilter) (v Drafts, err error) {
	mailboxes, err := Mailboxes(ctx, h)
	if err != nil {
		return v, err
	}
	var all []replies.Reply
	for account := range mailboxes {
		if f.AccountID != "" && account != f.AccountID {
			continue
		}
		for _, state := range f.states() {
			list, err := h.Replies.List(ctx, account, state, f.Limit+1)
			if err != nil {
				return v, err
			}
			all = append(all, list...)
		}
	}
	slices.SortFunc(all, func(a, b replies.Reply) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	if v.More = len(all) > f.Limit; v.More {
		all = all[:f.Limit]
	}
	v.List = make([]Draft, len(all))
	for i := range all {
		if v.List[i], err = newDraft(ctx, h, &all[i], mailboxes); err != nil {
			return v, err
		}
	}
	return v, nil
}

func newDraft(ctx context.Context, h *app.App, r *replies.Reply, mailboxes map[string]string) (Draft, error) {
	d := Draft{ID: r.ThreadID, Mailbox: mailboxes[r.AccountID], MessageID: r.MessageID, State: r.State, Reason: r.Reason,
		Reworks: r.Reworks, Turn: r.Turn, Since: r.UpdatedAt}
	thread, err := threadOf(ctx, h, r)
	if err != nil {
		return d, err
	}
	for _, m := range thread { // the newest of others, or the one that is answered
		if m.ProviderID == r.MessageID || r.MessageID == "" && !m.HasLabel(postroom.LabelSent) {
			d.From, d.Subject, d.MessageID = m.From.String(), m.Subject, m.ProviderID
		}
	}
	return d, nil
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

// A WholeDraft is a draft with its conversation and its life.
type WholeDraft struct {
	Draft
	Thread   []DraftMessage `json:"thread"`   // oldest first
	History  []DraftChange  `json:"history"`  // oldest first
	Text     string         `json:"text"`     // as written last, without a person's changes; empty if none is kept
	Versions []DraftText    `json:"versions"` // oldest first; none once it has ended
	AtGmail  *DraftAtGmail  `json:"at_gmail,omitempty"`
	Unread   string         `json:"unread,omitempty"` // why it could not be read at Gmail
}

// A DraftMessage is a message of the conversation of a draft.
type DraftMessage struct {
	ID         string    `json:"id"`
	From       string    `json:"from"`
	Subject    string    `json:"subject"`
	Snippet    string    `json:"snippet"`
	ReceivedAt time.Time `json:"received_at"`
}

// A DraftChange is a line of the history of a draft.
type DraftChange struct {
	At     time.Time     `json:"at"`
	Event  replies.Event `json:"event"`
	State  replies.State `json:"state"` // afterwards
	Reason string        `json:"reason,omitempty"`
}

// A DraftText is a version of the text of a draft, or an instruction for the next one.
type DraftText struct {
	At          time.Time       `json:"at"`
	By          drafting.Author `json:"by"`
	Text        string          `json:"text,omitempty"`
	Instruction string          `json:"instruction,omitempty"`
}

// A DraftAtGmail is a draft as it is at Gmail.
type DraftAtGmail struct {
	Text    string `json:"text"`    // without what it answers
	Touched bool   `json:"touched"` // a person has changed it
}

// draftPatience bounds how long Gmail is waited for.
const draftPatience = 5 * time.Second

// NewWholeDraft views the draft of a thread. One that lies ready is read at Gmail.
func NewWholeDraft(ctx context.Context, h *app.App, r replies.Reply) (v WholeDraft, err error) {
	mailboxes, err := Mailboxes(ctx, h)
	if err != nil {
		return v, err
	}
	if v.Draft, err = newDraft(ctx, h, &r, mailboxes); err != nil {
		return v, err
	}
	thread, err := threadOf(ctx, h, &r)
	if err != nil {
		return v, err
	}
	v.Thread = printer.List(thread, func(m *postroom.Message) DraftMessage {
		return DraftMessage{m.ProviderID, m.From.String(), m.Subject, m.Snippet, m.ReceivedAt}
	})
	history, err := h.Replies.History(ctx, r.AccountID, r.ThreadID)
	if err != nil {
		return v, err
	}
	v.History = printer.List(history, func(c replies.Change) DraftChange {
		return DraftChange{c.At, c.Event, c.To, c.Reason}
	})
	return v, v.addTexts(ctx, h, r)
}

// addTexts adds the versions, and the draft as it is at Gmail.
func (v *WholeDraft) addTexts(ctx context.Context, h *app.App, r replies.Reply) error {
	if h.Drafting == nil {
		v.Versions, v.Unread = []DraftText{}, "no drafts are written by these settings"
		return nil
	}
	texts, err := h.Drafting.Texts(ctx, r)
	if err != nil {
		return err
	}
	v.Versions = printer.List(texts, func(t drafting.Text) DraftText {
		if t.Author == drafting.ByWriter {
			v.Text = t.Body
		}
		return DraftText{t.WrittenAt, t.Author, t.Body, t.Instruction}
	})
	if !v.Ready() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, draftPatience)
	defer cancel()
	look, err := h.Drafting.Look(ctx, r)
	switch {
	case err != nil:
		v.Unread = err.Error()
	case look.Gone:
		v.Unread = "there is none any more"
	default:
		v.AtGmail = &DraftAtGmail{look.Text, look.Touched}
	}
	return nil
}

// FateText says what has become of a draft at Gmail that was discarded.
func FateText(f drafting.Fate) string {
	switch f {
	case drafting.FateDeleted:
		return "Discarded, and deleted at Gmail."
	case drafting.FateKept:
		return "Discarded. You have changed the draft: it stays among your drafts in Gmail."
	}
	return "Discarded. There was no draft at Gmail."
}

// Print prints the draft for people.
func (v WholeDraft) Print(w io.Writer) error {
	r := printer.NewReport(w)
	r.Heading("draft " + v.ID)
	r.Add("mailbox", v.Mailbox)
	r.Add("subject", v.Subject)
	r.Add("answers", v.From)
	r.Add("state", v.Words())
	r.Add("why", v.Reason)
	r.Add("since", printer.Clock(v.Since))
	r.Heading("conversation")
	for _, m := range v.Thread {
		r.Add(printer.Minute(m.ReceivedAt), m.From)
		r.Quote(m.Snippet)
	}
	r.Heading("history")
	for _, c := range v.History {
		r.Line(c.Line())
	}
	v.printTexts(r)
	return r.Flush()
}

// Line is the change for people.
func (c DraftChange) Line() string {
	line := printer.Clock(c.At) + "  " + strings.ReplaceAll(string(c.Event), "_", " ") + ": " +
		strings.ReplaceAll(string(c.State), "_", " ")
	if c.Reason != "" {
		line += " (" + c.Reason + ")"
	}
	return line
}

func (v WholeDraft) printTexts(r *printer.Report) {
	for i, t := range v.Versions {
		r.Heading(strconv.Itoa(i+1) + ". " + t.Title())
		if t.Instruction != "" {
			r.Add("instruction", t.Instruction)
		}
		r.Quote(t.Text)
	}
	switch {
	case v.AtGmail != nil && !v.AtGmail.Touched:
		r.Heading("at Gmail: as written last")
	case v.AtGmail != nil:
		r.Heading("at Gmail: changed by a person")
		r.Quote(v.AtGmail.Text)
	case v.Unread != "":
		r.Heading("at Gmail")
		r.Line("not read: " + v.Unread)
	}
}

// Title says what a version is.
func (t DraftText) Title() string {
	switch t.By {
	case drafting.ByPerson:
		return "as a person had changed it"
	case drafting.ByRequest:
		return "asked for"
	}
	return "as written"
}
