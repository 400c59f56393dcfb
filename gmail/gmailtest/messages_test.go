package gmailtest_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"
	"google.golang.org/api/option"

	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
)

func TestListPagesNewestFirst(t *testing.T) {
	server, users := serve(t, letters(23))
	var found []string
	token := ""
	pages := 0
	for {
		list, err := users.Messages.List("me").MaxResults(10).PageToken(token).Do()
		require.NoError(t, err)
		require.EqualValues(t, 23, list.ResultSizeEstimate)
		found = append(found, ids(t, server, list.Messages)...)
		pages++
		if token = list.NextPageToken; token == "" {
			break
		}
	}
	require.Equal(t, 3, pages)
	require.Len(t, found, 23)
	require.Equal(t, []string{"22", "21", "20"}, found[:3])
	require.Equal(t, "0", found[22])
}

func TestListOfAnEmptyMailbox(t *testing.T) {
	_, users := serve(t, nil)
	list, err := users.Messages.List("me").Do()
	require.NoError(t, err)
	require.Empty(t, list.Messages)
	require.Empty(t, list.NextPageToken)
}

func TestSearch(t *testing.T) {
	source := &box{name: "search"}
	add := func(id string, labels ...string) {
		source.messages = append(source.messages, letter("Message-ID: <"+id+"@example.com>\n\n", labels...))
	}
	add("inbox", "Inbox", "Unread")
	add("read", "Inbox", "Opened")
	add("star", "Starred", "Archived")
	add("promo", "Inbox", "Category Promotions", "Unread")
	add("bill", "Receipts/Old stuff")
	add("spam", "Spam", "Unread")
	add("trash", "Trash")
	server, users := serve(t, source)
	for q, want := range map[string]string{
		"":                                "inbox read star promo bill",
		"in:inbox":                        "inbox read promo",
		"is:unread":                       "inbox promo",
		"is:unread in:anywhere":           "inbox promo spam",
		"-is:unread":                      "read star bill",
		"is:read in:inbox":                "read",
		"is:starred":                      "star",
		"category:promotions":             "promo",
		"label:receipts-old-stuff":        "bill",
		`label:"receipts/old stuff"`:      "bill",
		"label:nosuch":                    "",
		"in:spam":                         "spam",
		"in:trash":                        "trash",
		"rfc822msgid:<star@example.com>":  "star",
		"rfc822msgid:trash@example.com":   "",
		"after:1772366400":                "inbox read star promo bill",
		"after:1772366401":                "",
		"before:1772366401 -in:inbox":     "star bill",
		"after:2026/03/01":                "inbox read star promo bill",
		"after:2026/3/2":                  "",
		"newer_than:30000d":               "inbox read star promo bill",
		"older_than:30000d":               "",
		"newer_than:900y older_than:900y": "",
	} {
		t.Run(q, func(t *testing.T) {
			list, err := users.Messages.List("me").Q(q).Do()
			require.NoError(t, err)
			require.ElementsMatch(t, strings.Fields(want), ids(t, server, list.Messages))
			require.EqualValues(t, len(list.Messages), list.ResultSizeEstimate)
		})
	}
	byLabel, err := users.Messages.List("me").LabelIds("INBOX", "UNREAD").Do()
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"inbox", "promo"}, ids(t, server, byLabel.Messages))
	spam, err := users.Messages.List("me").LabelIds("SPAM").Do()
	require.NoError(t, err)
	require.Equal(t, []string{"spam"}, ids(t, server, spam.Messages))
	all, err := users.Messages.List("me").IncludeSpamTrash(true).Do()
	require.NoError(t, err)
	require.Len(t, all.Messages, 7)
}

func TestListRefusesNonsense(t *testing.T) {
	_, users := serve(t, letters(1))
	_, err := users.Messages.List("me").PageToken("nonsense").Do()
	requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
	_, err = users.Messages.List("me").LabelIds("Label_77").Do()
	requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
}

const mixed = "From: =?UTF-8?Q?J=C3=BCrgen?= <j@example.com>\r\n" +
	"Message-ID: <mixed@example.com>\r\n" +
	"Content-Type: multipart/mixed; boundary=o\r\n\r\n" +
	"--o\r\nContent-Type: multipart/alternative; boundary=i\r\n\r\n" +
	"--i\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nGr=C3=BC=C3=9Fe\r\n" +
	"--i\r\nContent-Type: text/html\r\n\r\n<p>Hi\r\n--i--\r\n" +
	"--o\r\nContent-Type: text/csv; name=a.csv\r\nContent-Transfer-Encoding: base64\r\n\r\nYSxiCg==\r\n--o--\r\n"

