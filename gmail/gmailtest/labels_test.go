package gmailtest_test

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest"
)

func TestLabels(t *testing.T) {
	server, users := serve(t, letters(2))
	created, err := users.Labels.Create("me", &gmail.Label{Name: "Receipts/2026"}).Do()
	require.NoError(t, err)
	require.Equal(t, "Label_1", created.Id)
	require.Equal(t, "user", created.Type)
	require.Equal(t, "labelShow", created.LabelListVisibility)

	_, err = users.Labels.Create("me", &gmail.Label{Name: " receipts/2026 "}).Do()
	api := requireAPIError(t, err, http.StatusConflict, "aborted")
	require.Equal(t, "Label name exists or conflicts", api.Message)
	for _, name := range []string{"", " ", "Inbox", "CATEGORY_SOCIAL", strings.Repeat("x", 226)} {
		_, err := users.Labels.Create("me", &gmail.Label{Name: name}).Do()
		requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
	}

	patched, err := users.Labels.Patch("me", created.Id,
		&gmail.Label{Color: &gmail.LabelColor{BackgroundColor: "#16a766", TextColor: "#ffffff"}}).Do()
	require.NoError(t, err)
	require.Equal(t, "Receipts/2026", patched.Name)
	require.Equal(t, "#16a766", patched.Color.BackgroundColor)
	renamed, err := users.Labels.Update("me", created.Id, &gmail.Label{Name: "receipts/2026"}).Do()
	require.NoError(t, err, "its own name is no conflict")
	require.Equal(t, "receipts/2026", renamed.Name)
	other, err := users.Labels.Create("me", &gmail.Label{Name: "Other"}).Do()
	require.NoError(t, err)
	_, err = users.Labels.Patch("me", other.Id, &gmail.Label{Name: "Receipts/2026"}).Do()
	requireAPIError(t, err, http.StatusConflict, "aborted")
	_, err = users.Labels.Update("me", other.Id, &gmail.Label{}).Do()
	requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")

	list, err := users.Labels.List("me").Do()
	require.NoError(t, err)
	require.Len(t, list.Labels, 16)

	id := find(t, users, "1@example.com")
	_, err = modify(users, id, []string{created.Id}, nil)
	require.NoError(t, err)
	counted, err := users.Labels.Get("me", created.Id).Do()
	require.NoError(t, err)
	require.EqualValues(t, 1, counted.MessagesTotal)
	require.EqualValues(t, 1, counted.ThreadsUnread)
	require.NoError(t, server.Person().Read(t.Context(), id))
	counted, err = users.Labels.Get("me", created.Id).Do()
	require.NoError(t, err)
	require.NoError(t, server.Person().Unread(t.Context(), id))
	require.Equal(t, []int64{1, 0, 1, 0}, []int64{counted.MessagesTotal, counted.MessagesUnread, counted.ThreadsTotal,
		counted.ThreadsUnread})

	require.NoError(t, users.Labels.Delete("me", created.Id).Do())
	require.Equal(t, []string{"INBOX", "UNREAD"}, labels(t, server, id))
	_, err = users.Labels.Get("me", created.Id).Do()
	requireAPIError(t, err, http.StatusNotFound, "notFound")
	again, err := users.Labels.Create("me", &gmail.Label{Name: "Receipts/2026"}).Do()
	require.NoError(t, err)
	require.Equal(t, "Label_3", again.Id, "an id is never given twice")
}

func TestSystemLabelsAreFixed(t *testing.T) {
	_, users := serve(t, nil)
	_, err := users.Labels.Patch("me", "INBOX", &gmail.Label{Name: "Outbox"}).Do()
	requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
	err = users.Labels.Delete("me", "STARRED").Do()
	requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
	inbox, err := users.Labels.Get("me", "INBOX").Do()
	require.NoError(t, err)
	require.Equal(t, "system", inbox.Type)
}

func TestCreateLabelsMayBeRepeated(t *testing.T) {
	server, users := serve(t, nil)
	for range 2 {
		require.NoError(t, server.CreateLabels(t.Context(), "Work", "work", "Travel"))
	}
	list, err := users.Labels.List("me").Do()
	require.NoError(t, err)
	require.Len(t, list.Labels, 16)
	require.Error(t, server.CreateLabels(t.Context(), ""))
}

// The palette is that of the discovery document.
func TestPalette(t *testing.T) {
	_, users := serve(t, nil)
	label, err := users.Labels.Create("me", &gmail.Label{Name: "coloured"}).Do()
	require.NoError(t, err)
	colors := regexp.MustCompile(`#[0-9a-f]{6}`).FindAllString(colorDescription(t), -1)
	require.Greater(t, len(colors), 100)
	colors = slices.Compact(slices.Sorted(slices.Values(colors)))
	require.Equal(t, colors, slices.Sorted(slices.Values(gmailtest.Palette())))

	for name, color := range map[string]*gmail.LabelColor{
		"not of the palette": {TextColor: "#123456", BackgroundColor: "#ffffff"},
		"a name":             {TextColor: "black", BackgroundColor: "white"},
		"text alone":         {TextColor: "#000000"},
		"background alone":   {BackgroundColor: "#000000"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := users.Labels.Patch("me", label.Id, &gmail.Label{Color: color}).Do()
			api := requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
			require.Contains(t, api.Message, "is not on the allowed color palette")
		})
	}
	_, err = users.Labels.Patch("me", label.Id,
		&gmail.Label{Color: &gmail.LabelColor{TextColor: "#000000", BackgroundColor: "#FFFFFF"}}).Do()
	require.NoError(t, err)
}

