package gmailtest_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/api/gmail/v1"
	"google.golang.org/api/googleapi"

	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A box is a mailbox made up by a test.
type box struct {
	name     string
	messages []mailbox.Message
	err      error // after the messages
}

func (b *box) Name() string { return b.name }

func (b *box) Messages() iter.Seq2[mailbox.Message, error] {
	return func(yield func(mailbox.Message, error) bool) {
		for i, msg := range b.messages {
			msg.Position = i + 1
			if !yield(msg, nil) {
				return
			}
		}
		if b.err != nil {
			yield(mailbox.Message{}, b.err)
		}
	}
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// letters makes a mailbox of n messages, one a minute, with the Message-IDs 0@example.com and up.
func letters(n int) *box {
	b := &box{name: "letters"}
	for i := range n {
		b.messages = append(b.messages,
			letter(fmt.Sprintf("Message-ID: <%d@example.com>\nSubject: letter %d\n\nText %d.\n", i, i, i)))
		b.messages[i].Received = noon.Add(time.Duration(i) * time.Minute)
	}
	return b
}

func letter(raw string, labels ...string) mailbox.Message {
	return mailbox.Message{Raw: []byte(raw), Labels: labels, Labeled: labels != nil, Received: noon}
}

func serve(t *testing.T, source mailbox.Source) (*gmailtest.Server, *gmail.UsersService) {
	t.Helper()
	server := gmailtest.NewServer(t)
	if source != nil {
		_, err := server.Import(t.Context(), source, nil)
		require.NoError(t, err)
	}
	return server, client(t, server)
}

func client(t *testing.T, server *gmailtest.Server) *gmail.UsersService {
	t.Helper()
	service, err := server.Service(t.Context())
	require.NoError(t, err)
	return service.Users
}

// find gives the id of the message with the Message-ID.
func find(t *testing.T, users *gmail.UsersService, messageID string) string {
	t.Helper()
	list, err := users.Messages.List("me").Q("rfc822msgid:" + messageID).IncludeSpamTrash(true).Do()
	require.NoError(t, err)
	require.Len(t, list.Messages, 1)
	return list.Messages[0].Id
}

// subjects follows a list to its end and gives the Message-IDs without their domain.
func ids(t *testing.T, server *gmailtest.Server, messages []*gmail.Message) []string {
	t.Helper()
	var found []string
	for _, m := range messages {
		message, err := server.Message(t.Context(), m.Id)
		require.NoError(t, err)
		found = append(found, strings.TrimSuffix(message.MessageID, "@example.com"))
	}
	return found
}

func labels(t *testing.T, server *gmailtest.Server, id string) []string {
	t.Helper()
	message, err := server.Message(t.Context(), id)
	require.NoError(t, err)
	return message.Labels
}

// requireAPIError checks status and reason of an error as the real client sees it.
func requireAPIError(t *testing.T, err error, status int, reason string) *googleapi.Error {
	t.Helper()
	var api *googleapi.Error
	require.ErrorAs(t, err, &api)
	require.Equal(t, status, api.Code, api.Message)
	require.NotEmpty(t, api.Errors)
	require.Equal(t, reason, api.Errors[0].Reason)
	return api
}

func modify(users *gmail.UsersService, id string, add, remove []string) (*gmail.Message, error) {
	return users.Messages.Modify("me", id, &gmail.ModifyMessageRequest{AddLabelIds: add, RemoveLabelIds: remove}).Do()
}

func encoded(raw string) string { return base64.URLEncoding.EncodeToString([]byte(raw)) }

var errBroken = errors.New("the disk is on fire")

func cancelled(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