func TestGetFormats(t *testing.T) {
	_, users := serve(t, &box{name: "one", messages: []mailbox.Message{letter(mixed, "Inbox", "Unread")}})
	id := find(t, users, "mixed@example.com")

	minimal, err := users.Messages.Get("me", id).Format("minimal").Do()
	require.NoError(t, err)
	require.Equal(t, []string{"INBOX", "UNREAD"}, minimal.LabelIds)
	require.Equal(t, "Grüße", minimal.Snippet)
	require.Equal(t, noon.UnixMilli(), minimal.InternalDate)
	require.EqualValues(t, len(mixed), minimal.SizeEstimate)
	require.NotZero(t, minimal.HistoryId)
	require.Nil(t, minimal.Payload)

	metadata, err := users.Messages.Get("me", id).Format("metadata").MetadataHeaders("from", "subject").Do()
	require.NoError(t, err)
	require.Len(t, metadata.Payload.Headers, 1)
	require.Equal(t, "Jürgen <j@example.com>", metadata.Payload.Headers[0].Value)
	require.Empty(t, metadata.Payload.Parts)

	raw, err := users.Messages.Get("me", id).Format("RAW").Do() // as examples for Java spell it
	require.NoError(t, err)
	text, err := base64.URLEncoding.DecodeString(raw.Raw)
	require.NoError(t, err)
	require.Equal(t, mixed, string(text))

	full, err := users.Messages.Get("me", id).Do()
	require.NoError(t, err)
	alternative, attachment := full.Payload.Parts[0], full.Payload.Parts[1]
	require.Equal(t, "multipart/alternative", alternative.MimeType)
	require.Equal(t, "0.0", alternative.Parts[0].PartId)
	require.Equal(t, base64.URLEncoding.EncodeToString([]byte("Grüße")), alternative.Parts[0].Body.Data)
	require.Equal(t, "a.csv", attachment.Filename)
	require.Empty(t, attachment.Body.Data)
	require.EqualValues(t, 4, attachment.Body.Size)

	body, err := users.Messages.Attachments.Get("me", id, attachment.Body.AttachmentId).Do()
	require.NoError(t, err)
	require.Equal(t, base64.URLEncoding.EncodeToString([]byte("a,b\n")), body.Data)
	_, err = users.Messages.Attachments.Get("me", id, "nonsense").Do()
	requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")

	_, err = users.Messages.Get("me", id).Format("huge").Do()
	requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
	_, err = users.Messages.Get("me", "0123456789abcdef").Do()
	requireAPIError(t, err, http.StatusNotFound, "notFound")
}

func TestBrokenMessagesAreServed(t *testing.T) {
	for name, raw := range map[string]string{
		"no header":      "no header at all\n",
		"empty":          "",
		"no closing":     "Content-Type: multipart/mixed; boundary=b\n\n--b\n\ntext",
		"bad base64":     "Content-Transfer-Encoding: base64\n\n!!!!",
		"unknown words":  "Subject: =?klingon?Q?x?=\nContent-Type: text/plain; charset=klingon\n\n\xff\xfe",
		"bare boundary":  "Content-Type: multipart/mixed; boundary=\n\n--\n--\n",
		"header garbage": "X: 1\n\x00\x01\x02\n: nothing\nContent-Type: ;;;\n\nbody",
	} {
		t.Run(name, func(t *testing.T) {
			_, users := serve(t, &box{name: "broken", messages: []mailbox.Message{letter(raw)}})
			list, err := users.Messages.List("me").Do()
			require.NoError(t, err)
			require.Len(t, list.Messages, 1)
			for _, format := range []string{"minimal", "metadata", "full"} {
				_, err := users.Messages.Get("me", list.Messages[0].Id).Format(format).Do()
				require.NoError(t, err)
			}
			got, err := users.Messages.Get("me", list.Messages[0].Id).Format("raw").Do()
			require.NoError(t, err)
			text, err := base64.URLEncoding.DecodeString(got.Raw)
			require.NoError(t, err)
			require.Equal(t, raw, string(text))
		})
	}
}

