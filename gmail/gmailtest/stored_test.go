package gmailtest_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
)

// What is imported twice is one message, with the labels of both; what is inserted twice is two.
func TestImportComesInOnce(t *testing.T) {
	server, users := serve(t, nil)
	raw := encoded("Message-ID: <once@example.com>\r\nSubject: x\r\n\r\n")
	first, err := users.Messages.Import("me", &gmail.Message{Raw: raw, LabelIds: []string{"INBOX"}}).Do()
	require.NoError(t, err)
	second, err := users.Messages.Import("me", &gmail.Message{Raw: raw, LabelIds: []string{"STARRED"}}).Do()
	require.NoError(t, err)
	require.Equal(t, first.Id, second.Id)
	require.Equal(t, []string{"INBOX", "STARRED"}, second.LabelIds)
	inserted, err := users.Messages.Insert("me", &gmail.Message{Raw: raw}).Do()
	require.NoError(t, err)
	require.NotEqual(t, first.Id, inserted.Id)
	for range 2 {
		_, err = users.Messages.Import("me", &gmail.Message{Raw: encoded("Subject: no id\r\n\r\n")}).Do()
		require.NoError(t, err)
	}
	count, err := server.Count(t.Context())
	require.NoError(t, err)
	require.Equal(t, 4, count)
}

func TestDateOfWhatIsStored(t *testing.T) {
	server, users := serve(t, nil)
	raw := encoded("Date: Sun, 01 Feb 2026 10:00:00 +0100\r\n\r\n")
	for source, fromHeader := range map[string]bool{"dateHeader": true, "receivedTime": false} {
		for name, store := range map[string]func() (*gmail.Message, error){
			"insert": func() (*gmail.Message, error) {
				return users.Messages.Insert("me", &gmail.Message{Raw: raw}).InternalDateSource(source).Do()
			},
			"import": func() (*gmail.Message, error) {
				return users.Messages.Import("me", &gmail.Message{Raw: raw}).InternalDateSource(source).Do()
			},
		} {
			t.Run(name+" "+source, func(t *testing.T) {
				stored, err := store()
				require.NoError(t, err)
				message, err := server.Message(t.Context(), stored.Id)
				require.NoError(t, err)
				require.Equal(t, fromHeader, message.Received.Format("2006-01-02 15:04") == "2026-02-01 09:00")
			})
		}
	}
	_, err := users.Messages.Insert("me", &gmail.Message{Raw: raw}).InternalDateSource("clock").Do()
	requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
	status, _, _ := ask(t, server, "POST", "/gmail/v1/users/me/messages/import?processForCalendar=maybe",
		`{"raw":"`+raw+`"}`)
	require.Equal(t, 400, status)
}

// A message that is stored as deleted can be seen nowhere but in the history.
func TestStoredAsDeleted(t *testing.T) {
	server, users := serve(t, letters(1))
	before := historyID(t, users)
	stored, err := users.Messages.Insert("me", &gmail.Message{Raw: encoded("Subject: x\r\n\r\n")}).Deleted(true).Do()
	require.NoError(t, err)
	_, err = users.Messages.Get("me", stored.Id).Do()
	requireAPIError(t, err, http.StatusNotFound, "notFound")
	count, err := server.Count(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, count)
	require.Greater(t, historyID(t, users), before)
}

func TestIdsThatAreNone(t *testing.T) {
	_, users := serve(t, letters(1))
	for _, id := range []string{"nonsense", "0123456789abcdef0", "thread-f:18", "-1", "0x1f"} {
		for name, call := range map[string]func() error{
			"messages.get":    func() error { _, err := users.Messages.Get("me", id).Do(); return err },
			"messages.modify": func() error { _, err := modify(users, id, []string{"STARRED"}, nil); return err },
			"messages.trash":  func() error { _, err := users.Messages.Trash("me", id).Do(); return err },
			"messages.delete": func() error { return users.Messages.Delete("me", id).Do() },
			"attachments.get": func() error { _, err := users.Messages.Attachments.Get("me", id, "x").Do(); return err },
			"threads.get":     func() error { _, err := users.Threads.Get("me", id).Do(); return err },
			"threads.untrash": func() error { _, err := users.Threads.Untrash("me", id).Do(); return err },
			"threads.delete":  func() error { return users.Threads.Delete("me", id).Do() },
			"messages.batchDelete": func() error {
				return users.Messages.BatchDelete("me", &gmail.BatchDeleteMessagesRequest{Ids: []string{id}}).Do()
			},
		} {
			t.Run(name+" "+id, func(t *testing.T) {
				api := requireAPIError(t, call(), http.StatusBadRequest, "invalidArgument")
				require.Equal(t, "Invalid id value", api.Message)
			})
		}
	}
}

