package outbox

import (
	"cmp"
	"context"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/mime"
)

// A DraftContent is the content of a draft.
type DraftContent struct {
	// Answers is our id of the message that the draft answers: it goes into the thread, and To and Subject need not be
	// given. Empty begins a thread.
	Answers string
	To      []mime.Address
	Cc      []mime.Address
	Bcc     []mime.Address
	Subject string // ignored for an answer, which keeps the subject of its thread
	Text    string
	HTML    string
	// Fill replaces the variables in Text, see [postroom.Variables]. What is not known becomes a [check: …] for the person
	// who sends the draft.
	Fill bool
	// Sign appends the signature of the address that the draft is sent from, and Quote the message that it answers, both
	// as Gmail does. With either the draft has a text and HTML.
	Sign, Quote bool
	// AutoSubmitted is the value of the field Auto-Submitted (RFC 3834), for a draft that no person reads before it is
	// sent, such as auto-generated. Default empty: no field.
	AutoSubmitted string
	// Attachments are as in [mime.Outgoing].
	Attachments []mime.Attachment
}

// Own returns the addresses that the mailbox may send from. If the grant does not permit to ask, that is its own
// address.
func (d *Drafts) Own(ctx context.Context, accountID string) ([]gmailapi.SendAs, error) {
	client, err := d.client(ctx, accountID)
	if err != nil {
		return nil, err
	}
	return ownAddresses(ctx, d.Store, client, accountID)
}

// build makes the bytes of a draft, and returns the thread they belong to.
func (d *Drafts) build(ctx context.Context, client *gmailapi.Client, row *draftRow, content DraftContent) (raw []byte,
	threadID string, err error) {
	own, err := ownAddresses(ctx, d.Store, client, row.AccountID)
	if err != nil {
		return nil, "", err
	}
	out := mime.Outgoing{
		Draft: true, MessageID: row.MessageID, To: content.To, Cc: content.Cc, Bcc: content.Bcc,
		Subject: content.Subject, Text: content.Text, HTML: content.HTML, Attachments: content.Attachments,
	}
	if content.AutoSubmitted != "" {
		out.Header = []mime.Field{{Name: "Auto-Submitted", Value: content.AutoSubmitted}}
	}
	answered := &postroom.Message{}
	if content.Answers != "" {
		if answered, err = d.Store.Message(ctx, row.AccountID, content.Answers); err != nil {
			return nil, "", d.invalid(row.Key, err)
		}
		if err := putBehind(&out, answered); err != nil {
			return nil, "", d.invalid(row.Key, err)
		}
	}
	from := senderOf(answered, own)
	if content.Fill {
		out.Text = filled(content.Text, answered, from.Name)
	}
	out.From = []mime.Address{{Name: from.Name, Email: from.Email}}
	if from.ReplyTo != "" {
		out.ReplyTo = []mime.Address{{Email: from.ReplyTo}}
	}
	content.append(&out, from.Signature, answered)
	if raw, err = out.Build(); err != nil {
		return nil, "", d.invalid(row.Key, err)
	}
	if err := row.answers(content.Answers, &out); err != nil {
		return nil, "", err
	}
	return raw, cmp.Or(answered.ProviderThreadID, row.ThreadID), nil
}

// answers records which message the draft answers, and its recipients. A draft that is updated without Answers stays
// in its thread, and answers the same message.
func (r *draftRow) answers(messageID string, out *mime.Outgoing) (err error) {
	r.OriginalMessageID = cmp.Or(messageID, r.OriginalMessageID)
	if r.OriginalMessageID == "" {
		return nil
	}
	r.Payload, err = maildb.JSON(Payload{
		MessageType: Reply, OriginalMessageID: r.OriginalMessageID, To: formatAddresses(out.To),
		Cc: formatAddresses(out.Cc),
	})
	return err
}

// putBehind puts the draft behind the message that it answers.
func putBehind(out *mime.Outgoing, m *postroom.Message) error {
	p := Payload{BodyPlain: "-"}
	p.To = formatAddresses(out.To)
	if err := p.composeReply(m); err != nil {
		return err
	}
	out.Subject, out.InReplyTo, out.References = p.Subject, p.InReplyTo, p.References
	to, err := readAddresses(p.To)
	out.To = to
	return err
}

// filled replaces the variables in the text of a draft.
func filled(text string, answered *postroom.Message, ownName string) string {
	return postroom.FillVariables(text, postroom.VariablesOf(answered, ownName), func(v postroom.Variable) string {
		return "[check: " + v.Words() + "]"
	})
}