func TestWhoMayAsk(t *testing.T) {
	server, users := serve(t, letters(1))
	_, err := users.GetProfile(server.Email()).Do()
	require.NoError(t, err)
	_, err = users.GetProfile("someone.else@example.com").Do()
	requireAPIError(t, err, http.StatusForbidden, "forbidden")

	anonymous, err := gmail.NewService(t.Context(), option.WithEndpoint(server.URL()),
		option.WithHTTPClient(&http.Client{}))
	require.NoError(t, err)
	_, err = anonymous.Users.GetProfile("me").Do()
	requireAPIError(t, err, http.StatusUnauthorized, "authError")
}

func TestInsertImportSend(t *testing.T) {
	server, users := serve(t, letters(1))
	const dated = "Message-ID: <new@example.com>\r\nDate: Sun, 01 Feb 2026 10:00:00 +0000\r\nTo: a@example.com\r\n\r\nhi\r\n"
	imported, err := users.Messages.Import("me", &gmail.Message{Raw: encoded(dated), LabelIds: []string{"INBOX"}}).Do()
	require.NoError(t, err)
	view, err := server.Message(t.Context(), imported.Id)
	require.NoError(t, err)
	require.Equal(t, "2026-02-01T10:00:00Z", view.Received.Format("2006-01-02T15:04:05Z07:00"))
	require.Equal(t, []string{"INBOX"}, view.Labels)

	inserted, err := users.Messages.Insert("me", &gmail.Message{Raw: encoded(dated)}).Do()
	require.NoError(t, err)
	require.NotEqual(t, imported.Id, inserted.Id)
	require.Equal(t, imported.ThreadId, inserted.ThreadId, "the same Message-ID")
	view, err = server.Message(t.Context(), inserted.Id)
	require.NoError(t, err)
	require.NotEqual(t, 2, int(view.Received.Month()), "the time of the request")

	sent, err := users.Messages.Send("me", &gmail.Message{
		Raw:      strings.TrimRight(encoded("To: b@example.com\r\nIn-Reply-To: <new@example.com>\r\n\r\nhi\r\n"), "="),
		ThreadId: imported.ThreadId,
	}).Do()
	require.NoError(t, err)
	require.Equal(t, []string{"SENT"}, sent.LabelIds)
	require.Equal(t, imported.ThreadId, sent.ThreadId)
	headers, err := users.Messages.Get("me", sent.Id).Format("metadata").MetadataHeaders("Message-ID", "Date").Do()
	require.NoError(t, err)
	require.Len(t, headers.Payload.Headers, 2)

	for name, message := range map[string]*gmail.Message{
		"nothing":       {},
		"no base64":     {Raw: "?"},
		"no recipients": {Raw: encoded("Subject: x\r\n\r\n")},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := users.Messages.Send("me", message).Do()
			requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
		})
	}
	_, err = users.Messages.Send("me", &gmail.Message{Raw: encoded(dated), ThreadId: "abc"}).Do()
	requireAPIError(t, err, http.StatusNotFound, "notFound")
	_, err = users.Messages.Insert("me", &gmail.Message{Raw: encoded(dated), LabelIds: []string{"Label_5"}}).Do()
	requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
	profile, err := users.GetProfile("me").Do()
	require.NoError(t, err)
	require.EqualValues(t, 4, profile.MessagesTotal)
	require.EqualValues(t, 2, profile.ThreadsTotal)
}

// The last page has no token, also when it is full.
func TestAFullPageMayBeTheLast(t *testing.T) {
	_, users := serve(t, letters(2))
	for range 2 {
		_, err := users.Drafts.Create("me", draftOf("To: a@example.com\n\n", "")).Do()
		require.NoError(t, err)
	}
	messages, err := users.Messages.List("me").Q("in:inbox").MaxResults(2).Do()
	require.NoError(t, err)
	threads, err := users.Threads.List("me").Q("in:inbox").MaxResults(2).Do()
	require.NoError(t, err)
	drafts, err := users.Drafts.List("me").MaxResults(2).Do()
	require.NoError(t, err)
	require.Equal(t, []int{2, 2, 2}, []int{len(messages.Messages), len(threads.Threads), len(drafts.Drafts)})
	require.Equal(t, []string{"", "", ""}, []string{messages.NextPageToken, threads.NextPageToken, drafts.NextPageToken})
}
