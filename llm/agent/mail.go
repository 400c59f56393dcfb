package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/bodytext"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/llm/internal/cleantext"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
	"github.com/postroom-go/postroom/mime/reply"
)

// Mail returns stored messages. A mailstore.Store is one.
type Mail interface {
	// Message returns a message, or [postroom.ErrNotFound].
	Message(ctx context.Context, accountID, messageID string) (*postroom.Message, error)
	// ThreadMessages returns the messages of a thread, in any order.
	ThreadMessages(ctx context.Context, accountID, threadID string) ([]*postroom.Message, error)
}

// Correspondence returns the mail between the owner of an account and one address, newest first and at most limit of
// it. An index such as package mailindex finds it with from:, to: and the words. What is of another address is left
// out by the caller.
type Correspondence interface {
	// Received returns mail from the address with all the words, which are letters, digits and spaces, or none.
	Received(ctx context.Context, accountID, from, words string, limit int) ([]*postroom.Message, error)
	// Sent returns mail that the owner has sent to the address.
	Sent(ctx context.Context, accountID, to string, limit int) ([]*postroom.Message, error)
}

// Labels returns the labels of an account. A mailstore.Store is one.
type Labels interface {
	Labels(ctx context.Context, accountID string) ([]postroom.Label, error)
}

// The limits of what is shown of mail, in characters but for the numbers.
const (
	maxThread       = 20 // messages
	maxThreadText   = 12_000
	maxMessageText  = 6000
	maxField        = 300
	maxAttachments  = 20 // names
	maxParticipants = 20
)

// messageText returns what is shown of a message: its visible text without quotations, and the names of its
// attachments.
func messageText(ctx context.Context, msg *postroom.Message, most int) string {
	var b strings.Builder
	field := func(name, value string) {
		if value = cleantext.Cut(cleantext.OneLine(value), maxField); value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	field("From", msg.From.String())
	if !msg.ReceivedAt.IsZero() {
		field("Received", msg.ReceivedAt.UTC().Format(time.RFC3339))
	}
	field("Subject", msg.Subject)
	for _, a := range msg.Attachments[:min(len(msg.Attachments), maxAttachments)] {
		field("Attachment", a.Filename)
	}
	b.WriteString("\n" + cleantext.Cut(written(ctx, msg), most))
	return b.String()
}

// written is what the sender wrote anew. A message that is a quotation only, such as a forwarded one, is shown whole.
func written(ctx context.Context, msg *postroom.Message) string {
	if text := onlyWritten(ctx, msg); text != "" {
		return text
	}
	return strings.TrimSpace(cleantext.Visible(bodytext.From(ctx).Body(msg).Text))
}

// onlyWritten leaves out all quotations.
func onlyWritten(ctx context.Context, msg *postroom.Message) string {
	return strings.TrimSpace(cleantext.Visible(reply.Split(bodytext.From(ctx).Body(msg).Text).Written()))
}

// threadText shows a thread, oldest first. What is too long loses its beginning.
func threadText(ctx context.Context, thread []*postroom.Message) string {
	var texts []string
	left := maxThreadText
	for i := len(thread) - 1; i >= 0 && left > 0; i-- {
		text := messageText(ctx, thread[i], min(left, maxMessageText))
		left -= len([]rune(text))
		texts = append(texts, fmt.Sprintf("--- message %d of %d\n%s", i+1, len(thread), text))
	}
	slices.Reverse(texts)
	return strings.Join(texts, "\n\n")
}

// threadOf returns the newest messages of the thread that lie in no bin, oldest first, the message itself among them.
// Those that the sender of the message neither wrote nor got are left out: whoever knows a subject and an id can write
// into a thread.
func threadOf(ctx context.Context, mail Mail, msg *postroom.Message) ([]*postroom.Message, error) {
	all, err := mail.ThreadMessages(ctx, msg.AccountID, msg.ThreadID)
	if err != nil {
		return nil, fmt.Errorf("read the thread of message %s: %w", msg.ID, err)
	}
	thread := []*postroom.Message{msg}
	for _, m := range all {
		if m.ID != msg.ID && !m.HasLabel(postroom.LabelSpam) && !m.HasLabel(postroom.LabelTrash) &&
			!m.HasLabel(postroom.LabelDraft) && isParty(m, msg.From.Email) {
			thread = append(thread, m)
		}
	}
	slices.SortStableFunc(thread, func(a, b *postroom.Message) int { return a.ReceivedAt.Compare(b.ReceivedAt) })
	for len(thread) > maxThread {
		oldest := 0
		if thread[0] == msg {
			oldest = 1
		}
		thread = slices.Delete(thread, oldest, oldest+1)
	}
	return thread, nil
}

// Conversation returns what a run about a message knows of its thread, oldest first, and whom an answer can go to: the
// sender of the message first, and nobody else unless the server has verified the sender. The owner is not among them.
func (a *Agent) Conversation(ctx context.Context, msg *postroom.Message) (thread []*postroom.Message, people []string,
	err error) {
	if thread, err = threadOf(ctx, a.cfg.Mail, msg); err != nil {
		return nil, nil, err
	}
	own, err := a.cfg.Own(ctx, msg.AccountID)
	if err != nil {
		return nil, nil, fmt.Errorf("read the addresses of account %s: %w", msg.AccountID, err)
	}
	return thread, participants(thread, msg, own, correspondent(msg, own, a.cfg.AuthServer) != ""), nil
}

// isParty reports whether the address has written or got the message.
func isParty(m *postroom.Message, email string) bool {
	key := mailname.Address(email)
	return slices.ContainsFunc(slices.Concat([]postroom.Address{m.From}, m.To, m.Cc), func(a postroom.Address) bool {
		return mailname.Address(a.Email) == key
	})
}

// participants lists who takes part in a thread, the sender of the message first, without the owner. If the sender is
// not verified, there is nobody else: the others may be of his choice, and the thread is not theirs.
func participants(thread []*postroom.Message, msg *postroom.Message, own []string, verified bool) (list []string) {
	add := func(addresses ...postroom.Address) {
		for _, a := range addresses {
			email := mailname.Address(a.Email)
			if len(list) < maxParticipants && strings.Contains(email, "@") && !isAmong(own, email) &&
				!slices.Contains(list, email) {
				list = append(list, email)
			}
		}
	}
	add(msg.From)
	if !verified {
		return list
	}
	for _, m := range slices.Backward(thread) {
		add(m.From)
		add(m.To...)
		add(m.Cc...)
	}
	return list
}

func isAmong(own []string, email string) bool {
	key := mailname.Mailbox(email)
	return slices.ContainsFunc(own, func(o string) bool { return mailname.Mailbox(o) == key })
}

// correspondent returns the address of the sender if the server has verified it, and it is not the owner's.
func correspondent(msg *postroom.Message, own []string, server authres.Server) string {
	header := make(mime.Header, len(msg.Headers))
	for i, f := range msg.Headers {
		header[i] = mime.Field{Name: f.Name, Value: f.Value}
	}
	from := mime.Address{Name: msg.From.Name, Email: msg.From.Email}
	if len(msg.Header("From")) > 1 || !authres.Read(header, server).Verifies(from) || isAmong(own, msg.From.Email) {
		return ""
	}
	return mailname.Address(msg.From.Email)
}
