package worldtest

import (
	api "google.golang.org/api/gmail/v1"

	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/mime"
)

// An Inbox is the mailbox of another person.
type Inbox struct {
	t       *testing.T
	Service *api.Service
}

// OpenInbox opens the mailbox of another person at the server.
func OpenInbox(t *testing.T, server *gmailtest.Server, email string) Inbox {
	t.Helper()
	account, err := server.Account(t.Context(), email)
	require.NoError(t, err)
	service, err := account.Service(t.Context())
	require.NoError(t, err)
	return Inbox{t, service}
}

// Got returns the messages in the inbox, with their raw form.
func (i Inbox) Got() (messages []*mime.Message, ids []string) {
	i.t.Helper()
	list, err := i.Service.Users.Messages.List("me").Q("in:inbox").Do()
	require.NoError(i.t, err)
	for _, m := range list.Messages {
		full, err := i.Service.Users.Messages.Get("me", m.Id).Format("raw").Do()
		require.NoError(i.t, err)
		raw, err := (&gmailapi.RawMessage{Encoded: full.Raw}).Bytes()
		require.NoError(i.t, err)
		parsed, err := mime.ParseBytes(raw, nil)
		require.NoError(i.t, err)
		messages, ids = append(messages, parsed), append(ids, m.Id)
	}
	return messages, ids
}

// One returns the only message in the inbox.
func (i Inbox) One() *mime.Message {
	i.t.Helper()
	messages, _ := i.Got()
	require.Len(i.t, messages, 1)
	return messages[0]
}

// Question is a message that a person answers.
const Question = "From: Zoë <ann@example.com>\r\nTo: You <you@example.com>\r\nSubject: Tea?\r\nMessage-ID: <q@example.com>\r\n" +
	"References: <first@example.com>\r\nDate: Sat, 07 Mar 2026 12:00:00 +0000\r\n\r\nAt five?\r\n"

// Reply is an action that answers a message.
func Reply(message, text string) postroom.Action {
	return postroom.Action{MessageID: message, Type: postroom.AutoReply, Parameters: postroom.Parameters{"body": text}}
}

// Forward is an action that forwards a message.
func Forward(message string, to ...any) postroom.Action {
	return postroom.Action{MessageID: message, Type: postroom.Forward, Parameters: postroom.Parameters{"to": to}}
}
