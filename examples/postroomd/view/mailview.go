package view

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/enrichment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/mime/htmltext"
	"github.com/postroom-go/postroom/safety"
)

// A MailPage is a page of stored messages.
type MailPage struct {
	Messages []Mail `json:"messages"`
	Next     string `json:"next,omitempty"` // the --cursor of the next page
	// How far back the search has come, when it has looked at enough for one page: older messages may match.
	ReadTo time.Time `json:"read_to,omitzero"`

	Doubts        []Doubt  `json:"doubts,omitempty"`         // terms of the search that are probably mistyped
	UnknownLabels []string `json:"unknown_labels,omitempty"` // that the search names and the mailbox does not have
}

// A Doubt is a term of a search that is probably mistyped.
type Doubt struct {
	Term   string `json:"term"`
	Reason string `json:"reason"` // What is made of it
	Meant  string `json:"meant,omitempty"`
}

// NewFoundMail makes the view of a page of a search of one mailbox, with the drafts that answer its messages and what
// they mean.
func NewFoundMail(ctx context.Context, h *app.App, found mailindex.Page, names app.LabelNames) (MailPage, error) {
	p := NewMailPage(found, names)
	if err := p.addMeanings(ctx, h, found.Messages); err != nil {
		return p, err
	}
	for i, m := range found.Messages {
		if err := p.Messages[i].AddDraft(ctx, h, m); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (p *MailPage) addMeanings(ctx context.Context, h *app.App, messages []*postroom.Message) error {
	if len(messages) == 0 {
		return nil
	}
	store, err := enrich.NewStore(h.DB)
	if err != nil {
		return err
	}
	signs, err := enrichment.Signs(ctx, store, messages[0].AccountID,
		printer.List(messages, func(m *postroom.Message) string { return m.ID })...)
	for i := range p.Messages {
		if sign, ok := signs[p.Messages[i].MessageID]; ok {
			p.Messages[i].Meaning = &sign
		}
	}
	return err
}

// NewMailPage is NewFoundMail without the drafts and meanings.
func NewMailPage(found mailindex.Page, names app.LabelNames) MailPage {
	return MailPage{
		Messages: printer.List(found.Messages, func(m *postroom.Message) Mail { return newMail(m, names) }),
		Next:     found.Next, ReadTo: found.ReadTo, UnknownLabels: found.UnknownLabels,
		Doubts: printer.List(found.Doubts, func(d mailindex.Doubt) Doubt { return Doubt(d) }),
	}
}

// A Mail is a message in a list.
type Mail struct {
	ID          string             `json:"id"` // Gmail's
	MessageID   string             `json:"message_id"`
	ThreadID    string             `json:"thread_id"` // Gmail's
	From        postroom.Address   `json:"from"`
	To          []postroom.Address `json:"to"`
	Subject     string             `json:"subject"`
	Snippet     string             `json:"snippet"`
	ReceivedAt  time.Time          `json:"received_at,omitzero"`
	Size        int64              `json:"size"`
	Labels      []string           `json:"labels"`
	Attachments int                `json:"attachments"`
	Draft       replies.State      `json:"draft,omitempty"`   // of an answer to it, where that is looked up
	Meaning     *enrichment.Sign   `json:"meaning,omitempty"` // where it is known and looked up
}

func newMail(m *postroom.Message, names app.LabelNames) Mail {
	return Mail{
		ID: m.ProviderID, MessageID: m.ID, ThreadID: m.ProviderThreadID, From: m.From,
		To:      append([]postroom.Address{}, m.To...),
		Subject: m.Subject, Snippet: m.Snippet, ReceivedAt: m.ReceivedAt, Size: m.Size, Labels: LabelsOf(m, names),
		Attachments: len(m.Attachments),
	}
}

// A WholeMail is a message with its text and what was done with it.
type WholeMail struct {
	Mail
	Cc      []postroom.Address    `json:"cc,omitempty"`
	Bcc     []postroom.Address    `json:"bcc,omitempty"`
	ReplyTo []postroom.Address    `json:"reply_to,omitempty"`
	Date    time.Time             `json:"date,omitzero"`
	Files   []postroom.Attachment `json:"files"`
	Text    string                `json:"text"` // as a person sees it
	Hidden  []string              `json:"hidden,omitempty"`
	Actions []webapi.Action       `json:"actions"` // newest first
}

// NewWholeMail makes the view of a message with its text and what was done with it.
func NewWholeMail(m *postroom.Message, done []safety.Entry, names app.LabelNames) WholeMail {
	body := htmltext.ReadBody(m.BodyPlain, m.BodyHTML)
	v := WholeMail{
		Mail: newMail(m, names), Cc: m.Cc, Bcc: m.Bcc, ReplyTo: m.ReplyTo, Date: m.Date,
		Files: append([]postroom.Attachment{}, m.Attachments...), Text: body.Text,
		Actions: printer.List(done, func(e safety.Entry) webapi.Action { return webapi.NewAction(e, names.Name) }),
	}
	for _, h := range body.Hidden {
		v.Hidden = append(v.Hidden, h.Text)
	}
	return v
}

// Print prints the message for people.
func (v WholeMail) Print(w io.Writer) error {
	f := printer.NewFields(w)
	f.Add("id", v.ID)
	f.Add("from", v.From.String())
	f.Add("reply to", people(v.ReplyTo))
	f.Add("to", people(v.To))
	f.Add("cc", people(v.Cc))
	f.Add("bcc", people(v.Bcc))
	f.Add("subject", v.Subject)
	f.Add("received", printer.Clock(v.ReceivedAt))
	f.Add("labels", strings.Join(v.Labels, ", "))
	for _, a := range v.Files {
		f.Add("attachment", fmt.Sprintf("%s (%s, %s)", a.Filename, a.ContentType, printer.Count(a.Size, "byte", "bytes")))
	}
	if n := len(v.Hidden); n > 0 {
		f.Add("hidden", printer.Count(n, "piece", "pieces")+" of text that a person does not see; --json has all")
	}
	for _, a := range v.Actions {
		f.Add("action", strings.Join([]string{a.ID, strings.TrimSpace(string(a.Action) + " " + a.Label), a.State.Words()},
			"  "))
	}
	if err := f.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", strings.TrimRight(printer.PrintableLines(v.Text), "\n"))
	return err
}

// LabelsOf names the labels of a message.
func LabelsOf(m *postroom.Message, names app.LabelNames) []string {
	return printer.List(m.LabelIDs, func(id string) string { return names.Name(m.AccountID, id) })
}

func people(addresses []postroom.Address) string {
	return strings.Join(printer.List(addresses, postroom.Address.String), ", ")
}

// StoredMail views the message of an action; nil if it is no longer here.
func StoredMail(ctx context.Context, h *app.App, a postroom.Action, names app.LabelNames) (*Mail, error) {
	m, err := h.Mail.Message(ctx, a.AccountID, a.MessageID)
	if errors.Is(err, postroom.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v := newMail(m, names)
	return &v, nil
}