func TestChangesThatChangeNothing(t *testing.T) {
	_, users := serve(t, letters(1))
	id := find(t, users, "0@example.com")
	for name, call := range map[string]func() error{
		"messages.modify": func() error { _, err := modify(users, id, nil, nil); return err },
		"messages.batchModify": func() error {
			return users.Messages.BatchModify("me", &gmail.BatchModifyMessagesRequest{Ids: []string{id}}).Do()
		},
		"threads.modify": func() error {
			_, err := users.Threads.Modify("me", id, &gmail.ModifyThreadRequest{}).Do()
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			api := requireAPIError(t, call(), http.StatusBadRequest, "invalidArgument")
			require.Equal(t, "No label add or removes specified", api.Message)
		})
	}
}

// latin is a message in which each part needs something else of the server.
const latin = "Subject: parts\r\nMessage-ID: <latin@example.com>\r\nContent-Type: multipart/mixed; boundary=o\r\n\r\n" +
	"--o\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=FC=DFe & <mehr>\r\n" +
	"--o\r\nContent-Type: image/png\r\nContent-ID: <logo>\r\nContent-Transfer-Encoding: base64\r\n\r\niVBORw==\r\n" +
	"--o\r\nContent-Type: text/plain; charset=iso-8859-1; name=alt.txt\r\n\r\nGr\xfc\xdfe\r\n" +
	"--o\r\nContent-Type: message/rfc822\r\n\r\nSubject: inner\r\n\r\ninner text\r\n" +
	"--o--\r\n"

func TestPayload(t *testing.T) {
	_, users := serve(t, &box{name: "one", messages: []mailbox.Message{letter(latin)}})
	message := only(t, users, "rfc822msgid:latin@example.com")
	require.Equal(t, "Gr\u00fc\u00dfe &amp; &lt;mehr&gt;", message.Snippet)
	require.EqualValues(t, len(latin), message.SizeEstimate)
	require.Empty(t, message.Payload.PartId)
	parts := message.Payload.Parts
	require.Len(t, parts, 4)

	text, err := base64.URLEncoding.DecodeString(parts[0].Body.Data)
	require.NoError(t, err)
	require.Equal(t, "Gr\u00fc\u00dfe & <mehr>", string(text), "in UTF-8")
	require.EqualValues(t, len(text), parts[0].Body.Size)
	require.Equal(t, "text/plain; charset=iso-8859-1", parts[0].Headers[0].Value, "as it was sent")

	for i, want := range map[int]string{1: "\x89PNG", 2: "Gr\xfc\xdfe"} {
		require.Empty(t, parts[i].Body.Data)
		first, err := users.Messages.Attachments.Get("me", message.Id, parts[i].Body.AttachmentId).Do()
		require.NoError(t, err)
		content, err := base64.URLEncoding.DecodeString(first.Data)
		require.NoError(t, err)
		require.Equal(t, want, string(content), "a file is as it was sent")
		require.EqualValues(t, len(want), first.Size)
		again := only(t, users, "rfc822msgid:latin@example.com")
		require.Equal(t, parts[i].Body.AttachmentId, again.Payload.Parts[i].Body.AttachmentId)
	}
	require.Equal(t, "3", parts[3].PartId)
	require.Equal(t, "3.0", parts[3].Parts[0].PartId)
	require.Equal(t, "inner", parts[3].Parts[0].Headers[0].Value)
}

func TestBase64OfARequest(t *testing.T) {
	_, users := serve(t, nil)
	raw := "Subject: \u00fe\u00ff?>\r\n\r\n"
	for name, text := range map[string]string{
		"url":            base64.URLEncoding.EncodeToString([]byte(raw)),
		"url, unpadded":  base64.RawURLEncoding.EncodeToString([]byte(raw)),
		"standard":       base64.StdEncoding.EncodeToString([]byte(raw)),
		"also, unpadded": base64.RawStdEncoding.EncodeToString([]byte(raw)),
	} {
		t.Run(name, func(t *testing.T) {
			stored, err := users.Messages.Insert("me", &gmail.Message{Raw: text}).Do()
			require.NoError(t, err)
			require.Equal(t, raw, rawOf(t, users, stored.Id))
		})
	}
	_, err := users.Messages.Insert("me", &gmail.Message{Raw: strings.Repeat("!", 8)}).Do()
	requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
}
