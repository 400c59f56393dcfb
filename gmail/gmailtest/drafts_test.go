package gmailtest_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"
)

func draftOf(raw, thread string) *gmail.Draft {
	return &gmail.Draft{Message: &gmail.Message{Raw: encoded(raw), ThreadId: thread}}
}

func TestDrafts(t *testing.T) {
	server, users := serve(t, letters(1))
	_, ann := another(t, server, "ann@example.com")
	created, err := users.Drafts.Create("me", draftOf("Subject: to be\r\n\r\nwritten\r\n", "")).Do()
	require.NoError(t, err)
	require.Regexp(t, `^r-?\d+$`, created.Id)
	require.Equal(t, []string{"DRAFT"}, created.Message.LabelIds)

	got, err := users.Drafts.Get("me", created.Id).Do()
	require.NoError(t, err)
	require.Equal(t, created.Message.Id, got.Message.Id)
	require.Equal(t, "written", got.Message.Snippet)
	raw, err := users.Drafts.Get("me", created.Id).Format("raw").Do()
	require.NoError(t, err)
	require.Equal(t, encoded("Subject: to be\r\n\r\nwritten\r\n"), raw.Message.Raw)

	updated, err := users.Drafts.Update("me", created.Id,
		draftOf("To: ann@example.com\r\nSubject: changed\r\n\r\nbetter\r\n", "")).Do()
	require.NoError(t, err)
	require.Equal(t, created.Id, updated.Id, "the draft stays")
	require.NotEqual(t, created.Message.Id, updated.Message.Id, "its message is another")
	require.Equal(t, created.Message.ThreadId, updated.Message.ThreadId)
	_, err = users.Messages.Get("me", created.Message.Id).Do()
	requireAPIError(t, err, http.StatusNotFound, "notFound")

	list, err := users.Drafts.List("me").Q("better").Do()
	require.NoError(t, err)
	require.Len(t, list.Drafts, 1)
	require.Equal(t, updated.Id, list.Drafts[0].Id)
	require.Equal(t, updated.Message.Id, list.Drafts[0].Message.Id)

	sent, err := users.Drafts.Send("me", &gmail.Draft{Id: updated.Id}).Do()
	require.NoError(t, err)
	require.Equal(t, []string{"SENT"}, sent.LabelIds)
	require.NotEqual(t, updated.Message.Id, sent.Id)
	require.Equal(t, updated.Message.ThreadId, sent.ThreadId)
	only(t, ann, "better in:inbox")
	for name, call := range map[string]func() error{
		"get":    func() error { _, err := users.Drafts.Get("me", updated.Id).Do(); return err },
		"send":   func() error { _, err := users.Drafts.Send("me", &gmail.Draft{Id: updated.Id}).Do(); return err },
		"update": func() error { _, err := users.Drafts.Update("me", updated.Id, draftOf("\n\nx", "")).Do(); return err },
		"delete": func() error { return users.Drafts.Delete("me", updated.Id).Do() },
	} {
		t.Run(name+" of what is sent", func(t *testing.T) { requireAPIError(t, call(), http.StatusNotFound, "notFound") })
	}
}

func TestDraftsPages(t *testing.T) {
	_, users := serve(t, letters(2))
	seen := map[string]bool{}
	for i := range 5 {
		_, err := users.Drafts.Create("me", draftOf(fmt.Sprintf("Subject: %d\r\n\r\n", i), "")).Do()
		require.NoError(t, err)
	}
	token := ""
	for {
		list, err := users.Drafts.List("me").MaxResults(2).PageToken(token).Do()
		require.NoError(t, err)
		require.EqualValues(t, 5, list.ResultSizeEstimate)
		for _, draft := range list.Drafts {
			seen[draft.Id] = true
		}
		if token = list.NextPageToken; token == "" {
			break
		}
	}
	require.Len(t, seen, 5)
}

func TestDraftOfAnAnswer(t *testing.T) {
	_, users := serve(t, letters(1))
	first := find(t, users, "0@example.com")
	draft, err := users.Drafts.Create("me",
		draftOf("Subject: Re: letter 0\r\nIn-Reply-To: <0@example.com>\r\n\r\n", first)).Do()
	require.NoError(t, err)
	require.Equal(t, first, draft.Message.ThreadId)
	sent, err := users.Drafts.Send("me", &gmail.Draft{
		Id: draft.Id, Message: &gmail.Message{Raw: encoded("To: a@example.com\r\nSubject: other\r\n\r\nin place of it\r\n")},
	}).Do()
	require.NoError(t, err)
	require.Equal(t, first, sent.ThreadId, "what takes its place stays where it was")
	only(t, users, "place in:sent")
	list, err := users.Drafts.List("me").Do()
	require.NoError(t, err)
	require.Empty(t, list.Drafts)
}

func TestDraftsThatCannotBe(t *testing.T) {
	server, users := serve(t, letters(1))
	_, err := users.Drafts.Create("me", &gmail.Draft{}).Do()
	requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
	_, err = users.Drafts.Create("me", draftOf("Subject: x\r\n\r\n", "0123456789abcdef")).Do()
	requireAPIError(t, err, http.StatusNotFound, "notFound")
	_, err = users.Drafts.Send("me", &gmail.Draft{}).Do()
	requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
	_, err = users.Drafts.Get("me", "0123456789abcdef").Do()
	requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")

	draft, err := users.Drafts.Create("me", draftOf("Subject: no recipient\r\n\r\n", "")).Do()
	require.NoError(t, err)
	_, err = users.Drafts.Send("me", &gmail.Draft{Id: draft.Id}).Do()
	api := requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
	require.Equal(t, "Recipient address required", api.Message)
	_, err = users.Drafts.Get("me", draft.Id).Do()
	require.NoError(t, err, "it is still there")
	_, err = modify(users, draft.Message.Id, nil, []string{"DRAFT"})
	requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")

	require.NoError(t, users.Drafts.Delete("me", draft.Id).Do())
	count, err := server.Count(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, count)
	// A draft whose message is deleted is gone with it.
	draft, err = users.Drafts.Create("me", draftOf("Subject: x\r\n\r\n", "")).Do()
	require.NoError(t, err)
	require.NoError(t, users.Messages.Delete("me", draft.Message.Id).Do())
	_, err = users.Drafts.Get("me", draft.Id).Do()
	requireAPIError(t, err, http.StatusNotFound, "notFound")
}