func TestNamesOfLabels(t *testing.T) {
	_, users := serve(t, nil)
	for _, name := range []string{"/x", "x/", "a//b", "a/ /b", "/", "drafts", "Chats", "all mail", "important",
		strings.Repeat("\u00e9", 226)} {
		t.Run("refuses "+name, func(t *testing.T) {
			_, err := users.Labels.Create("me", &gmail.Label{Name: name}).Do()
			api := requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
			require.Equal(t, "Invalid label name", api.Message)
		})
	}
	for _, name := range []string{"a/b/c", "a", strings.Repeat("\u00e9", 225), "drafts/old", "\u65e5\u672c"} {
		t.Run("takes "+name, func(t *testing.T) {
			_, err := users.Labels.Create("me", &gmail.Label{Name: name}).Do()
			require.NoError(t, err)
		})
	}
	list, err := users.Labels.List("me").Do()
	require.NoError(t, err)
	require.Len(t, list.Labels, 14+5, "a child does not make its parent")
}

func TestVisibilityOfLabels(t *testing.T) {
	_, users := serve(t, nil)
	label, err := users.Labels.Create("me", &gmail.Label{Name: "x", LabelListVisibility: "labelShowIfUnread",
		MessageListVisibility: "hide"}).Do()
	require.NoError(t, err)
	require.Equal(t, "labelShowIfUnread", label.LabelListVisibility)
	_, err = users.Labels.Patch("me", label.Id, &gmail.Label{LabelListVisibility: "show"}).Do()
	requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
	_, err = users.Labels.Patch("me", label.Id, &gmail.Label{MessageListVisibility: "labelShow"}).Do()
	requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
	got, err := users.Labels.Get("me", label.Id).Do()
	require.NoError(t, err)
	require.Equal(t, "hide", got.MessageListVisibility)
}

func TestTooManyLabels(t *testing.T) {
	server, users := serve(t, nil)
	names := make([]string, 10_000)
	for i := range names {
		names[i] = "label " + strconv.Itoa(i)
	}
	require.NoError(t, server.CreateLabels(t.Context(), names...))
	_, err := users.Labels.Create("me", &gmail.Label{Name: "one more"}).Do()
	api := requireAPIError(t, err, http.StatusBadRequest, "invalidArgument")
	require.Contains(t, api.Message, "Too many labels")
}

// Messages of one thread are one thread of a label, and an unread one among them makes it unread.
func TestLabelsCountThreads(t *testing.T) {
	server, users := serve(t, nil)
	first, err := server.Deliver(t.Context(), []byte("Subject: Tea\nMessage-ID: <tea@example.com>\n\n"))
	require.NoError(t, err)
	second, err := server.Deliver(t.Context(), []byte("Subject: Re: Tea\nReferences: <tea@example.com>\n\n"))
	require.NoError(t, err)
	require.NoError(t, server.Person().Read(t.Context(), first.ID))
	inbox, err := users.Labels.Get("me", "INBOX").Do()
	require.NoError(t, err)
	require.Equal(t, []int64{2, 1, 1, 1}, []int64{inbox.MessagesTotal, inbox.MessagesUnread, inbox.ThreadsTotal,
		inbox.ThreadsUnread})
	require.NoError(t, server.Person().Read(t.Context(), second.ID))
	inbox, err = users.Labels.Get("me", "INBOX").Do()
	require.NoError(t, err)
	require.Equal(t, []int64{2, 0, 1, 0}, []int64{inbox.MessagesTotal, inbox.MessagesUnread, inbox.ThreadsTotal,
		inbox.ThreadsUnread})
}

// Labels on the wire: a label without colours has none, categories are hidden, and numbers that are zero are there.
func TestLabelsOnTheWire(t *testing.T) {
	server, users := serve(t, nil)
	require.NoError(t, server.CreateLabels(t.Context(), "Plain"))
	list, err := users.Labels.List("me").Do()
	require.NoError(t, err)
	for _, label := range list.Labels {
		hidden := strings.HasPrefix(label.Id, "CATEGORY_") || label.Id == "CHAT" || label.Id == "IMPORTANT"
		require.Equal(t, hidden, label.LabelListVisibility == "labelHide", label.Id)
		require.Equal(t, hidden, label.MessageListVisibility == "hide", label.Id)
	}
	_, text := get(t, server, "/gmail/v1/users/me/labels/Label_1?prettyPrint=false")
	require.JSONEq(t, `{"id": "Label_1", "name": "Plain", "type": "user", "labelListVisibility": "labelShow", "messageListVisibility": "show",
		"messagesTotal": 0, "messagesUnread": 0, "threadsTotal": 0, "threadsUnread": 0}`, text)
}
