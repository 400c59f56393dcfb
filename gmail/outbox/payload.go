package outbox

import (
	"fmt"
	"net/mail"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// JobSend is the type of the job that sends a message; see [NewSendJob].
const JobSend queue.Type[Payload] = "outbound.send"

// A MessageType says how a message relates to its original.
type MessageType string

// The types of messages that are sent.
const (
	Forward MessageType = "forward" // begins a thread of its own
	Reply   MessageType = "reply"   // continues the thread of the original
)

// How a forward includes the original.
const (
	IncludeInline     = "inline"     // its text below the new text, and its attachments
	IncludeAttachment = "attachment" // the whole message as forwarded.eml
)

// A Payload is a message to send for one action of the ledger: everything its bytes are made of, except for
// the parts of the original, which is fetched when they are built. Addresses have the form of a header:
// ann@example.com, or Ann <ann@example.com>.
//
// A job has only AccountID and ActionID, and of another's nothing else counts: who may see jobs need not see mail. The
// message is composed from the parameters of the action, or was given by [Outbox.Fix]. The first message stays.
type Payload struct {
	AccountID   string      `json:"account_id"`
	ActionID    string      `json:"action_id"`
	MessageType MessageType `json:"message_type,omitempty"`
	From        string      `json:"from,omitempty"`
	ReplyTo     []string    `json:"reply_to,omitempty"`
	To          []string    `json:"to,omitempty"`
	Cc          []string    `json:"cc,omitempty"`
	Subject     string      `json:"subject,omitempty"`
	BodyPlain   string      `json:"body_plain,omitempty"`
	BodyHTML    string      `json:"body_html,omitempty"`

	OriginalMessageID string `json:"original_message_id,omitempty"` // ours
	// ThreadID is Gmail's; for a reply.
	ThreadID string `json:"thread_id,omitempty"`
	// MessageID is the Message-ID, chosen when the message is composed. It, InReplyTo and References are without angle
	// brackets.
	MessageID  string   `json:"rfc_message_id,omitempty"`
	InReplyTo  string   `json:"in_reply_to,omitempty"`
	References []string `json:"references,omitempty"`

	// Hops are the addresses of the mailboxes that have sent the original on, as X-Loop names them; for a forward, which
	// carries them on. AutoSubmitted is the original's, if a program has sent it.
	Hops          []string `json:"hops,omitempty"`
	AutoSubmitted string   `json:"auto_submitted,omitempty"`

	// IncludeOriginal is [IncludeInline] or [IncludeAttachment], for a forward.
	IncludeOriginal string       `json:"include_original,omitempty"`
	Attachments     []Attachment `json:"attachments,omitempty"`
}

// An Attachment is a file of a message that is sent: a part of the original, or the content itself.
type Attachment struct {
	Filename string `json:"filename"`
	MimeType string `json:"mime_type"`
	// MessageID, ours, and Part name an attachment of a stored message, by its place in [postroom.Message.Attachments],
	// from 1. The message must be the original.
	MessageID string `json:"message_id,omitempty"`
	Part      int    `json:"part,omitempty"`
	// Data is the content of a small file that is of no message; in JSON it is base64.
	Data []byte `json:"data,omitempty"`
}

// NewSendJob makes the job that sends the message of an action (forward or auto_reply), composed when the job
// runs, or earlier by [Outbox.Preview]. The key allows one unfinished job for each action; a later job does not send
// a message again.
func NewSendJob(accountID, actionID string) queue.NewJob {
	key := queue.WhileUnfinished(fmt.Sprintf("%s:%s:%s", JobSend, accountID, actionID))
	return JobSend.New(Payload{AccountID: accountID, ActionID: actionID},
		&queue.Options{Key: key, MaxAttempts: attempts.Unattended, LimitKey: mailstore.LimitKey(accountID)})
}

// Kinds returns the kinds of actions that an [Outbox] carries out, forward and auto_reply, to be added to those of a
// program with [postroom.NewKinds]. Either job type carries them out: a job of gmail.NewActionJob composes the message
// and enqueues the other.
func Kinds() []postroom.Kind {
	var kinds []postroom.Kind
	for _, t := range []postroom.ActionType{postroom.Forward, postroom.AutoReply} {
		kind, _ := postroom.StandardKind(t)
		kind.Job = string(JobSend)
		kinds = append(kinds, kind)
	}
	return kinds
}

// sendsMessage reports whether actions of the type send a message.
func sendsMessage(t postroom.ActionType) bool {
	return t == postroom.Forward || t == postroom.AutoReply
}

// formatAddress is the form of an address in a payload.
func formatAddress(name, email string) string {
	if name == "" {
		return email
	}
	return (&mail.Address{Name: name, Address: email}).String()
}

// readAddresses reads addresses of a payload or of a parameter, each of which may be a list.
func readAddresses(values []string) (list []mime.Address, err error) {
	for _, value := range values {
		if strings.ContainsAny(value, "\r\n\x00") {
			return nil, fmt.Errorf("%.100q has a line break in it", value)
		}
		addresses, ok := mime.ParseAddresses(value)
		if !ok || len(addresses) == 0 {
			return nil, fmt.Errorf("%.100q is not an address like name@example.com", value)
		}
		for _, a := range addresses {
			list = append(list, mime.Address{Name: a.Name, Email: a.Email})
		}
	}
	return list, nil
}

func formatAddresses(list []mime.Address) (values []string) {
	for _, a := range list {
		values = append(values, formatAddress(a.Name, a.Email))
	}
	return values
}

// recipients returns all addresses that the message goes to, in lower case, each once.
func (p *Payload) recipients() ([]string, error) {
	var emails []string
	for _, values := range [][]string{p.To, p.Cc} {
		list, err := readAddresses(values)
		if err != nil {
			return nil, err
		}
		for _, a := range list {
			emails = append(emails, strings.ToLower(a.Email))
		}
	}
	return onceEach(emails), nil
}

// onceEach returns the values, each once, in their order.
func onceEach(values []string) []string {
	seen := make(map[string]bool, len(values))
	var once []string
	for _, v := range values {
		if !seen[v] {
			seen[v] = true
			once = append(once, v)
		}
	}
	return once
}
