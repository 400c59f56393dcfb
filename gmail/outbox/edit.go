package outbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/mime/htmltext"
	"github.com/postroom-go/postroom/queue"
)

// Bounds of an [Edit], in bytes.
const (
	MaxEditedText    = 32 << 10
	MaxEditedSubject = 998 // a line of RFC 5322
)

// An Edit is what a person writes in place of what an action would send.
type Edit struct {
	// Subject is the new subject; nil keeps the old one. A reply with another subject than its original begins a thread
	// of its own, since Gmail puts it into no other.
	Subject *string
	// Text is the new text; nil keeps the old one. In a forward it stands above the original, which is never edited, and
	// may be empty. HTML that was written for the message is dropped with the old text.
	Text *string
}

// Edit changes the message that a waiting action sends, as [Outbox.Preview] shows it, and returns it as it is then. All
// but the subject and the text stays: recipients, files, the original of a forward, the Message-ID.
//
// record is called in the transaction that stores the message, with its hash: it records the hash with the action, as
// safety.Editor does, or returns an error, and nothing is edited. The action must not have started.
//
// An edit that cannot be made is an error of [gmailapi.ClassInvalid]. Other errors are those of [Outbox.Preview].
func (o *Outbox) Edit(ctx context.Context, a postroom.Action, edit Edit,
	record func(ctx context.Context, tx queue.Tx, sha256 string) error) (Preview, error) {
	client, err := gmailapi.FindClient(ctx, o.Clients, a.AccountID)
	if err != nil {
		return Preview{}, fmt.Errorf("outbox: client of account %s: %w", a.AccountID, err)
	}
	m, _, err := o.prepare(ctx, a, nil, o.Store.DB().Write)
	if err != nil {
		return Preview{}, err
	}
	next := *m
	if err := next.payload.edit(edit); err != nil {
		return Preview{}, notEdited(a.ID, err)
	}
	if next.payload.Subject != m.payload.Subject {
		if err := o.rethread(ctx, client, a, &next); err != nil {
			return Preview{}, err
		}
	}
	if next.Payload, next.payload, err = storedPayload(next.payload); err != nil {
		return Preview{}, err
	}
	raw, err := o.bytes(ctx, client, a, &next)
	if err != nil {
		return Preview{}, err
	}
	next.SHA256, next.Size = contentSum(next.payload.ThreadID, raw), int64(len(raw))
	if next.SHA256 == m.SHA256 {
		return Preview{}, notEdited(a.ID, errors.New("the subject and the text are the same as before"))
	}
	err = o.Store.DB().Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := record(ctx, tx, next.SHA256); err != nil {
			return err
		}
		return o.rows().editMessage(ctx, tx, m, &next)
	})
	if err != nil {
		return Preview{}, err
	}
	return next.preview(raw)
}

func notEdited(actionID string, err error) error {
	return &gmailapi.Error{Op: "edit the message of action " + actionID, Class: gmailapi.ClassInvalid, Err: err}
}

// note returns the text that was written for the message, as a person edits it.
func (p *Payload) note() string {
	if p.BodyPlain == "" && p.BodyHTML != "" {
		return htmltext.Text(p.BodyHTML)
	}
	return p.BodyPlain
}

// lines are the lines of a text, whose ends forms and files write in several ways.
var lines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// edit changes the subject and the text. A text that says the same keeps its HTML.
func (p *Payload) edit(edit Edit) error {
	if edit.Subject != nil {
		if err := checkEdited("subject", *edit.Subject, MaxEditedSubject); err != nil {
			return err
		}
		if strings.ContainsAny(*edit.Subject, "\r\n") {
			return errors.New("the subject has a line break in it")
		}
		p.Subject = *edit.Subject
	}
	if edit.Text == nil {
		return nil
	}
	text := lines.Replace(*edit.Text)
	if err := checkEdited("text", text, MaxEditedText); err != nil {
		return err
	}
	if p.MessageType == Reply && strings.TrimSpace(text) == "" {
		return errors.New("the text is empty: reject the action if nothing is to be sent")
	}
	if text != lines.Replace(p.note()) {
		p.BodyPlain, p.BodyHTML = text, ""
	}
	return nil
}

func checkEdited(what, text string, most int) error {
	switch {
	case len(text) > most:
		return fmt.Errorf("the %s has %d bytes; at most %d are allowed", what, len(text), most)
	case !utf8.ValidString(text):
		return fmt.Errorf("the %s is not UTF-8", what)
	case strings.ContainsRune(text, 0):
		return fmt.Errorf("the %s has a NUL character in it", what)
	}
	return nil
}

// rethread puts a reply whose subject was edited into the thread of its original, if it has the same subject, and
// otherwise into none.
func (o *Outbox) rethread(ctx context.Context, client *gmailapi.Client, a postroom.Action,
	m *storedMessage) (err error) {
	if m.payload.MessageType != Reply {
		return nil
	}
	if m.original == nil {
		if m.original, err = o.fetch(ctx, client, a); err != nil {
			return err
		}
	}
	about := func(subject string) string { return strings.TrimSpace(replyPrefix.ReplaceAllString(subject, "")) }
	m.payload.ThreadID = ""
	if about(m.payload.Subject) == about(m.original.message.Subject) {
		m.payload.ThreadID = m.original.message.ProviderThreadID
	}
	return nil
}

// editMessage replaces a message that no attempt to send has seen.
func (s messageRows) editMessage(ctx context.Context, tx queue.Tx, m, next *storedMessage) error {
	n, err := maildb.Exec(ctx, tx, "message of action "+m.ActionID, sqlEditMessage, next.Payload, next.SHA256, next.Size,
		dbtime.Of(queue.Now(tx)), m.ActionID, m.SHA256)
	if err == nil && n == 0 {
		err = refused(m.ActionID, "its message was edited or sent meanwhile")
	}
	return err
}
