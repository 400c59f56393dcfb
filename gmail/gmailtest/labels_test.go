package gmailtest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"
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

	patched, err := users.Labels.Patch("me", created.Id, &gmail.Label{Color: &gmail.LabelColor{BackgroundColor: "#16a766", TextColor: "#ffffff"}}).Do()
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
